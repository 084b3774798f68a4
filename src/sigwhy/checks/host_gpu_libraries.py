"""The driver and libraries of the GPU are not what the installed TensorFlow wants.

What happens: TensorFlow finds no GPU and trains on the CPU, or finds two versions of cuDNN and dies with SIGABRT (``Loaded runtime CuDNN
library: 8.9.4 but source was compiled with: 9.3.0``) or SIGSEGV in the first convolution. A driver that is older than the CUDA of the
libraries ends in ``CUDA driver version is insufficient``.

How to tell: ``build_info.py`` of TensorFlow, which tells the CUDA and cuDNN it was built with, against the kernel's driver and the
libraries in the environment and on the system.

Fix: ``pip install 'tensorflow[and-cuda]'`` brings libraries that fit; of the driver take a newer one.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sigwhy.machine.elf import X86_64
from sigwhy.machine.loader import Loader
from sigwhy.machine.regular_file import beginning
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.host import Host
    from sigwhy.subjects.python_environment import PythonEnvironment

CHECK = Check(
    id="host-gpu-libraries",
    title="driver and libraries of the GPU do not fit TensorFlow",
    fix="pip install 'tensorflow[and-cuda]', and a newer driver where that is what is old",
    severity="warning",
)
BUILD_INFO = "tensorflow/python/platform/build_info.py"
LARGEST = 100_000
# CUDA, and the oldest driver of NVIDIA that runs its libraries (with the rule that minor versions agree).
DRIVERS = ((11, 450), (12, 525), (13, 580))


def look(host: Host) -> Iterator[Problem]:
    """Yield what of driver, CUDA and cuDNN does not fit."""
    wants = _build_info(host.env) if host.env else {}
    if not wants.get("is_cuda_build") or not host.env:
        return
    cuda, cudnn = _major(wants.get("cuda_version")), _major(wants.get("cudnn_version"))
    if host.nvidia is None:
        yield CHECK.problem(
            "TensorFlow was built for NVIDIA GPUs, and no driver is loaded: it will run on the CPU",
            severity="note",
            fix="nothing where there is no GPU, else install the driver (and docker run --gpus all)",
            place="/proc/driver/nvidia/version",
        )
        return
    needed = next((driver for version, driver in DRIVERS if version == cuda), None)
    if needed and host.nvidia[0] < needed:
        yield CHECK.problem(
            f"the driver is {host.nvidia[0]}.{host.nvidia[1]:02}, and CUDA {cuda} needs {needed} or newer: 'CUDA driver version is insufficient'",
            severity="error",
            fix=f"install NVIDIA's driver {needed} or newer",
            place="/proc/driver/nvidia/version",
        )
    for name, version in (("libcudart", cuda), ("libcudnn", cudnn)):
        yield from _library(host, name, version)


def _library(host: Host, name: str, version: int | None) -> Iterator[Problem]:
    env = host.env
    there = [n for n in env.by_name if n.startswith(f"{name}.so.")] if env else []
    majors = {major for n in there if (major := _major(n.split(".so.")[1])) is not None}
    if version is None or (not majors and _on_system(host, f"{name}.so.{version}")):
        return
    if version not in majors:
        has = f"the environment has {', '.join(sorted(there))}" if there else "it is not there"
        yield CHECK.problem(f"TensorFlow wants {name}.so.{version}, and {has}", place=name)
    elif len(majors) > 1:
        yield CHECK.problem(
            f"the environment has {name} of several versions: {', '.join(sorted(there))}; which is loaded depends on"
            " what is imported first",
            fix="uninstall the package with the other one: pip list | grep nvidia",
            place=name,
        )


def _on_system(host: Host, name: str) -> bool:
    return Loader(host.root).of_system(name, X86_64) is not None


def _build_info(env: PythonEnvironment) -> dict[str, object]:
    """What TensorFlow tells about its build, from a source that is read and not run."""
    text = beginning(env.site / BUILD_INFO, LARGEST)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return dict(_pairs(tree))


def _pairs(tree: ast.AST) -> Iterator[tuple[str, object]]:
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=[ast.Constant(value=str(name)), ast.Constant(value=value)]):
                yield name, value
            case _:
                pass


def _major(version: object) -> int | None:
    word = str(version or "").split(".")[0]
    return int(word) if word.isdigit() else None
