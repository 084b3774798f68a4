"""A security policy that said no: SELinux, AppArmor, seccomp, macOS, Windows, a noexec mount.

Looks like::

    avc:  denied  { execmem } for  pid=4410 comm="python3" scontext=a tcontext=b tclass=process
    ImportError: libfoo.so: cannot enable executable stack as shared object requires: Permission denied
    ImportError: libfoo.so: failed to map segment from shared object: Operation not permitted
    code signature in (/opt/foo.so) not valid for use in process: library load disallowed by system policy
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

# Who said no, and the words.
WORDS: Final = tuple(
    (who, re.compile(words))
    for who, words in (
        ("SELinux", r"avc: {1,2}denied {1,2}\{ (?:exec\w+|map|write|read|open)[^\n}]{0,60}\}"),
        ("SELinux", r"cannot (?:restore segment prot after reloc|apply additional memory protection after relocation|make segment writable for relocation): Permission denied"),
        ("executable stack", r"cannot enable executable stack as shared object requires: (?:Permission denied|Operation not permitted|Invalid argument)"),
        ("AppArmor", r"apparmor=\"DENIED\"[^\n]{0,200}"),
        ("noexec mount", r"failed to map segment from shared object: Operation not permitted"),
        ("macOS system policy", r"library load disallowed by system policy|code signature[^\n]{0,200}not valid for use in process|code signature invalid|different Team IDs|have been quarantined|Sandbox: \S{1,80}\(\d{1,10}\) deny\(\d\)"),
        ("Windows policy", r"Application Control policy has blocked this file|blocked by group policy|WinError 4551\]|WinError 1260\]"),
        ("seccomp", r"(?:blocked|denied|killed|forbidden|rejected) by (?:the )?(?:seccomp|sandbox|gVisor|firejail)|seccomp[^\n]{0,60}(?:violation|violated|bad system call|disallowed|killed)|[Ss]ystem call (?:not allowed|forbidden|disallowed)"),
    )
)  # fmt: skip
MARKERS = (
    "denied", "DENIED", "Permission denied", "executable stack", "failed to map segment", "code signature", "system policy", "Team IDs",
    "quarantined", "deny(", "Application Control", "group policy", "WinError 4551", "WinError 1260", "seccomp", "by the sandbox", "by sandbox",
    "ystem call", "gVisor", "firejail",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the refusals, and which policy refused."""
    for n, line in enumerate(evidence.lines):
        if not any(marker in line for marker in MARKERS):
            continue
        for who, way in WORDS:
            if found := way.search(line):
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
                yield Notice(span=span, topic="policy-denied", text=span.words, subject=who)
                break
