"""The binary needs instructions that this CPU, or this virtual machine, does not have.

What happens: a library was compiled for newer CPUs (AVX, AVX2, FMA, AVX-512; on ARM LSE atomics,
dot products, SVE). The first time it runs such an instruction the CPU refuses and the process dies
of SIGILL, often during import. Some libraries look first, say what they miss, and stop.

How to tell: SIGILL, and the instruction at the fault belongs to a feature that is missing among the
flags of /proc/cpuinfo; or the library says what it wants. The instructions ud2, int3 and brk are
traps: the program stopped itself with them, and no other CPU would help.

Fix: install a build for older CPUs (an older release, a conda-forge or "-lts-cpu" package, or your
own build without -march=native), or let the virtual machine show the host's CPU ("-cpu host").

Folklore: missing CPU instructions never end in SIGSEGV, and the start-up line "This TensorFlow
binary is optimized to use available CPU instructions" is no warning: it says that all is well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import (
    Death,
    Exit,
    Instruction,
    LoadFailure,
    Notice,
    Platform,
    Ran,
    Stack,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Fact, Frame

CAUSE = Cause(
    id="cpu-isa",
    title="the binary needs instructions that this CPU does not have",
    fix="Install a build for older CPUs, or run on a CPU (or CPU model of the VM) that has them.",
)
IMPORT = re.compile(r"\b(?:import|from) ([A-Za-z_]\w*)")
LOADING = re.compile(
    r"create_module|exec_module|_call_with_frames_removed|load_dynamic|_dl_init|call_init"
    r"|_GLOBAL__sub_I|__static_initialization|PyInit_|cpuid|dlopen"
)
# PyTorch asks the CPU and takes the kernels that it can run: SIGILL inside is rarely a missing one.
ASKS_THE_CPU = re.compile(r"libtorch(?:_cpu|_python)?\.|libmkl_")
# What is sold to those whose CPU is too old for the usual build.
OTHER_BUILD = {
    "Polars": "Install polars-lts-cpu (Polars 1.33 and later: polars[rtcompat]) instead of polars.",
    "NumPy": "Install numpy<2.4, whose wheels run on every x86-64 CPU, or let the VM show its host's CPU.",
    "jaxlib": "Build jaxlib from source for this CPU, or use a machine with AVX.",
    "glibc": "Use an image made for older CPUs (el8 instead of el9 or el10), or let the VM show its host's CPU.",
    "TensorFlow": "Use a machine or VM whose CPU shows the feature (qemu: -cpu host), or a build without it (TensorFlow 1.5 was the last wheel without AVX; conda and source builds exist).",
}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for missing CPU instructions, and against them."""
    yield from _said(case)
    refused = _refusal(case)
    if refused:
        weight = Weight.STRONG if isinstance(refused, Exit) else Weight.FAIR
        yield Clue(weight, refused, "the CPU refused an instruction (SIGILL)")
        yield from _where(case)
        yield from _which(case)
        if any(p.system == "macos" for p in case.all(Platform)):
            yield Clue(Weight.AGAINST, refused, "on a Mac it is the translation of Intel programs")
    elif not any(n.topic == "cpu-lacks" for n in case.all(Notice)):
        for failure in case.all(LoadFailure):
            if failure.kind == "init":
                says = "so ends on Windows a library that its CPU cannot run"
                yield Clue(Weight.SLIGHT, failure, says)
        for death in case.all(Death):
            if death.signal == "SIGSEGV":
                yield Clue(Weight.EXCLUDES, death, "a missing instruction is SIGILL, never SIGSEGV")


def _said(case: Case) -> Iterator[Clue]:
    foreign = any(n.topic in {"emulated-cpu", "other-machine"} for n in case.all(Notice))
    foreign = foreign or any(p.machine == "arm64" for p in case.all(Platform))
    for notice in case.all(Notice):
        who, what = notice.text.partition(":")[0], notice.subject
        blamed = Culprit(kind="instruction", name=what, library=who if who in OTHER_BUILD else None)
        fix = OTHER_BUILD.get(who)
        if notice.topic == "cpu-lacks":
            weight = Weight.FAIR if foreign else Weight.PROOF
            says = "the program itself says which CPU features it lacks"
            yield Clue(weight, notice, says, culprit=blamed, fix=fix)
        elif notice.topic == "cpu-lacks-warning":
            says = "a library had warned that the CPU lacks what it needs"
            weight = Weight.SLIGHT if foreign else Weight.STRONG
            yield Clue(weight, notice, says, culprit=blamed, fix=fix)
        elif notice.topic == "cpu-is-old":
            yield Clue(Weight.FAIR, notice, "another library found the CPU too old for itself")


def _refusal(case: Case) -> Fact | None:
    for death in case.all(Death):
        if death.signal == "SIGILL":
            return death
    exits = (e for e in case.all(Exit) if e.means == "STATUS_ILLEGAL_INSTRUCTION")
    return next(exits, None)


def _where(case: Case) -> Iterator[Clue]:
    """Being loaded is when a build for other CPUs dies."""
    loads = [(ran, IMPORT.search(ran.command)) for ran in case.all(Ran)]
    for ran, found in loads:
        if found:
            blamed = Culprit(kind="package", name=found[1])
            yield Clue(Weight.FAIR, ran, "it died while a package was imported", culprit=blamed)
            break
    for stack in case.all(Stack):
        if not stack.crashed or stack.role != "fault":
            continue
        if stack.frames and (_is_body(stack.frames[0]) or any(map(_loads, stack.frames))):
            yield Clue(Weight.FAIR, stack, "it died while a package was imported")
        if stack.language == "native" and stack.frames and (library := stack.frames[0].library):
            yield _inside(stack, library)


def _inside(stack: Stack, library: str) -> Clue:
    name = library.rpartition("/")[2]
    if ASKS_THE_CPU.search(name):
        return Clue(Weight.DOUBT, stack, "this library asks the CPU before it uses a feature")
    blamed = Culprit(kind="library", name=name, library=library)
    return Clue(Weight.FAIR, stack, "the instruction is one of a shared library", culprit=blamed)


def _loads(frame: Frame) -> bool:
    module = frame.function == "<module>" and (frame.file or "").endswith("__init__.py")
    return module or bool(frame.function and LOADING.search(frame.function))


def _is_body(frame: Frame) -> bool:
    """The body of an installed module: it runs once, when the module is imported."""
    return frame.function == "<module>" and "-packages" in (frame.file or "")


def _which(case: Case) -> Iterator[Clue]:
    for it in case.all(Instruction):
        if it.traps:
            yield Clue(Weight.EXCLUDES, it, f"{it.text} is a trap: the program stopped itself")
        elif it.feature:
            blamed = Culprit(kind="instruction", name=it.feature, value=it.text)
            says = f"the instruction at the fault needs {it.feature}"
            yield Clue(Weight.PROOF, it, says, culprit=blamed)
        elif it.code:
            yield Clue(Weight.AGAINST, it, "every CPU of this kind has the instruction")
