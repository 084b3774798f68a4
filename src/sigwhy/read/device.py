"""What hardware says of itself: NVIDIA and AMD graphics, PCI Express, memory, CPUs, disks.

Looks like::

    NVRM: Xid (PCI:0000:02:00): 79, pid=812, name=python3, GPU has fallen off the bus.
    pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: 0000:00:02.0
    mce: [Hardware Error]: Machine check events logged
    EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0
    amdgpu 0000:03:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32770)
    blk_update_request: I/O error, dev nvme0n1, sector 81920
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Device, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "error, dev",
    "error dev",
    "error on dev",
    "error, on dev",
    "error device",
    "_request:",
    "print_req_error",
    "critical medium",
    "VM_L2_PROTECTION",
    "machine check",
    "speed above threshold",
    "severity: corrected",
    "EXT4-fs error",
    "BTRFS",
    "XFS",
    "failure",
    "Rounding was",
    "Xid",
    "fallen off the bus",
    "GPU is lost",
    "device handle for",
    "AER:",
    "PCIe Bus Error",
    "Hardware Error",
    "Machine check",
    "Machine Check",
    "MCE",
    "mce:",
    "EDAC",
    "amdgpu",
    "HW Exception by GPU",
    "I/O error",
    "SError",
    "ECC",
    "nvme",
    "temperature above threshold",
    "ata",
    "Memory failure",
    "RmInitAdapter failed",
)

# What each number means (NVIDIA, "XID Errors"); the words of the driver differ between versions.
XIDS = {
    8: "GPU stopped processing",
    13: "graphics engine exception",
    31: "GPU memory page fault",
    32: "invalid or corrupted push buffer stream",
    38: "driver firmware error",
    43: "GPU stopped processing",
    44: "graphics engine fault",
    45: "preemptive cleanup after an earlier error",
    46: "GPU stopped processing",
    48: "double bit ECC error",
    54: "auxiliary power is not connected",
    56: "display engine error",
    57: "error programming video memory interface",
    58: "unstable video memory interface",
    61: "internal micro-controller breakpoint",
    62: "internal micro-controller halt",
    63: "ECC page retirement or row remapping",
    64: "ECC page retirement or row remapping failed",
    65: "video processor exception",
    68: "NVDEC0 exception",
    69: "graphics engine class error",
    74: "NVLink error",
    79: "GPU has fallen off the bus",
    80: "corrupted data sent to GPU",
    92: "high single-bit ECC error rate",
    94: "contained ECC error",
    95: "uncontained ECC error",
    109: "context switch timeout",
    110: "security fault",
    119: "GSP RPC timeout",
    120: "GSP error",
    121: "C2C link error",
    122: "SPI PMU RPC read failure",
    123: "SPI PMU RPC write failure",
    125: "Inforom FS error",
    136: "link training failed",
    137: "NVLink FLA privilege error",
    140: "unrecovered ECC error",
    143: "GPU initialization failure",
    144: "NVLink SAW error",
    145: "NVLink RLW error",
    149: "NVLink NETIR error",
    154: "GPU recovery action changed",
    155: "NVLink software defined error",
    160: "channel retirement blacklist",
    167: "PCIE fatal timeout",
    171: "uncorrectable DRAM error",
    172: "uncorrectable SRAM error",
}
XID = re.compile(
    r"\bXid(?: Error)?:? ?\((?:PCI:)?[0-9a-fA-F:. ]{1,24}\): (\d{1,4})\b[^\r\n]{0,300}"
)
XID_SAID = re.compile(r"\bXid(?: error)?(?: code)?[ :=#]{1,3}(\d{1,3})\b", re.IGNORECASE)

# A sentence, and whose it is. "corrected" tells what was repaired and killed nobody.
SENTENCES = (
    (re.compile(r"(?:GPU .{0,80}has |NVRM: +)fallen off the bus"), "gpu"),
    (re.compile(r"GPU is lost\.? ?(?:Reboot the system to recover this GPU)?"), "gpu"),
    (re.compile(r"Unable to determine the device handle for (?:GPU|gpu)\S{0,40}"), "gpu"),
    (re.compile(r"NVRM: .{0,40}RmInitAdapter failed!"), "gpu"),
    (re.compile(r"(?:uncorrectable|double.bit) ECC error(?: encountered)?", re.IGNORECASE), "ecc"),
    (
        re.compile(
            r"AER: (?:Multiple )?Corrected error|PCIe Bus Error: severity=Corrected|severity: corrected"
        ),
        "corrected",
    ),
    (
        re.compile(
            r"AER: (?:Multiple )?Uncorrect(?:ed|able) .{0,40}error|PCIe Bus Error: severity=Uncorrect\w+[^\r\n]{0,80}"
        ),
        "aer",
    ),
    (re.compile(r"EDAC .{0,40}?\bCE\b[^\r\n]{0,80}"), "corrected"),
    (re.compile(r"EDAC .{0,40}?\bUE\b[^\r\n]{0,80}"), "edac"),
    (re.compile(r"\[Hardware Error\]: +Corrected error"), "corrected"),
    (
        re.compile(
            r"\bCPU \d+: Machine Check(?: Exception)?: [0-9a-f]{1,4} Bank \d+|\bKernel panic - not syncing: (?:Fatal )?[Mm]achine check|\[Hardware Error\]: +(?:event severity|Uncorrected|Deferred error|Fatal)[^\r\n]{0,60}"
        ),
        "mce",
    ),
    (re.compile(r"Machine check events logged"), "mce-logged"),
    (
        re.compile(
            r"MCE: Killing \S{1,60} due to hardware memory corruption fault at [0-9a-f]{1,16}"
        ),
        "mce",
    ),
    (
        re.compile(
            r"Memory failure: 0x[0-9a-f]{1,16}: (?:Killing|recovery action for|Sending SIGBUS)[^\r\n]{0,80}"
        ),
        "mce",
    ),
    (re.compile(r"\bSError Interrupt on CPU\d+|Asynchronous SError Interrupt"), "mce"),
    (
        re.compile(
            r"amdgpu.{0,80}(?:page fault \(src_id|\[(?:gfxhub|mmhub)\d*\].{0,20}page fault)[^\r\n]{0,60}|VM_L2_PROTECTION_FAULT_STATUS:0x[0-9A-Fa-f]{1,8}"
        ),
        "amdgpu-fault",
    ),
    (
        re.compile(
            r"amdgpu.{0,80}(?:ring \S{1,24} timeout|GPU reset(?: begin)?|uncorrectable hardware error|device lost from bus|poison[^\r\n]{0,40})"
        ),
        "amdgpu",
    ),
    (re.compile(r"HW Exception by GPU node-\d+"), "amdgpu"),
    (
        re.compile(
            r"(?:(?:Buffer|critical medium|blk_update_request:|print_req_error:|end_request:) ?(?:I/O )?error,? (?:on )?(?:dev|device) \w{2,32}|\bI/O error, dev \w{2,32}|EXT4-fs error \(device \w{2,32}\)|XFS \(\w{2,32}\): metadata I/O error|Buffer I/O error on dev(?:ice)? [\w-]{2,32})"
        ),
        "disk",
    ),
    (
        re.compile(
            r"critical medium error, dev \w{2,32}|nvme\d{0,3}: (?:controller is down|I/O \d+ .{0,30}timeout|Device not ready; aborting reset|Removing after probe failure)|nvme nvme\d{1,3}: (?:controller is down|I/O .{0,60}timeout|Device not ready; aborting|Removing after probe failure|Abort status: 0x)"
        ),
        "disk",
    ),
    (
        re.compile(
            r"\bata\d{1,3}(?:\.\d{2})?: (?:failed command: [A-Z ]{2,30}|exception Emask 0x[1-9a-f]|error: \{ UNC \})"
        ),
        "disk",
    ),
    (
        re.compile(
            r"(?:CPU\d+: )?(?:Core|Package) temperature(?:/speed)? above threshold, cpu clock (?:is )?(?:throttled|clocked)|Core temperature above threshold"
        ),
        "hot",
    ),
    (
        re.compile(
            r"FATAL ERROR: Rounding was [\d.e+-]{1,12}, expected less than|Hardware failure detected, consult stress\.txt|Possible hardware failure"
        ),
        "stress",
    ),
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what the hardware reported."""
    for n, line in enumerate(evidence.lines):
        if found := XID.search(line) or XID_SAID.search(line):
            code = int(found[1])
            yield Device(span=_span(evidence, n, found), kind="xid", text=_meaning(code), code=code)
        else:
            yield from _said(evidence, n, line)


def _meaning(code: int) -> str:
    return f"Xid {code}: {XIDS.get(code, 'an error of the GPU')}"


def _said(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    for pattern, kind in SENTENCES:
        if found := pattern.search(line):
            yield Device(span=_span(evidence, n, found), kind=kind, text=found[0].strip())
            return


def _span(evidence: Evidence, n: int, found: re.Match[str]) -> Span:
    return Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
