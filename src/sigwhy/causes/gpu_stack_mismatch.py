"""Driver, CUDA, cuDNN, the framework and the GPU do not fit each other.

What happens: a framework is built for one version of CUDA and cuDNN and for a list of GPU
generations; the driver supports CUDA up to a version. Where one of these does not fit, the first
use of the GPU fails: a library refuses to start, or no kernel exists for this GPU.

How to tell: the message compares two versions ("Loaded runtime CuDNN library: 9.1.0 but source was
compiled with: 9.3.0", "driver version is insufficient for CUDA runtime version"), or says "no kernel
image is available", "unsupported toolchain", "forward compatibility" (error 804).

Fix: compare `nvidia-smi` (the driver and the newest CUDA that it can do) with what the framework
was built for; install the build that fits both, or update the driver. In a container the driver is
the host's. Let one package bring cuDNN: another one may have replaced it.

Folklore: "Could not load dynamic library libcudart" and "Unable to register cuDNN factory" at start
are harmless; "failed call to cuInit: CUDA_ERROR_NO_DEVICE" only says that there is no GPU. None of
them crashes a process.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Gpu, LoadFailure, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="gpu-stack-mismatch",
    title="driver, CUDA, cuDNN, framework and GPU do not fit each other",
    fix="Compare nvidia-smi (driver, newest CUDA) with the CUDA and cuDNN that the framework was "
    "built for, and install the build that fits both; in a container the driver is the host's.",
)
DRIVER = (
    "Update the NVIDIA driver (of the host, if this is a container), or install a build of the \
framework for an older CUDA."
)
GPU_TOO_NEW = "Install a build of the framework that holds kernels for this GPU (a newer one for a \
new GPU, an older one for an old GPU), or build it for this compute capability."
RESTART = "Restart the machine: the driver was updated while the old one was still loaded."
# Numbers of CUDA and HIP: the weight, what each says, whom it blames, what helps.
CODES = {
    35: (Weight.PROOF, "the driver is older than the CUDA runtime needs", "NVIDIA driver", DRIVER),
    98: (Weight.PROOF, "the binary holds no code of this kernel for this GPU", None, GPU_TOO_NEW),
    200: (Weight.STRONG, "the code for the GPU is of a kind it cannot run", None, GPU_TOO_NEW),
    209: (Weight.PROOF, "the binary holds no kernels for this GPU", None, GPU_TOO_NEW),
    218: (Weight.STRONG, "the driver could not compile the kernel for this GPU", "CUDA", DRIVER),
    222: (Weight.PROOF, "the kernels were compiled by a CUDA newer than the driver", "NVIDIA driver", DRIVER),
    802: (Weight.STRONG, "the driver says the GPUs are not ready (fabric manager)", "NVIDIA driver", None),
    803: (Weight.PROOF, "display driver and CUDA driver do not belong together", "NVIDIA driver", RESTART),
    804: (Weight.PROOF, "CUDA is newer than the driver, and this GPU allows no forward compatibility", "NVIDIA driver", DRIVER),
    999: (Weight.FAIR, "the driver answers with an unknown error", "NVIDIA driver", RESTART),
}  # fmt: skip
REFUSED = re.compile(
    r"_(?:VERSION_MISMATCH|ARCH_MISMATCH|RUNTIME_PREREQUISITE_MISSING|INCOMPATIBLE_DRIVER)$|Tensile|Unable to find code object|ErrorIncompatibleDriver"
)
UNSURE = re.compile(
    r"^(?:CU\w+_STATUS_(?:NOT_INITIALIZED|INTERNAL_ERROR|EXECUTION_FAILED|MAPPING_ERROR)|CUBLAS_STATUS_INVALID_VALUE|CUFFT_INTERNAL_ERROR|CUBLAS_STATUS_NOT_SUPPORTED)$"
)
LIBRARY = re.compile(
    r"lib(cudnn|cublas|cudart|cufft|curand|cusparse|cusolver|nvJitLink|nvrtc|nccl|cupti)\w*[.-]"
)
SYMBOL = re.compile(r"cudnn|cublas|nvJitLink|nccl[A-Z]|cudaGraph|cuda[A-Z]\w+|libcu\w+|libnv\w+")
NAMES = {
    "nvJitLink": "nvJitLink",
    "cudnn": "cuDNN",
    "cublas": "cuBLAS",
    "cufft": "cuFFT",
    "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER",
    "curand": "cuRAND",
    "nccl": "NCCL",
    "hip": "ROCm",
    "vulkan": "Vulkan",
}
TOPICS = {
    "gpu-versions": (Weight.PROOF, "it compares versions and finds that they do not fit"),
    "gpu-too-new-or-old": (Weight.STRONG, "it says that its kernels are not for this GPU"),
    "gpu-versions-suspected": (Weight.FAIR, "it says that two parts of the driver differ"),
    "cudnn-unusable": (Weight.STRONG, "cuDNN was not found or does not fit"),
    "cudnn-not-started": (Weight.FAIR, "cuDNN could not start, as with a version that does not fit"),
    "cublas-not-started": (Weight.FAIR, "cuBLAS could not start, as with a version that does not fit"),
}  # fmt: skip


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for parts that do not fit each other."""
    for gpu in case.all(Gpu):
        if clue := _of_gpu(gpu):
            yield clue
    for notice in case.all(Notice):
        if notice.topic in TOPICS:
            weight, says = TOPICS[notice.topic]
            culprit = Culprit(kind="library", name=notice.subject)
            is_mild = weight == Weight.PROOF and notice.mechanism is None
            fix = DRIVER if "driver" in (notice.subject or "") else None
            yield Clue(
                Weight.STRONG if is_mild else weight, notice, f"{says}: {notice.text}", culprit, fix
            )
    for failure in case.all(LoadFailure):
        if clue := _of_library(failure):
            yield clue


def _of_gpu(gpu: Gpu) -> Clue | None:
    name = NAMES.get(gpu.api, "CUDA")
    if gpu.code in CODES and gpu.api in ("cuda", "hip"):
        weight, says, blamed, fix = CODES[gpu.code]
        named = Culprit(kind="library", name=name, library=blamed)
        return Clue(weight, gpu, says, named, fix)
    if REFUSED.search(gpu.text):
        says = f"{name} says that it does not fit: {gpu.text}"
        return Clue(Weight.PROOF, gpu, says, Culprit(kind="library", name=name), None)
    if UNSURE.match(gpu.text):
        says = f"{name} failed without a reason ({gpu.text}), as with a version that does not fit"
        return Clue(Weight.FAIR, gpu, says, Culprit(kind="library", name=name))
    return None


def _of_library(failure: LoadFailure) -> Clue | None:
    """Two releases of CUDA's libraries in one process: a symbol of one is missing in the other."""
    found = LIBRARY.search(failure.library or "") or LIBRARY.search(failure.needed_by or "")
    missing = failure.missing or ""
    if failure.kind not in ("symbol", "version") or not SYMBOL.search(missing):
        return None
    name = next((NAMES[word] for word in NAMES if word in missing), None)
    name = name or (NAMES.get(found[1], found[1]) if found else "CUDA")
    says = f"a library of CUDA lacks {missing}: two releases of CUDA are mixed"
    fix = "Let one package bring CUDA: unset LD_LIBRARY_PATH, or align the nvidia-* packages."
    return Clue(Weight.STRONG, failure, says, Culprit(kind="library", name=name), fix)
