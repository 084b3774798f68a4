"""The program was made for another kind of machine: CPU architecture, page size or emulation.

What happens: an Intel build runs on an Apple silicon Mac or ARM board, or the reverse; a 32-bit
library meets a 64-bit Python; an allocator or an ELF file was built for 4 KiB pages and the kernel
has 16 or 64 KiB. The loader refuses, or an emulator (Rosetta, qemu) runs the program until it meets
an instruction, such as AVX, that it does not translate: then it is SIGILL.

How to tell: the loader says which architecture it has and which it needs; `file LIBRARY`, `uname
-m` and `python -c "import platform; print(platform.machine())"` disagree; `getconf PAGESIZE`.

Fix: install native builds: an arm64 Python and wheels on Apple silicon and ARM (`tensorflow` has
them since 2.13 on macOS), an image of the right platform, a build with larger pages.

Folklore: on an Apple silicon Mac "illegal hardware instruction" is no fault of the script and
mostly none of the wheel: the whole Python is an Intel build that runs under Rosetta.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import (
    Check,
    Death,
    Fault,
    Instruction,
    LoadFailure,
    Notice,
    Platform,
    PythonError,
    Ran,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="platform-mismatch",
    title="the program was built for another kind of machine",
    fix="Install a native build for this machine: compare `file LIBRARY` with `uname -m`, and page size with `getconf PAGESIZE`.",
)
NATIVE_PYTHON = "Use a native arm64 Python with arm64 wheels (tensorflow 2.13 or newer has them; before that tensorflow-macos), not an Intel Python under Rosetta."
OTHER_IMAGE = "Build or pull the image for this machine (docker: --platform), or run it on the machine it was made for."
BIGGER_PAGES = "Use a build made for this page size (jemalloc: --with-lg-page=16), or a kernel with 4 KiB pages."
MADE_FOR_AVX = re.compile(
    r"tensorflow|\btf\b|keras|tflite|tfjs|jax|polars|mediapipe", re.IGNORECASE
)
PAGE = re.compile(r"page[- ](?:aligned|size)")
VSYSCALL = 0xFFFFFFFFFF600000
# qemu below 6.2 computed doubles of TensorFlow wrong: this check never fails on a real CPU.
QEMU_ARITHMETIC = re.compile(r"bucket_limits_\[i\] > bucket_limits_\[i - 1\]")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for another kind of machine."""
    yield from _refused(case)
    yield from _said(case)
    yield from _on_a_mac(case)
    yield from _old_system_call(case)
    for check in case.all(Check):
        if QEMU_ARITHMETIC.search(check.expression):
            says = "this check fails only under an emulator that computes doubles wrong"
            yield Clue(Weight.STRONG, check, says, fix=OTHER_IMAGE)


def _refused(case: Case) -> Iterator[Clue]:
    for failure in case.all(LoadFailure):
        blamed = Culprit(kind="library", name=failure.library, library=failure.library)
        if failure.kind == "architecture":
            pages = PAGE.search(failure.missing or "")
            says = "page size" if pages else "architecture"
            yield Clue(
                Weight.PROOF,
                failure,
                f"the loader says that the {says} is another",
                culprit=blamed,
                fix=BIGGER_PAGES if pages else None,
            )
        elif failure.kind == "format":
            says = "the file is no program or library of this system"
            yield Clue(Weight.FAIR, failure, says, culprit=blamed)
    for error in case.all(PythonError):
        if "not a supported wheel on this platform" in error.text:
            yield Clue(Weight.PROOF, error, "pip says that the wheel is for another platform")


def _said(case: Case) -> Iterator[Clue]:
    died = case.first(Death) is not None
    for notice in case.all(Notice):
        blamed = Culprit(kind="package", name=notice.subject)
        if notice.topic == "page-size":
            says = "an allocator was built for smaller pages than this kernel has"
            yield Clue(Weight.PROOF, notice, says, culprit=blamed, fix=BIGGER_PAGES)
        elif notice.topic == "emulated-cpu":
            weight = Weight.STRONG if died else Weight.FAIR
            yield Clue(weight, notice, "it ran on an emulated CPU", fix=OTHER_IMAGE)
        elif notice.topic == "emulator-failed":
            says = "the emulator of another CPU could not even start the program"
            yield Clue(Weight.PROOF, notice, says, fix=OTHER_IMAGE)
        elif notice.topic == "other-machine":
            says = "the image is for another architecture than the host"
            yield Clue(Weight.STRONG, notice, says, fix=OTHER_IMAGE)
        elif notice.topic in {"cpu-lacks", "cpu-lacks-warning"} and _is_foreign(case):
            says = "what it lacks is what the emulator does not translate"
            yield Clue(Weight.STRONG, notice, says)


def _is_foreign(case: Case) -> bool:
    said = any(n.topic in {"emulated-cpu", "other-machine"} for n in case.all(Notice))
    return said or any(p.machine == "arm64" for p in case.all(Platform))


def _on_a_mac(case: Case) -> Iterator[Clue]:
    death = next((d for d in case.all(Death) if d.signal == "SIGILL"), None)
    if death is None or any(i.traps for i in case.all(Instruction)):
        return
    macs = [p for p in case.all(Platform) if p.system == "macos"]
    mac = next((p for p in macs if p.machine or p.detail == "translated"), macs and macs[0])
    reported = any("EXC_" in d.span.words for d in case.all(Death))
    by_zsh = "illegal hardware instruction" in death.span.words
    arm = mac and (mac.machine == "arm64" or mac.detail == "translated")
    if mac and reported and not arm:
        says = "a crash report that names no translation is mostly a trap of Apple's libraries"
        yield Clue(Weight.AGAINST, death, says)
    elif mac:
        says = "SIGILL on a Mac: Rosetta does not translate AVX"
        yield Clue(Weight.STRONG, mac, says, fix=NATIVE_PYTHON)
    if mac and arm:
        yield Clue(Weight.STRONG, mac, "the Mac has an ARM CPU", fix=NATIVE_PYTHON)
    if by_zsh:
        says = "the words are those of zsh, the shell of Macs"
        yield Clue(Weight.FAIR if mac else Weight.STRONG, death, says, fix=NATIVE_PYTHON)
    for ran in case.all(Ran):
        if (mac or by_zsh) and (found := MADE_FOR_AVX.search(ran.command)):
            blamed = Culprit(kind="package", name=_as_people_say(found[0]))
            says = "the Intel builds of this package need AVX"
            yield Clue(Weight.FAIR, ran, says, culprit=blamed, fix=NATIVE_PYTHON)
            return


def _as_people_say(name: str) -> str:
    return "TensorFlow" if name.lower() in {"tensorflow", "tf", "tfjs"} else name


def _old_system_call(case: Case) -> Iterator[Clue]:
    """Programs of glibc before 2.14 call into a page that new kernels no longer offer."""
    fix = "Use a newer base image, or boot the host with vsyscall=emulate."
    for fault in case.all(Fault):
        if fault.address is not None and fault.address & ~0xFFF == VSYSCALL:
            says = "it jumped into the vsyscall page, which this kernel no longer offers"
            yield Clue(Weight.PROOF, fault, says, fix=fix)
    for notice in case.all(Notice):
        if notice.topic == "vsyscall-off":
            yield Clue(Weight.STRONG, notice, "the kernel says that vsyscall is off", fix=fix)
