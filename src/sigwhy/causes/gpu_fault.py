"""A kernel on the GPU did what it must not: it touched foreign memory, hung, or was fed wrongly.

What happens: a kernel reads or writes outside its buffers, runs an invalid instruction, or never
ends. The GPU stops it, and every later call of the process fails. Like all errors of the GPU it is
told late, so the line in the traceback is often innocent.

How to tell: "an illegal memory access was encountered" (CUDA error 700), "unspecified launch
failure", "Memory access fault by GPU node" (ROCm), an assertion of Metal or MPS, a lost device. The
words "device-side assert" and "out of memory" are other causes.

Fix: find the kernel with CUDA_LAUNCH_BLOCKING=1 and `compute-sanitizer python ...`. If the kernel is
the framework's, change version, make the tensor contiguous, or move that op to the CPU; if it is
yours, mend the line named. If it comes at random places with any program, test the card.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Check, Checker, Device, Gpu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="gpu-fault",
    title="a kernel on the GPU touched memory or was launched in a way that it must not",
    fix="Run once with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, to find the kernel; then "
    "another version, a contiguous copy, or the CPU for that op.",
)
WATCHDOG = (
    "The kernel ran longer than the watchdog of a GPU that also draws the screen allows: smaller "
    "batches, or a GPU without a display."
)
# Numbers of CUDA and HIP: what each says, and what helps where that is special.
FAULTS = {
    700: ("a kernel touched memory that is not its own", None),
    702: ("a kernel ran too long and was ended", WATCHDOG),
    714: ("a kernel damaged its call stack", None),
    715: ("a kernel ran an invalid instruction", None),
    716: ("a kernel touched memory at an address that is not aligned", None),
    717: ("a kernel used an address of the wrong memory space", None),
    718: ("a kernel jumped out of its code", None),
    719: ("a kernel failed while it ran", None),
}
ASSERT = 710
WATCHER = "compute-sanitizer"
NAMES = {"cuda": "CUDA", "hip": "ROCm", "metal": "Metal", "vulkan": "Vulkan", "directx": "DirectX"}
SAID = re.compile(
    r"access fault by GPU|Exception by GPU|HSA_STATUS_ERROR_(?:EXCEPTION|MEMORY_\w+|ILLEGAL_INSTRUCTION|INVALID_PACKET_FORMAT)"
    r"|CommandBufferCallbackError(?:Hang|Timeout|PageFault|InvalidResource|Internal|InnocentVictim|SubmissionsIgnored|StackOverflow)"
    r"|DEVICE_LOST|DeviceLost|DXGI_ERROR_DEVICE_|0x887A000"
)
ROCM = (
    "Check that this GPU is supported by the ROCm build in use (rocminfo, gfx name; an "
    "HSA_OVERRIDE_GFX_VERSION that does not fit faults like this); then another version, or the "
    "CPU for that op."
)
METAL = (
    "Upgrade PyTorch or macOS (most of these are mended regressions), make the tensor contiguous "
    "before the call, or run that op on the CPU (PYTORCH_ENABLE_MPS_FALLBACK=1)."
)
FIXES = {"hip": ROCM, "metal": METAL}
XIDS = {13, 31, 43, 109}
MEMORY_XIDS = {31}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a fault of a kernel."""
    asserted = any(gpu.code == ASSERT for gpu in case.all(Gpu))
    watched = any(checker.tool == WATCHER for checker in case.all(Checker))
    for gpu in case.all(Gpu):
        if gpu.code in FAULTS and gpu.api in ("cuda", "hip"):
            says, fix = FAULTS[gpu.code]
            weight = Weight.FAIR if asserted or watched else Weight.PROOF
            yield Clue(weight, gpu, says, _culprit(gpu.api), fix)
        elif SAID.search(gpu.text):
            says = f"the GPU's own software reports a fault: {gpu.text}"
            yield Clue(Weight.PROOF, gpu, says, _culprit(gpu.api), FIXES.get(gpu.api))
    yield from _watched(case)


def _watched(case: Case) -> Iterator[Clue]:
    """What those saw who looked on: Metal's own checks, compute-sanitizer, the driver."""
    for check in case.all(Check):
        if check.framework in ("MPS", "Metal"):
            culprit = Culprit(kind="library", name=check.framework, file=check.file)
            says = f"{check.framework} refused its arguments: {check.expression[:120]}"
            yield Clue(Weight.PROOF, check, says, culprit, METAL)
    for checker in case.all(Checker):
        if checker.tool == WATCHER and checker.kind != "memory leaks":
            culprit = Culprit(kind="api", name=checker.place)
            says = f"compute-sanitizer watched a kernel and saw: {checker.kind}"
            yield Clue(Weight.PROOF, checker, says, culprit)
    for device in case.all(Device):
        if device.kind == "xid" and device.code in XIDS:
            says = f"the driver logged Xid {device.code}: a program's kernel faulted"
            yield Clue(Weight.STRONG, device, says, Culprit(kind="library", name="GPU kernel"))
            if "MMU Fault" in device.span.words or device.code in MEMORY_XIDS:
                yield Clue(Weight.FAIR, device, "the GPU's memory unit refused an address")


def _culprit(api: str) -> Culprit:
    return Culprit(kind="library", name=NAMES.get(api, api))
