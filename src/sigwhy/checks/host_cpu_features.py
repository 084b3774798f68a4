"""An installed package needs more than this CPU has.

What happens: wheels are built for CPUs of some age. What an older one lacks, or a virtual machine hides, ends in SIGILL during import, or
in a line that says so.

How to tell: the flags of ``/proc/cpuinfo`` against what the wheels of the installed versions were built with, for x86-64.

Fix: let the virtual machine show its host's CPU (``-cpu host``), take another machine, or a build for older CPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host

CHECK = Check(
    id="host-cpu-features",
    title="a package needs more than this CPU has",
    fix="let the virtual machine show its host's CPU (-cpu host), or take a build for older CPUs",
)
V2 = frozenset(["cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"])
AVX = frozenset({"avx"})
AVX2 = frozenset(["avx", "avx2", "bmi1", "bmi2", "fma"])
# Distribution, from which version, flags, what helps.
WHEELS = (
    ("tensorflow", (1, 6), AVX, None),
    ("tensorflow-cpu", (1, 15), AVX, None),
    ("numpy", (2, 4), V2, "pip install 'numpy<2.4', whose wheels run on every x86-64 CPU"),
    ("jaxlib", (0, 1), AVX, None),
    ("polars", (0, 18), AVX2, "pip install polars-lts-cpu"),
)


def look(host: Host) -> Iterator[Problem]:
    """Yield each package that cannot run."""
    if not host.env or "sse2" not in host.cpu_flags:  # no x86-64, or nobody tells
        return
    for name, since, flags, helps in WHEELS:
        installed = host.env.version_of(name)
        lacking = sorted(flags - host.cpu_flags)
        if installed and installed.number >= since and lacking:
            yield CHECK.problem(
                f"{name} {installed.version} needs {', '.join(lacking)}, and this CPU does not have it: SIGILL",
                fix=helps,
                place=name,
            )
