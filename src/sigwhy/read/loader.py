"""What dynamic loaders, and those who load libraries by hand, say when they refuse.

Looks like::

    OSError: ./liba.so: undefined symbol: nope
    ./m: error while loading shared libraries: liba.so: cannot open shared object file: No such file
    ImportError: /lib64/libm.so.6: version `GLIBC_2.27' not found (required by /opt/libfft.so)
    dyld[402]: Library not loaded: @rpath/libomp.dylib
    ImportError: DLL load failed while importing _fast: The specified module could not be found.
    Could not load library libcudnn_ops.so.9. Error: libcuda.so: cannot open shared object file: …
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.fact import Limit, LoadFailure, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

# A path without spaces; bounded, because a hostile line is one long word.
LIB = r"[^\s:'\"`‘’(){}\[\],;=]{1,400}"
QUOTED = r"[`'\"‘“«]?"
UNQUOTED = r"[`'\"’”»]?"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence of a loader; its groups are the fields of the fact.

    ``hint`` is a literal part of it, so that lines without it cost nothing.
    """

    hint: str
    kind: str
    pattern: re.Pattern[str]


LINUX = (
    (
        " not found",
        "version",
        rf"(?P<library>{LIB}): version {QUOTED}(?P<missing>[\w.+-]{{1,80}}){UNQUOTED} not found(?: \(required by (?P<needed_by>[^)\n]{{1,400}}))?",
    ),
    (
        "not defined in file",
        "symbol",
        rf"(?:(?P<needed_by>{LIB}): )?symbol (?P<missing>{LIB},? version [\w.]{{1,60}}) not defined in file (?P<library>{LIB})",
    ),
    (
        "Could not load library",
        "file",
        rf"Could not load library:? {QUOTED}(?P<needed_by>{LIB}?){UNQUOTED}\.? Error:? (?P<library>{LIB}): cannot open shared",
    ),
    (
        "undefined symbol",
        "symbol",
        rf"(?P<library>{LIB}): undefined symbol:? {QUOTED}(?P<missing>[^\s'\"’:,]{{1,600}}(?:, version [\w.]{{1,60}})?)",
    ),
    (
        "undefined symbol:",
        "symbol",
        r"\bundefined symbol: (?P<missing>[^\s'\"’:,]{1,600}(?:, version [\w.]{1,60})?)(?:\s+\((?P<library>[^)\s]{1,400})\))?",
    ),
    ("symbol not found", "symbol", rf"Error relocating (?P<library>{LIB}): (?P<missing>{LIB}): symbol not found"),
    (
        "Error loading shared library",
        "file",
        rf"Error loading shared library (?P<library>{LIB}):(?! Exec) [^\n(]{{1,80}}(?:\(needed by (?P<needed_by>[^)\n]{{1,400}}))?",
    ),
    (
        "cannot open shared object file",
        "file",
        rf"(?:(?P<needed_by>{LIB}): error while loading shared libraries: )?(?P<library>{LIB}): cannot open shared object file(?!: (?:Permission denied|Operation not|Error \d|Too many|Cannot allocate))",
    ),
    ("static TLS", "tls", rf"(?:(?<!\w)(?!dlopen:)(?P<library>{LIB}): )?(?:cannot allocate memory in static TLS block|cannot load any more object with static TLS)"),
    ("wrong ELF class", "architecture", rf"(?:(?P<library>{LIB}): )?wrong ELF class: (?P<missing>\w{{1,20}})"),
    ("ELF load command alignment", "architecture", rf"(?:(?P<library>{LIB}): )?(?P<missing>ELF load command alignment not page-aligned)"),
    ("ELF file", "architecture", rf"(?:(?P<library>{LIB}): )?(?P<missing>ELF file (?:data encoding not \w{{1,6}}-endian|machine \S{{1,30}}|OS ABI invalid|ABI version invalid))"),
    ("ELF ", "format", rf"(?:(?P<library>{LIB}): )?(?P<missing>invalid ELF header|ELF load command past end of file|ELF file version \w{{1,20}} current one)"),
    ("no dynamic section", "format", rf"(?:(?P<library>{LIB}): )?(?P<missing>object file has no dynamic section)"),
    ("file too short", "format", rf"(?P<library>{LIB}): (?P<missing>file too short)"),
    ("cannot read file data", "format", rf"(?P<library>{LIB}): (?P<missing>cannot read file data)"),
    ("ET_", "format", rf"(?:(?P<library>{LIB}): )?(?P<missing>only ET_DYN and ET_EXEC can be loaded)"),
)  # fmt: skip
ANDROID = (
    ("cannot locate symbol", "symbol", rf"cannot locate symbol [\"'](?P<missing>[^\"'\s]{{1,600}})[\"'] referenced by [\"']?(?P<library>{LIB})"),
    ("is not accessible", "file", rf"library [\"'](?P<library>{LIB})[\"'] (?:needed or dlopened by [\"'](?P<needed_by>{LIB})[\"'] )?(?:\([^)\n]{{1,200}}\) )?(?:needed or dlopened by [^\n]{{1,300}} )?is not accessible"),
    ("dlopen failed", "file", rf"dlopen failed: library [\"'](?P<library>{LIB})[\"'] not found(?:: needed by (?P<needed_by>{LIB}))?"),
    ("bit instead of", "architecture", rf"[\"']?(?P<library>{LIB})[\"']? is (?P<missing>(?:32|64)-bit instead of (?:32|64)-bit)"),
    ("unexpected e_machine", "architecture", rf"[\"']?(?P<library>{LIB})[\"']? has (?P<missing>unexpected e_machine[^\n]{{0,60}})"),
    ("page size (", "architecture", rf"(?:[\"'](?P<library>{LIB})[\"'] )?(?P<missing>program alignment \(\d{{1,9}}\) cannot be smaller than system page size \(\d{{1,9}}\))"),
    ("bad ELF magic", "format", rf"[\"']?(?P<library>{LIB})[\"']? has (?P<missing>bad ELF magic)"),
    ("couldn't find \"", "file", rf"couldn't find \"(?P<library>{LIB}\.so)\""),
)  # fmt: skip
WINDOWS = (
    ("DLL load failed", "symbol", r"DLL load failed(?: while importing (?P<library>[\w.]{1,80}))?: (?P<missing>[^\n]{0,80}(?:procedure could not be found|找不到指定的程序|プロシージャ|procédure|Prozedur|procedimiento|процедур)[^\n]{0,60})"),
    ("DLL load failed", "architecture", r"DLL load failed(?: while importing (?P<library>[\w.]{1,80}))?: (?P<missing>[^\n]{0,60}Win32[^\n]{0,60})"),
    ("DLL load failed", "init", r"DLL load failed(?: while importing (?P<library>[\w.]{1,80}))?: (?P<missing>[^\n]{0,60}(?:initialization routine failed|动态链接库\(DLL\)初始化|初期化|Initialisierungs|inicialización|initialisation|инициализаци)[^\n]{0,60})"),
    ("DLL load failed", "file", r"DLL load failed(?: while importing (?P<library>[\w.]{1,80}))?: (?P<missing>[^\n]{0,60}(?:could not be found|找不到指定的模|指定されたモジュール|introuvable|encontrar|nicht gefunden|trovare|не найден|찾을 수 없)[^\n]{0,60})"),
    ("INITIALIZATION FAILED", "init", r"Failed to load (?P<library>[\w.+-]{1,80}\.(?:dll|pyd)): INITIALIZATION FAILED"),
    ("WinError 193", "architecture", r"\[WinError 193\][^\n]{0,120}?(?:loading \"(?P<library>[^\"\n]{1,300})\"|$)"),
    ("WinError 127", "symbol", r"\[WinError 127\][^\n]{0,120}?(?:loading \"(?P<library>[^\"\n]{1,300})\"|$)"),
    ("WinError 1114", "init", r"\[WinError 1114\][^\n]{0,160}?(?:loading \"(?P<library>[^\"\n]{1,300})\"|$)"),
    ("WinError 126", "file", r"\[WinError 126\][^\n]{0,120}?(?:loading \"(?P<library>[^\"\n]{1,300})\"|$)"),
    ("Could not find module", "file", r"Could not find module '(?P<library>[^'\n]{1,300})' \(or one of its dependencies\)"),
    ("Could not locate", "file", r"Could not locate (?P<library>[\w.+-]{1,80}\.dll)\b"),
    ("Could not find", "file", r"Could not find (?:the DLL\(s\) )?'(?P<library>[\w.+-]{1,80}\.dll)'?(?! or [^\n]{0,80}ignore above cudart)"),
    ("Error code 193", "architecture", r"Could not load library (?P<library>[\w.+-]{1,80})\. Error code 193"),
    ("Error code 127", "symbol", r"Could not load (?:library|symbol) (?P<missing>[\w.+-]{1,80})\. Error code:? 127"),
    ("Error code 126", "file", r"Could not load library (?P<library>[\w.+-]{1,80})\. Error code 126"),
    (".dll was not found", "file", r"because (?P<library>[\w.+-]{1,80}\.dll) was not found"),
    (".dll is missing", "file", r"(?P<library>[\w.+-]{1,80}\.dll) is missing from your computer"),
    ("could not be located in the dynamic link library", "symbol", r"entry point (?P<missing>\S{1,300}) could not be located in the dynamic link library (?P<library>[^\n]{1,200}?\.(?:dll|pyd|exe))"),
)  # fmt: skip
LIBRARIES = (
    ("nvrtc", "file", r"nvrtc: error: failed to open (?P<library>[\w.+-]{1,60}?)\.(?: |$)"),
    ("ptxas", "file", r"(?:No PTX compilation provider is available\. Neither (?P<library>ptxas)|Couldn't find (?:a suitable version of )?ptxas|Cannot find ptxas|Failed to find `?ptxas)"),
    ("No such file or directory: ", "file", r"No such file or directory: '(?P<library>ptxas|nvlink|libdevice\.10\.bc)'"),
    ("missing symbol called", "symbol", r"dyld(?:\[\d{1,9}\])?: (?:\w{1,20} )?missing symbol called"),
    ("could not be loaded", "file", r"\w{1,30} Library \((?P<library>[\w.+-]{1,80})\) could not be loaded"),
    ("library not found", "file", r"OSError: (?P<library>[\w.+-]{1,40}) library not found"),
    ("libdevice", "file", r"(?P<library>libdevice) (?:not found at|is required by this HLO module but was not found at) (?P<missing>\S{1,200})"),
    ("MKL FATAL ERROR", "file", rf"MKL FATAL ERROR: Cannot load (?P<missing>(?P<library>{LIB})(?: or {LIB})?)"),
    ("Unable to load any of", "file", r"Unable to load any of \{(?P<missing>(?P<library>[^,}\n]{1,100})[^}\n]{0,300})\}"),
    ("Cannot load symbol", "symbol", r"(?:Invalid handle\. )?Cannot load symbol:? (?P<missing>\w{1,100})"),
    ("Could not load symbol", "symbol", r"Could not load symbol:? (?P<missing>\w{1,100})"),
    ("does not define", "symbol", r"dynamic module does not define (?P<missing>(?:module export|init) function \(?\w{0,80})"),
    ("cannot be loaded", "file", rf"The native library (?P<library>{LIB}) cannot be loaded"),
)  # fmt: skip
EVERYWHERE = tuple(
    Refusal(hint, kind, re.compile(pattern))
    for hint, kind, pattern in (*LINUX, *ANDROID, *WINDOWS, *LIBRARIES)
)

