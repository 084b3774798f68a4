"""How likely a cause is before anything else was read: counted from reports, by what was died of.

``docs/decisions/0003-priors.md`` tells what was counted. A cause that was never seen is rare, not
impossible: it counts as half a report. A signal tells more than all reports together, but the
reports of one signal are few; so they are mixed with the counts over all signals, as if those were
ten reports of this signal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sigwhy.model.fact import Death

if TYPE_CHECKING:
    from sigwhy.model.case import Case

NEVER_SEEN = 0.5
MIXED_IN = 10
SOMETHING_ELSE = -7.0

# Reports with this cause, by the signal that the text names; "" where it names none.
COUNTED: dict[str, dict[str, int]] = {
    "abi-mismatch": {"": 6, "SIGSEGV": 1},
    "api-lifecycle": {"": 1},
    "converter-bug": {"SIGSEGV": 1, "SIGABRT": 1},
    "cpu-isa": {"SIGILL": 4, "SIGABRT": 1, "": 1},
    "deep-recursion": {"": 1},
    "delegate": {"SIGSEGV": 2, "": 1},
    "fork-unsafe": {"": 3, "SIGABRT": 1, "SIGSEGV": 1},
    "gil-misuse": {"SIGABRT": 1, "": 1},
    "gpu-assert": {"": 1},
    "gpu-fault": {"SIGABRT": 1},
    "gpu-memory": {"": 4},
    "gpu-stack-mismatch": {"": 5},
    "gui-backend": {"SIGABRT": 2},
    "hardware-fault": {"": 1},
    "library-conflict": {"SIGSEGV": 4, "SIGABRT": 1, "": 1},
    "malformed-model": {"": 1},
    "memory-demand": {"SIGKILL": 5, "SIGABRT": 1, "": 1},
    "memory-leak": {"": 1},
    "misaligned-buffer": {"SIGBUS": 2},
    "missing-library": {"": 3, "SIGABRT": 1},
    "native-extension-bug": {"SIGSEGV": 1, "": 1},
    "none": {"": 1},
    "op-argument": {"SIGABRT": 2},
    "op-bug": {"SIGILL": 1, "SIGSEGV": 1, "SIGFPE": 1, "": 1},
    "openmp-duplicate": {"": 2, "SIGABRT": 1, "SIGSEGV": 1},
    "os-library-too-old": {"": 2},
    "os-limit": {"": 3, "SIGABRT": 1},
    "platform-mismatch": {"SIGILL": 3},
    "protobuf-conflict": {"SIGABRT": 3, "": 2},
    "shutdown-order": {"SIGABRT": 1},
    "storage-full": {"SIGBUS": 5},
    "thread-unsafe": {"": 2},
}
REPORTS = sum(sum(by.values()) for by in COUNTED.values())


def decibans(case: Case, cause: str) -> float:
    """The weight of a cause before the first clue."""
    counts = COUNTED.get(cause, {})
    overall = (sum(counts.values()) or NEVER_SEEN) / REPORTS
    death = case.first(Death)
    of_this_signal = sum(by.get(death.signal, 0) for by in COUNTED.values()) if death else 0
    if not death or not of_this_signal:
        return 10 * math.log10(overall)
    seen = counts.get(death.signal, 0)
    return 10 * math.log10((seen + MIXED_IN * overall) / (of_this_signal + MIXED_IN))
