"""What stood around a death: environment, packages, limits, control group, files, CPU."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.autopsy.redact import is_secret, redacted, redacted_command, redacted_value
from sigwhy.model.incident import Incident, Module
from sigwhy.run import proc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.machine.memory import Memory

MOST_FILES = 300
MOST_MODULES = 2000
# What is kept of the environment: names that change how native code behaves, never what may be secret.
KEPT = re.compile(
    r"^(?:PYTHON\w*|LD_\w+|DYLD_\w+|TF_\w+|XLA_\w+|KERAS_\w+|CUDA_\w+|NVIDIA_\w+|NCCL_\w+|ROCR?_\w+|HIP_\w+|HSA_\w+|OMP_\w+|KMP_\w+|GOMP_\w+|MKL_\w+"
    r"|OPENBLAS_\w+|BLIS_\w+|NUMEXPR_\w+|NUMBA_\w+|TORCH_\w+|PYTORCH_\w+|JAX_\w+|GRPC_\w+|PROTOCOL_BUFFERS_\w+|HDF5_\w+|MALLOC_\w+|GLIBC_TUNABLES|ONEDNN_\w+|DNNL_\w+"
    r"|ASAN_OPTIONS|UBSAN_OPTIONS|TSAN_OPTIONS|LSAN_OPTIONS|MPLBACKEND|QT_\w+|DISPLAY|WAYLAND_DISPLAY|LANG|LC_\w+|PATH|HOME|SHELL|TERM|TMPDIR|VIRTUAL_ENV|CONDA_\w+|SLURM_\w+|KUBERNETES_\w+|RAY_\w+|TZ|PWD)$"
)
LONGEST = 2000
PYTHON = re.compile(r"(?:^|/)(?:libpython[23]\.\d|python[23]?(?:\.\d+)?(?: |$))")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """An Incident with all that is known without looking at threads."""

    incident: Incident
    has_python: bool


def surroundings(pid: int, memory: Memory) -> Surroundings:
    """Read it once, while the process stands."""
    has_python = any(PYTHON.search(mapping.path) for mapping in memory.mappings)
    incident = Incident(
        command=redacted_command(proc.command(pid)),
        environment=environment(proc.bytes_of(f"/proc/{pid}/environ")),
        limits=limits(proc.text(f"/proc/{pid}/limits")),
        cpu_flags=cpu_flags(),
        files=dict(files(pid)),
        modules=list(modules(memory)),
        machine=os.uname().machine,
        system=system(),
        cpu=cpu(),
    )
    return Surroundings(incident, has_python)


def environment(packed: bytes) -> dict[str, str]:
    """The variables that matter; of those that may hold a secret, not even the name."""
    found = {}
    for word in proc.words(packed):
        name, equals, value = word.partition("=")
        if equals and KEPT.match(name) and not is_secret(name):
            found[name] = redacted_value(name, value[:LONGEST])
    return found


def limits(text: str) -> dict[str, str]:
    """The soft limits by name: ``stack size`` is ``8388608``, or ``unlimited``."""
    found = {}
    for line in text.splitlines()[1:]:
        fields = re.split(r"\s{2,}", line.strip())
        if len(fields) >= 3 and fields[0].startswith("Max "):
            found[fields[0].removeprefix("Max ")] = fields[1]
    return found


def system() -> str:
    """``Debian GNU/Linux 12 (bookworm), Linux 6.18.5``."""
    told = re.search(r'^PRETTY_NAME="?([^"\n]{1,100})', proc.text("/etc/os-release"), re.MULTILINE)
    kernel = f"{os.uname().sysname} {os.uname().release}"
    return f"{told[1]}, {kernel}" if told else kernel


def cpu() -> str:
    """What the CPU calls itself; those of ARM have no name."""
    told = re.search(
        r"^(?:model name|Hardware|Model)\s*:\s*(.{1,100})",
        proc.text("/proc/cpuinfo", 1 << 16),
        re.MULTILINE,
    )
    return told[1].strip() if told else ""


def cpu_flags() -> list[str]:
    """What this CPU can do, in the words of the kernel."""
    told = proc.text("/proc/cpuinfo", 1 << 16)
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", told, re.MULTILINE)
    return found[1].split() if found else []


def files(pid: int) -> Iterator[tuple[str, str]]:
    """The open descriptors, and what each stands for."""
    folder = f"/proc/{pid}/fd"
    try:
        names = sorted(os.listdir(folder), key=int)[:MOST_FILES]  # noqa: PTH208 -- names are all that is wanted
    except OSError:
        return
    for name in names:
        if where := proc.link(f"{folder}/{name}"):
            yield name, redacted(where)


def modules(memory: Memory) -> Iterator[Module]:
    """Every file with code, where it begins in memory."""
    seen: set[str] = set()
    first: dict[str, int] = {}
    for mapping in memory.mappings:
        if mapping.path.startswith("/"):
            first.setdefault(mapping.path, mapping.start)
        if "x" in mapping.rights and mapping.path.startswith("/") and mapping.path not in seen:
            if len(seen) >= MOST_MODULES:
                return
            seen.add(mapping.path)
            gone = mapping.path.endswith(" (deleted)")
            yield Module(
                path=mapping.path.removesuffix(" (deleted)"), base=first[mapping.path], deleted=gone
            )