# macOS needs several lines: who asked, and where it was expected, stand below.
MAC = tuple(
    Refusal(hint, kind, re.compile(pattern))
    for hint, kind, pattern in (
        ("Incompatible library version", "version", r"Incompatible library version: (?P<needed_by>[^\n]{1,400}?) requires version (?P<missing>[\d.]{1,20}) or later, but (?P<library>[^\n]{1,400}?) provides version"),
        ("running OS", "version", r"(?P<library>/[^\n'(]{1,300}?)'? \((?:built for|which was built for) (?P<missing>(?:newer )?\w{1,12} ?\w{0,10} ?(?:version )?\(?[\d.]{1,10}\)?)[^\n]{0,30}(?:newer than|than) running OS"),
        ("ncompatible architecture", "architecture", r"'?(?P<library>/[^\n'(]{1,300}?)'? ?\(?[^\n'(]{0,40}mach-o file, but is an incompatible architecture \((?P<missing>have [^\n)]{1,60})"),
        ("wrong architecture", "architecture", r"(?P<library>/[^\s:]{1,300}): mach-o, but (?P<missing>wrong architecture)"),
        ("code signature", "format", r"'?(?P<library>/[^\n'(]{1,300}?)'? ?\(?(?P<missing>code signature (?:in [^\n]{1,300} not valid|invalid|not valid)[^\n]{0,80})"),
        ("flat namespace", "symbol", r"symbol not found in flat namespace \(?'?(?P<missing>[^\s')]{1,600})"),
        ("ymbol not found", "symbol", r"[Ss]ymbol not found: \(?(?P<missing>[^\s)]{1,600})"),
        ("load command 0x", "version", r"(?P<library>/[^\s:]{1,300}): cannot load '[^'\n]{1,200}' \((?P<missing>load command 0x[0-9a-f]{1,8} is unknown)"),
        ("Library not loaded", "file", r"Library not loaded: (?P<library>[^\n]{1,400})"),
    )
)  # fmt: skip
DLOPEN = re.compile(r"dlopen\((?P<library>/[^,\n]{1,400}), (?:0x)?\w{1,6}\)")
BELOW = 6
REFERENCED = re.compile(
    r"Referenced from: (?:<[\w-]{1,60}> )?['\"]?(?P<path>[^'\"\n]{1,400}?)(?: \(which was built[^\n]{0,80})?['\"]?$"
)
EXPECTED = re.compile(r"Expected in: (?:<[\w-]{1,60}> )?(?P<path>/[^\n]{1,400}|flat namespace)")
OTHER_REASON = re.compile(
    r"Reason: .{0,600}?(?:Incompatible library version|ncompatible architecture|wrong architecture|code signature|running OS|no suitable image found)"
)

