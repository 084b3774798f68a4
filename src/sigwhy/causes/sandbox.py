"""A seccomp or other policy forbids a system call.

What happens: a container, a browser sandbox, systemd or a judge forbids some calls. Depending on the
policy the call fails ("Operation not permitted") or the process dies of SIGSYS, "Bad system call".

How to tell: SIGSYS; the kernel log has `audit: type=1326 … sig=31 … syscall=N`; "Operation not
permitted" for something that needs no rights, like making a thread.

Fix: allow the call in the policy (`docker run --security-opt seccomp=profile.json`, newer Docker and
libseccomp know newer calls), or make the library avoid it.

Folklore: running as root does not help; seccomp does not ask who you are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Limit, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="sandbox",
    title="a seccomp or other policy forbids the call",
    fix="Allow the system call in the policy, or update Docker and libseccomp, or avoid the call.",
)
FIXES = {
    "noexec mount": "Load libraries from a folder whose mount allows execution (TMPDIR elsewhere).",
    "executable stack": "Clear the flag of the library: patchelf --clear-execstack FILE, or update it.",
    "macOS system policy": "Sign it (codesign -f -s - FILE), or remove the quarantine (xattr -dr).",
}
FORBIDDEN = re.compile(r"Operation not permitted|Permission denied|EPERM")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a forbidden call, and against it."""
    for death in case.all(Death):
        if death.signal == "SIGSYS":
            yield Clue(Weight.PROOF, death, "SIGSYS: a policy forbids this system call")
    for notice in case.all(Notice):
        if notice.topic == "forbidden-syscall":
            culprit = Culprit(kind="api", name=notice.subject) if notice.subject else None
            yield Clue(Weight.PROOF, notice, "the policy names the call", culprit=culprit)
        elif notice.topic == "policy-denied":
            culprit = Culprit(kind="limit", name=notice.subject)
            fix = FIXES.get(notice.subject or "")
            yield Clue(Weight.PROOF, notice, f"{notice.subject} said no", culprit=culprit, fix=fix)
    for limit in case.all(Limit):
        if limit.resource == "threads" and FORBIDDEN.search(limit.span.words):
            yield Clue(Weight.STRONG, limit, "a thread was forbidden, not refused for a limit")
