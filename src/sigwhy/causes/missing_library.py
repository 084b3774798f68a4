"""A library that is loaded at run time is not there, or is not where the loader looks.

What happens: the process asks for a library (often late, at the first convolution or the first
compilation) and the loader does not find the file. Python code gets an ImportError or OSError; C++
code that cannot go on without it aborts.

How to tell: "cannot open shared object file", "Library not loaded", "DLL load failed … module could
not be found", "Could not locate zlibwapi.dll", "libdevice not found", "Cannot load libmkl_def.so".
The file that is named last is the missing one: "Could not load library A. Error: B: cannot open"
means that B is missing, not A.

Fix: install the package that has the file, or add its folder to the loader's search path
(LD_LIBRARY_PATH, PATH on Windows, XLA_FLAGS=--xla_gpu_cuda_data_dir for libdevice).

Folklore: TensorFlow's start-up lines "Could not load dynamic library 'libcudart.so…'" and "Cannot
dlopen some GPU libraries" are no crash: it goes on without GPU.
"""

from __future__ import annotations

import re
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import LoadFailure, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="missing-library",
    title="a library that is loaded at run time is not there",
    fix="Install the package that has this file, or add its folder to the loader's search path.",
)
# (a name, what to do about it)
WHERE_FROM = tuple(
    (re.compile(pattern, re.IGNORECASE), fix)
    for pattern, fix in (
        (r"^libcuda\.so", "libcuda.so comes with the NVIDIA driver: install it, or make libcuda.so.1 of the driver (on WSL /usr/lib/wsl/lib) be found; in a container use --gpus all."),
        (r"^libdevice", "Point XLA to the CUDA toolkit: XLA_FLAGS=--xla_gpu_cuda_data_dir=DIR, where DIR/nvvm/libdevice/libdevice.10.bc is (package cuda-nvcc)."),
        (r"^zlibwapi", "Put zlibwapi.dll (64 bit) into a folder on PATH, beside the cuDNN libraries."),
        (r"^(?:lib)?cudnn", "Install the cuDNN that this framework was built for, and put its folder on the search path."),
        (r"^(?:lib)?(?:cudart|cublas|cufft|curand|cusolver|cusparse|cupti|nvrtc|nvjitlink|nccl|nvToolsExt)", "Install the CUDA libraries of the version in the file's name, for example the nvidia-* wheels of the framework (pip install 'tensorflow[and-cuda]')."),
        (r"^libnvinfer", "Install the TensorRT version in the file's name."),
        (r"^(?:msvcp|vcruntime|concrt)", "Install the Microsoft Visual C++ Redistributable (2015 to 2022, x64)."),
        (r"^libGL\.so|^libEGL|^libGLX", "apt install libgl1, or use opencv-python-headless where no window is shown."),
        (r"^lib(?:gthread|glib)-2", "apt install libglib2.0-0, or use opencv-python-headless."),
        (r"^lib(?:SM|ICE|Xext|Xrender|X11|xcb|xkb)", "Install the X11 library (apt install libsm6 libxext6 libxrender1), or use a headless build."),
        (r"^libomp\.dylib", "brew install libomp"),
        (r"^libgomp", "apt install libgomp1 (yum install libgomp)"),
        (r"^libmkl", "Install MKL completely (conda install mkl, pip install mkl), or builds without MKL (conda install nomkl)."),
        (r"^libpython", "Install the shared library of this Python version, and put its folder on LD_LIBRARY_PATH."),
        (r"^libedgetpu|^edgetpu", "Install the Edge TPU runtime (libedgetpu1-std)."),
        (r"^libtensorflow", "Install the TensorFlow version that the extension was built for; its folder is tf.sysconfig.get_lib()."),
        (r"^(?:libtorch|libc10)", "Import torch before the extension, and install the torch that it was built for."),
    )
)  # fmt: skip
# Where these are missing the binary is for another kind of system: another cause tells.
FOREIGN = re.compile(r"^(?:ld-linux|ld-musl|libc\.so\.6|libm\.so\.6|libc\.musl)")
OPENMP = re.compile(r"^_?(?:GOMP_|omp_|__kmpc_|GOACC)")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a library that is not there."""
    for failure in case.all(LoadFailure):
        name = PureWindowsPath(failure.library or "").name
        if failure.kind == "file" and not FOREIGN.match(name):
            yield _absent(failure, name)
        elif failure.kind == "symbol" and OPENMP.match(failure.missing or ""):
            says = "a name of the OpenMP run time is missing: nothing loaded one"
            yield Clue(Weight.STRONG, failure, says, fix="Link the extension with -fopenmp.")
        elif failure.kind in ("tls", "version", "architecture"):
            yield Clue(Weight.AGAINST, failure, "the library is there, and was refused")
    for notice in case.all(Notice):
        if notice.topic == "libdevice-unfound":
            whom = Culprit(kind="library", name="libdevice", library="CUDA")
            says = "XLA did not find CUDA's libdevice"
            yield Clue(Weight.FAIR, notice, says, whom, _fix("libdevice"))


def _absent(failure: LoadFailure, name: str) -> Clue:
    words = failure.span.words
    if "DLL load failed" in words:
        says = "Windows did not find a DLL that the module needs"
        whom = Culprit(kind="library", name=failure.library, library=failure.library)
        fix = "Install what the module needs (often the Visual C++ Redistributable or CUDA); `dumpbin /dependents` or Dependencies.exe names the missing DLL."
        return Clue(Weight.STRONG, failure, says, whom if failure.library else None, fix)
    library = "CUDA" if name == "libdevice" else failure.library
    whom = Culprit(kind="library", name=name or None, library=library)
    says = f"{name or 'a library'} was not found"
    return Clue(Weight.PROOF, failure, says, whom if name else None, _fix(name))


def _fix(name: str) -> str | None:
    return next((fix for pattern, fix in WHERE_FROM if pattern.search(name)), None)
