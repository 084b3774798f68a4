"""Android's tombstones and what libc says in the log, in every layout of logcat.

Looks like::

    F/libc    ( 8123): Fatal signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x0 in tid 8156 (Worker), pid 8123 (com.me.app)
    pid: 8123, tid: 8156, name: Worker  >>> com.me.app <<<
    signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x10
    Abort message: 'ubsan: mul-overflow'
    backtrace:
          #00 pc 000000000001b2c4  /data/app/com.me.app/lib/arm64/libfast.so (merge_sorted+44) (BuildId: 5f)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.machine.place import count, number
from sigwhy.machine.signals import code_named, signal_named
from sigwhy.model.fact import Death, Fault, Frame, Notice, Platform, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

SIGNAL = re.compile(
    r"\b(?:Fatal )?signal (?P<number>\d{1,3}) \((?P<signal>SIG\w{2,10})\)"
    r"(?:, code (?P<code>-?\d{1,5})(?: \((?P<name>[A-Z]\w{2,20})(?: from pid \d{1,9}, uid \d{1,9})?\))?)?"
    r"(?:(?:, fault addr| at) (?P<address>0x[0-9a-fA-F]{1,16}|[0-9a-fA-F]{8,16}|-{8,16}))?"
    r"(?: \(code=(?P<old>-?\d{1,5})\))?(?:,? (?:in tid|thread) (?P<tid>\d{1,9}) \((?P<thread>[^)\n]{0,80})\))?"
    r"(?:, pid (?P<pid>\d{1,9}) \((?P<process>[^)\n]{0,120})\))?"
)
# Firebase Crashlytics: the thread, the signal, the address.
CRASHLYTICS = re.compile(
    r"\bCrashed: [^\n:]{1,80}:\s{1,4}(?P<signal>SIG[A-Z]{2,6})\s{1,4}(?P<address>0x[0-9a-fA-F]{1,16})"
)
WHO = re.compile(
    r"\bpid: (?P<pid>\d{1,9}), tid: (?P<tid>\d{1,9}), name: (?P<thread>[^\n>]{1,100}?)(?:\s+>>> (?P<process>[^\n]{1,200}?) <<<)?\s*$"
)
ABI = re.compile(r"\bABI: '(?P<abi>\w{2,20})'")
FINGERPRINT = re.compile(r"\bBuild fingerprint: '(?P<print>[^'\n]{1,200})")
SAID = re.compile(r"\bAbort message: ['\"]?(?P<text>[^\n]{1,2000}?)['\"]?\s*$")
CAUSE = re.compile(
    r"\bCause: (?P<text>(?:null pointer|stack pointer|execute-only|call to|seccomp|\[)[^\n]{1,200})"
)
FRAME = re.compile(
    r"(?:^|\s)(?:native: )?#(?P<number>\d{1,4})\s+pc (?:0x)?(?P<pc>[0-9a-fA-F]{1,16})\s+(?P<rest>\S[^\n]*)$"
)
# A place inside an app's archive: ``base.apk!libfast.so (offset 0x1000) (merge+44)``.
REST = re.compile(
    r"^(?P<library>[^\n(]{1,400}?)(?: \(offset (?:0x)?[0-9a-fA-F]+\))?(?: \((?P<symbol>[^\n]{1,4000}?)\+\d{1,12}\))?"
    r"(?: \(BuildId: \w+\))?\s*$"
)
CRASHED = re.compile(r"\bbacktrace:\s*$|\bbacktrace:\s+#00")
OTHER = re.compile(r"--- --- --- ---")
MACHINES = {"arm": "arm", "arm64": "arm64", "x86": "x86", "x86_64": "x86_64", "riscv64": "riscv64"}
MARKERS = (
    "Fatal signal",
    "fault addr",
    "Build fingerprint",
    "backtrace:",
    " pc 0",
    "Abort message",
    "#00 pc",
    "#01 pc",
    "ABI: '",
    ">>> ",
    "Crashed: ",
)
FAULTS = ("SIGSEGV", "SIGBUS")


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield who died, of what and where, and what the process said before."""
    who = None
    for n, line in enumerate(evidence.lines):
        if found := WHO.search(line):
            who = found
        elif found := SIGNAL.search(line):
            yield from _died(evidence, n, found, who)
        elif found := CRASHLYTICS.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Death(span=span, signal=found["signal"])
            if found["signal"] in FAULTS:
                yield Fault(span=span, address=number(found["address"]))
        elif found := SAID.search(line):
            yield _notice(evidence, n, "abort-message", found)
        elif found := CAUSE.search(line):
            yield _notice(evidence, n, "android-cause", found)
        yield from _platform(evidence, n, line)
    yield from stacks(evidence.name, _marks(evidence), repeats="go on")


def _died(
    evidence: Evidence, n: int, found: re.Match[str], who: re.Match[str] | None
) -> Iterator[Fact]:
    signal = signal_named(found["signal"])
    told = found["code"] or found["old"]
    if not signal or told is None:
        return
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
    process = found["process"] or (who["process"] if who else None)
    code = found["name"] or code_named(signal, told)
    yield Death(
        span=span,
        signal=signal,
        code=code,
        pid=count(found["pid"] or (who["pid"] if who else None)),
        tid=count(found["tid"] or (who["tid"] if who else None)),
        command=process,
    )
    yield Platform(span=span, system="android")
    address = found["address"]
    if signal in FAULTS and not (code or "").startswith(("SI_USER", "SI_TKILL", "SI_QUEUE")):
        known = bool(address) and not address.startswith("-")
        if known or code == "SI_KERNEL":
            yield Fault(span=span, address=number(address) if known else None, canonical=known)


def _notice(evidence: Evidence, n: int, topic: str, found: re.Match[str]) -> Fact:
    text = found["text"].strip()
    span = Span(evidence=evidence.name, first=n, last=n, words=text)
    null = topic == "android-cause" and text.startswith("null pointer")
    return Notice(span=span, topic=topic, text=text, mechanism="null-pointer" if null else None)


def _platform(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if found := FINGERPRINT.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Platform(span=span, system="android", detail=found["print"])
    elif found := ABI.search(line):
        span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
        yield Platform(span=span, system="android", machine=MACHINES.get(found["abi"]))


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    thread, begun = None, False
    for n, line in enumerate(evidence.lines):
        if OTHER.search(line):
            thread, begun = None, True
            yield Head(line=n)
        elif found := WHO.search(line):
            thread = found["tid"]
        elif CRASHED.search(line):
            yield Head(line=n, thread=thread, crashed=not begun)
        if (row := _row(n, line)) is not None:
            begun = True
            yield row


def _row(n: int, line: str) -> Row | None:
    found = FRAME.search(line) if " pc " in line else None
    place = REST.match(found["rest"]) if found else None
    if not found or not place:
        return None
    library = place["library"].strip()
    frame = Frame(
        function=demangled(place["symbol"].strip()) if place["symbol"] else None,
        library=library.rpartition("!")[2] if "!" in library else library,
        offset=None if place["symbol"] else number(found["pc"]),
    )
    return Row(first=n, last=n, number=int(found["number"]), frame=frame)