NOTICES = (
    # hint, pattern (the subject), topic, mechanism
    ("executable stack", re.compile(rf"(?P<subject>{LIB}): cannot enable executable stack"), "executable-stack", "load-failure"),
    ("failed to map segment", re.compile(rf"(?P<subject>{LIB}): failed to map segment from shared object: Operation not permitted"), "noexec", "load-failure"),
    ("after reloc", re.compile(rf"(?P<subject>{LIB}): cannot (?:apply additional memory|restore segment) prot(?:ection)? after reloc(?:ation)?"), "policy-refused-library", "load-failure"),
    ("Permission denied", re.compile(rf"(?P<subject>{LIB}): cannot open shared object file: Permission denied"), "library-permission", "load-failure"),
    ("MKL ERROR", re.compile(rf"INTEL MKL ERROR: (?P<subject>{LIB})", re.IGNORECASE), "mkl-refused", None),
    ("Can't find libdevice", re.compile(r"Can't find (?P<subject>libdevice) directory"), "libdevice-unfound", None),
    ("registered more than once", re.compile(r"CommandLine Error: Option '(?P<subject>[^'\n]{1,80})' registered more than once"), "llvm-twice", "check-failed"),
    ("registered CommandLine options", re.compile(r"LLVM ERROR: inconsistency in registered CommandLine options"), "llvm-twice", "check-failed"),
    ("linked both statically", re.compile(r"linked both statically and dynamically into this executable"), "flags-twice", "check-failed"),
    ("defined more than once", re.compile(r"[Ff]lag '(?P<subject>[\w-]{1,80})' was defined more than once"), "flags-twice", "check-failed"),
    ("2 metrics with the same name", re.compile(r"Cannot register 2 metrics with the same name: (?P<subject>\S{1,200})"), "framework-twice", "check-failed"),
    ("Another metric with the same name", re.compile(r"Another metric with the same name already exists"), "framework-twice", None),
    ("platform is already registered", re.compile(r"platform is already registered with name: \"(?P<subject>\w{1,40})\""), "framework-twice", "check-failed"),
    ("Already exists: Op with name", re.compile(r"Already exists: Op with name (?P<subject>\w{1,80})"), "framework-twice", "check-failed"),
    ("ALREADY_EXISTS: Op with name", re.compile(r"ALREADY_EXISTS: Op with name (?P<subject>\w{1,80})"), "framework-twice", "check-failed"),
    ("is already registered", re.compile(r"generic_type: type \"(?P<subject>[^\"\n]{1,120})\" is already registered"), "binding-twice", "load-failure"),
    ("Only a single TORCH_LIBRARY", re.compile(r"Only a single TORCH_LIBRARY can be used to register the namespace (?P<subject>\w{1,80})"), "binding-twice", "load-failure"),
    ("Wrong JPEG library version", re.compile(r"Wrong (?P<subject>JPEG) library version"), "other-version-first", None),
    ("Incompatible libpng version", re.compile(r"Incompatible (?P<subject>libpng) version in application and library"), "other-version-first", None),
    ("header and source version mismatch", re.compile(r"(?P<subject>SQLite) header and source version mismatch"), "other-version-first", None),
    ("OpenSSL version mismatch", re.compile(r"(?P<subject>OpenSSL) version mismatch\. Built against"), "other-version-first", None),
    ("kernel too old", re.compile(r"FATAL: (?P<subject>kernel) too old"), "kernel-too-old", "load-failure"),
    ("is implemented in both", re.compile(r"Class (?P<subject>[\w$]{1,100}) is implemented in both"), "class-twice", None),
)  # fmt: skip
TOO_MANY_FILES = re.compile(
    rf"(?P<who>{LIB}): cannot open shared object file: (?:Too many open files|Error 24)"
)

