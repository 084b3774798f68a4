"""The hardware failed: memory, CPU, graphics card, PCI Express link or disk.

What happens: a memory bit flips, a card loses its link or its power, a disk cannot read a sector
that is mapped. The process dies of SIGBUS or SIGSEGV at places that differ from run to run, or
every GPU call fails until the machine is started again. Bad memory stands behind a few per cent of
all crash reports, most of all when the same job dies on one node only.

How to tell: the kernel log names the device: Xid 48, 62, 64, 74, 79, 94, 95, AER "Uncorrected",
machine checks, EDAC "UE", "I/O error". Xid 13, 31 and 43 are mostly faults of the program. Many
"Corrected" errors announce the others.

Fix: take the node or card out, test it (memtest86+, dcgmi diag -r 3, smartctl -a), check seat,
power and cooling, and have the part replaced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Death, Device, Fault, Gpu, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="hardware-fault",
    title="the hardware failed",
    fix="Take the machine out of use and test it: memtest86+ for memory, dcgmi diag for GPUs, smartctl for disks; check power and cooling.",
)
RESEAT = "Start the machine anew; check the card's seat, power supply, riser and cooling; if it comes back, replace the card."
REPLACE_GPU = "Drain the node, reset the GPU, run `dcgmi diag -r 3`, and replace the card if the error comes back."

# Who made it, by the number that the driver of NVIDIA gives. What is in neither row is anybody's.
CARD_XIDS = frozenset(
    {48, 54, 57, 58, 62, 64, 74, 79, 94, 95, 110, 121, 122, 123, 125, 136, 140, 143}
    | {144, 145, 149, 155, 167, 171, 172}
)
MAYBE_CARD_XIDS = frozenset({38, 46, 56, 61, 63, 80, 92, 119, 120, 154, 160})
PROGRAM_XIDS = frozenset({8, 13, 31, 43, 45, 68, 69, 109, 137})
LOST_LINK = 79
PCI = re.compile(r"(?:PCI:)?([0-9a-fA-F]{4}:[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2})?)")
DISK = re.compile(r"(?:dev(?:ice)? |\()([a-z]\w{2,20}\b)|(nvme\d{1,3})")

# kind of device report -> weight, words, culprit
REPORTS = {
    "gpu": (Weight.PROOF, "the driver lost the graphics card", "GPU"),
    "ecc": (Weight.PROOF, "the memory of the device had an error beyond repair", "memory"),
    "aer": (Weight.PROOF, "the PCI Express link had an error beyond repair", "PCIe"),
    "corrected": (Weight.SLIGHT, "an error of the hardware was corrected", None),
    "mce": (Weight.PROOF, "the CPU reported a hardware error", "memory or CPU"),
    "mce-logged": (Weight.FAIR, "the CPU had logged a hardware error", "memory or CPU"),
    "edac": (Weight.PROOF, "the memory controller found an error beyond repair", "memory"),
    "amdgpu": (Weight.STRONG, "the graphics card hung or failed", "GPU"),
    "disk": (Weight.STRONG, "the kernel could not read or write the disk", "disk"),
    "hot": (Weight.SLIGHT, "the CPU was too hot", "cooling"),
    "stress": (Weight.PROOF, "a stress test found the machine at fault", "CPU or memory"),
}
SICK_GPU = re.compile(
    r"ECC[_ ]UNCORRECTABLE|uncorrectable (?:ECC|NVLink) error|NVLINK_UNCORRECTABLE|GPU is lost|fallen off the bus",
    re.IGNORECASE,
)
# A stack address with one wrong bit this high is no neighbour of the stack.
LOWEST_BIT, HIGHEST_BIT = 34, 46


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for broken hardware."""
    for device in case.all(Device):
        if device.kind == "xid":
            yield from _xid(device)
        elif device.kind in REPORTS:
            weight, says, name = REPORTS[device.kind]
            blamed = _named(device, name) if name else None
            fix = RESEAT if device.kind in {"gpu", "aer"} else None
            yield Clue(weight, device, says, culprit=blamed, fix=fix)
    for death in case.all(Death):
        if death.code in {"BUS_MCEERR_AR", "BUS_MCEERR_AO"}:
            yield Clue(
                Weight.PROOF,
                death,
                "the kernel killed it because a memory page was found broken",
                culprit=Culprit(kind="limit", name="memory"),
            )
    for gpu in case.all(Gpu):
        if SICK_GPU.search(gpu.text):
            blamed = Culprit(kind="package", name="GPU")
            says = "the GPU runtime reports broken hardware"
            yield Clue(Weight.PROOF, gpu, says, culprit=blamed, fix=REPLACE_GPU)
    yield from _lost_page(case)
    yield from _flipped_bit(case)


def _lost_page(case: Case) -> Iterator[Clue]:
    """A disk that cannot be read takes the pages of mapped files with it: SIGBUS."""
    if any(device.kind == "disk" for device in case.all(Device)):
        for death in case.all(Death):
            if death.signal == "SIGBUS" and death.code != "BUS_ADRALN":
                says = "a mapped page could not be provided, and the disk failed"
                yield Clue(Weight.STRONG, death, says)


def _xid(device: Device) -> Iterator[Clue]:
    at = PCI.search(device.span.words)
    place = f"GPU at PCIe {at[1]}" if at else "GPU"
    blamed = Culprit(kind="package", name=place)
    fix = RESEAT if device.code == LOST_LINK else REPLACE_GPU
    if device.code in CARD_XIDS:
        says = f"{device.text}: an error of the card"
        yield Clue(Weight.PROOF, device, says, culprit=blamed, fix=fix)
    elif device.code in MAYBE_CARD_XIDS:
        says = f"{device.text}: often an error of the card"
        yield Clue(Weight.STRONG, device, says, culprit=blamed, fix=fix)
    elif device.code in PROGRAM_XIDS:
        yield Clue(Weight.DOUBT, device, f"{device.text}: mostly an error of the program")


def _named(device: Device, name: str) -> Culprit:
    found = DISK.search(device.text) if name == "disk" else None
    return Culprit(kind="package", name=(found[1] or found[2]) if found else name)


def _flipped_bit(case: Case) -> Iterator[Clue]:
    """An address that is a good one but for one bit was once right."""
    for notice in (n for n in case.all(Notice) if n.topic == "one-bit"):
        says = f"the address is one bit away from one that {notice.subject} points to"
        yield Clue(Weight.FAIR, notice, says, culprit=Culprit(kind="limit", name="memory"))
    for fault in case.all(Fault):
        if fault.address is None or not fault.stack:
            continue
        wrong = (fault.address ^ fault.stack) >> 16
        if (
            wrong
            and not wrong & (wrong - 1)
            and LOWEST_BIT <= wrong.bit_length() + 15 <= HIGHEST_BIT
        ):
            says = "the address differs from the stack's by one bit, as broken memory makes it"
            yield Clue(Weight.SLIGHT, fault, says)
