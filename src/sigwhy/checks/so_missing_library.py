"""A library that a shared object needs is not there.

What happens: the loader looks for every library that the file names, and refuses the file where one is not
found: "libfoo.so.1: cannot open shared object file: No such file or directory". The import fails with ImportError; a
program that is linked so does not start (exit status 127).

How to tell: the name stands in the dynamic table (NEEDED), and is neither in the run paths, nor in LD_LIBRARY_PATH, nor in the cache of ldconfig,
nor in the system's folders. What lies anywhere in the environment counts as found: packages load it before. Libraries of
drivers (libcuda.so.1) are a note only: they come with the device. So is a plug-in of an installed package, with which nothing is
linked: it is loaded when somebody has the device or the service for which it was made.

Fix: install the package that has it, or put its folder into the run path (``-Wl,-rpath,'$ORIGIN'``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.shared_object import OF_DRIVERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem, Severity
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-missing-library",
    title="a library that it needs is not there",
    fix="install the package that has it, or put its folder into the run path",
)
# Whose library it is, and what installs it.
OWNERS = (
    ("libtensorflow", "TensorFlow", "pip install tensorflow, or name the environment that has it with --env"),
    ("libtorch", "PyTorch", "pip install torch, or name the environment that has it with --env"),
    ("libc10", "PyTorch", "pip install torch, or name the environment that has it with --env"),
    ("libpython", "a Python", "link without -lpython: an extension module finds the interpreter by itself"),
    ("libcudart", "CUDA", "pip install nvidia-cuda-runtime-cu12, or install the CUDA toolkit"),
    ("libcublas", "CUDA", "pip install nvidia-cublas-cu12, or install the CUDA toolkit"),
    ("libcudnn", "cuDNN", "pip install nvidia-cudnn-cu12"),
    ("libGL.so", "OpenGL", "apt install libgl1, or use opencv-python-headless"),
    ("libglib-2", "GLib", "apt install libglib2.0-0"),
    ("libgomp", "GCC's OpenMP", "apt install libgomp1"),
    ("libomp", "LLVM's OpenMP", "apt install libomp5"),
    ("libiomp5", "Intel's OpenMP", "pip install intel-openmp"),
    ("libc.musl", "musl, the C library of Alpine", "install the wheel for glibc (manylinux)"),
)  # fmt: skip


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield each library that nobody has."""
    if not library.is_readable:
        return
    for name, by in library.absent:
        asks = "" if by.path == library.path.absolute() else f", which {by.path.name} asks for,"
        owner, fix = _owner(name)
        whose = f"; it is a library of {owner}" if owner else ""
        if OF_DRIVERS.match(name):
            yield CHECK.problem(
                f"{name}{asks} is not on this machine; it comes with the driver of the device",
                severity="note",
                fix="nothing where there is no such device, else install its driver",
                place=name,
            )
            continue
        where = f" in {library.env.path} or" if library.env else ""
        yield CHECK.problem(
            f"{name}{asks} is not found{where} on this machine{whose}",
            severity=_severity(library, owner),
            confidence="certain" if library.named else "likely",
            fix=fix,
            place=name,
        )


def _severity(library: SharedObject, owner: str | None) -> Severity:
    if library.is_plugin:
        return "note"
    return "error" if library.named or not owner else "warning"


def _owner(name: str) -> tuple[str | None, str | None]:
    found = ((owner, fix) for start, owner, fix in OWNERS if name.startswith(start))
    return next(found, (None, None))