# Framework banners and Python warnings tell of a library they can do without.
BENIGN = re.compile(
    r"Could not load dynamic library|Couldn't open CUDA library|Cannot dlopen some"
    r"|libGL error|Gtk-Message|MESA-LOADER|cannot be preloaded|^caused by: \[|Ignore above cudart"
    r"|no version information available|WARNING:"
)
# A package that warns of a library can do without it; it matters only where nothing died.
WARNED = re.compile(r"\w{1,40}Warning: ")
DIED = re.compile(
    r"core dumped|Segmentation fault|SIG(?:SEGV|ABRT|BUS|ILL|FPE|KILL)|Fatal Python error|^Aborted|^Killed|exit code|Check failed"
)
MARKERS = tuple(
    sorted(
        {r.hint for r in (*EVERYWHERE, *MAC)}
        | {row[0] for row in NOTICES}
        | {"Too many open files", "Error 24"}
    )
)
# WARNING: [compiler_plugin.cc:312] Failed to load plugin at: /srv/env/vendors/libPlugin.so with error: ...
# and the loader's own words stand on the next line.
TRIED = re.compile(
    r"(?:WARNING|INFO)\b.{0,80}\b(?:Failed to load|Attempting to load|Loading) plugin\b"
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what loaders refused."""
    died = any(DIED.search(line) for line in evidence.lines)
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS) or BENIGN.search(line):
            continue
        if WARNED.search(line) and died:
            continue
        if found := TOO_MANY_FILES.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Limit(span=span, resource="descriptors", who=found["who"])
        yield from _notices(evidence, n)
        if not _is_tried_only(evidence, n) and (refused := _refused(evidence, n)):
            yield refused


def _notices(evidence: Evidence, n: int) -> Iterator[Fact]:
    line = evidence.lines[n]
    for hint, pattern, topic, mechanism in NOTICES:
        if hint in line and (found := pattern.search(line)):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            subject = found.groupdict().get("subject")
            yield Notice(
                span=span, topic=topic, text=found[0], subject=subject, mechanism=mechanism
            )


def _is_tried_only(evidence: Evidence, n: int) -> bool:
    """Whether a plug-in was tried that may be missing: the record that says so is no error."""
    return any(TRIED.match(line) for line in evidence.lines[max(n - 1, 0) : n + 1])


def _refused(evidence: Evidence, n: int) -> Fact | None:
    line = evidence.lines[n]
    for row in EVERYWHERE:
        if row.hint in line and (found := row.pattern.search(line)):
            said = found.groupdict()
            return LoadFailure(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip()),
                kind=row.kind,
                library=_clean(said.get("library")),
                missing=_clean(said.get("missing")),
                needed_by=_clean(said.get("needed_by")),
            )
    for row in MAC:
        if row.hint in line and (found := row.pattern.search(line)):
            return _on_macos(evidence, n, row, found)
    return None


def _on_macos(evidence: Evidence, n: int, row: Refusal, found: re.Match[str]) -> Fact | None:
    """A refusal of dyld, with what the lines below it add."""
    said = found.groupdict()
    if row.kind in ("architecture", "format", "version"):
        needed_by, lacking = said.get("needed_by"), said.get("library")
    else:
        if row.kind == "file" and _has_other_reason(evidence, n):
            return None
        needed_by, lacking = _below(evidence, n)
        loading = DLOPEN.search(evidence.lines[n])
        lacking = said.get("library") or lacking or needed_by or (loading and loading["library"])
    return LoadFailure(
        span=Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip()),
        kind=row.kind,
        library=_clean(lacking),
        missing=_clean(said.get("missing")),
        needed_by=_clean(needed_by),
    )


def _has_other_reason(evidence: Evidence, n: int) -> bool:
    """Whether the file is there and was refused: the line with the reason is read by itself."""
    return any(OTHER_REASON.search(line) for line in evidence.lines[n + 1 : n + BELOW])


def _below(evidence: Evidence, n: int) -> tuple[str | None, str | None]:
    """Who asked, and where it should have been."""
    asked = lacking = None
    for line in evidence.lines[n : n + BELOW]:
        if found := REFERENCED.search(line.rstrip()):
            asked = found["path"]
        if found := EXPECTED.search(line.rstrip()):
            lacking = None if found["path"] == "flat namespace" else found["path"]
    return asked, lacking


def _clean(words: str | None) -> str | None:
    return words.strip().rstrip(".,:") if words else None
