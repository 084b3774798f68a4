"""CUDA, cuDNN, cuBLAS and NCCL, as the frameworks repeat their errors, in old words and new.

Looks like::

    Loss.cu:271: nll_loss_kernel: block: [0,0,0], thread: [5,0,0] Assertion `t < n_classes` failed.
    RuntimeError: CUDA error: device-side assert triggered
    RuntimeError: cuda runtime error (710) : device-side assert triggered at ClassNLLCriterion.cu:11
    E cuda_dnn.cc:353] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR
    E cuda_dnn.cc:378] Loaded runtime CuDNN library: 7.3.1 but source was compiled with: 7.4.2.
    RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was
    F random_op_gpu.h:232] Non-OK-status: status: Internal: no kernel image is available for executi
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Check, Gpu, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

# The number that CUDA has given the error since 10.1, its names, its words. HIP took them all over.
ERRORS = (
    (2, ("OUT_OF_MEMORY", "MemoryAllocation", "OutOfMemory"), ""),
    (3, ("NOT_INITIALIZED", "InitializationError", "NotInitialized"), ""),
    (4, ("DEINITIALIZED", "Deinitialized"), "driver shutting down"),
    (35, ("InsufficientDriver",), "CUDA driver version is insufficient for CUDA runtime version"),
    (46, ("DEVICE_UNAVAILABLE", "DevicesUnavailable"), "CUDA-capable device(s) is/are busy or"),
    (46, (), "all CUDA-capable devices are busy or unavailable"),
    (98, ("InvalidDeviceFunction",), "invalid device function"),
    (100, ("NO_DEVICE", "NoDevice"), "no CUDA-capable device is detected"),
    (101, ("INVALID_DEVICE", "InvalidDevice"), "invalid device ordinal"),
    (200, ("INVALID_IMAGE", "InvalidKernelImage"), "device kernel image is invalid"),
    (
        209,
        ("NO_BINARY_FOR_GPU", "NoKernelImageForDevice", "NoBinaryForGpu"),
        "no kernel image is available for execution on the device",
    ),
    (214, ("ECC_UNCORRECTABLE", "ECCUncorrectable"), "uncorrectable ECC error"),
    (218, ("INVALID_PTX", "InvalidPtx"), "a PTX JIT compilation failed"),
    (220, ("NVLINK_UNCORRECTABLE", "NvlinkUncorrectable"), "uncorrectable NVLink error"),
    (
        222,
        ("UNSUPPORTED_PTX_VERSION", "UnsupportedPtxVersion"),
        "PTX was compiled with an unsupported toolchain",
    ),
    (700, ("ILLEGAL_ADDRESS", "IllegalAddress"), "an illegal memory access was encountered"),
    (
        701,
        ("LAUNCH_OUT_OF_RESOURCES", "LaunchOutOfResources"),
        "too many resources requested for launch",
    ),
    (702, ("LAUNCH_TIMEOUT", "LaunchTimeout"), "the launch timed out and was terminated"),
    (710, ("ASSERT", "Assert"), "device-side assert triggered"),
    (714, ("HARDWARE_STACK_ERROR", "HardwareStackError"), "hardware stack error"),
    (715, ("ILLEGAL_INSTRUCTION", "IllegalInstruction"), "an illegal instruction was encountered"),
    (716, ("MISALIGNED_ADDRESS", "MisalignedAddress"), "misaligned address"),
    (
        717,
        ("INVALID_ADDRESS_SPACE", "InvalidAddressSpace"),
        "operation not supported on global/shared address space",
    ),
    (718, ("INVALID_PC", "InvalidPc"), "invalid program counter"),
    (719, ("LAUNCH_FAILED", "LaunchFailure"), "unspecified launch failure"),
    (802, ("SYSTEM_NOT_READY", "SystemNotReady"), "system not yet initialized"),
    (
        803,
        ("SYSTEM_DRIVER_MISMATCH", "SystemDriverMismatch"),
        "unsupported display driver / cuda driver combination",
    ),
    (
        804,
        ("COMPAT_NOT_SUPPORTED_ON_DEVICE", "CompatNotSupportedOnDevice"),
        "forward compatibility was attempted on non supported HW",
    ),
    (999, ("UNKNOWN", "Unknown"), ""),
)
BY_NAME = {name: code for code, names, _ in ERRORS for name in names}
BY_WORDS = {words: code for code, _, words in ERRORS if words}
# Numbers before CUDA 10.1, where they meant something else or nothing later.
OLD_NUMBERS = {6: 702, 7: 701, 8: 98, 10: 101, 29: 4, 30: 999, 38: 100, 39: 214, 48: 209, 59: 710}
OLD_NUMBERS |= {72: 714, 73: 715, 74: 716, 75: 717, 76: 718, 77: 700}
MARKERS = (
    "convolution algorithm",
    "cuSolverDN",
    "gpu-name",
    "Unsupported .version",
    "longer supports this GPU",
    "Version tag does",
    *BY_WORDS,
    "CUDA_ERROR_",
    "cudaError",
    "hipError",
    "CUDA error",
    "CUDA Error",
    "CUDA failure",
    "Cuda failure",
    "cuda runtime error",
    "cudaSuccess (",
    "initialization failure with error",
    "CUDNN_STATUS_",
    "CUBLAS_STATUS_",
    "CUSOLVER_STATUS_",
    "CUSPARSE_STATUS_",
    "CURAND_STATUS_",
    "CUFFT_",
    "NCCL error",
    "NCCL Error",
    "ncclUnhandledCudaError",
    "Assertion `",
    "CuDNN library",
    "cudnn library",
    "cuDNN",
    "DNN library",
    "JAX was built against version",
    "NVIDIA driver on your system",
    "Driver/library version mismatch",
    "does not match DSO version",
    "Possibly insufficient driver version",
    "is not compatible with the current PyTorch",
    "of cuda capability",
    "used to compile PyTorch",
    "different CUDA",
    "ptxas",
    "Call to cu",
    "Dst tensor is not initialized",
    "Found no NVIDIA driver",
    "CUDA unknown error",
    "compiled without CUDA support",
    "implementation for device cuda",
    "CUDA Setup failed",
    "with compute capability of at least",
    "--gpu-architecture",
    "Unsupported gpu architecture",
    "unsatisfied condition: cuda",
    "launch failed",
    "without BLAS support",
    "not compiled with CUDA enabled",
    "engine plan file",
    "stdVersionRead",
    "CUDA kernel binaries compatible",
    "no device code compatible with CUDA arch",
    "only supports Ampere GPUs",
)
NAMED = re.compile(
    r"(?<!== )(?<![\w])(?:UNKNOWN_)?(CUDA_ERROR_|cudaError|hipError)([A-Z][A-Za-z0-9_]{2,50})"
)
WORDS = re.compile("|".join(map(re.escape, BY_WORDS)))
AMBIGUOUS = {
    "misaligned address",
    "hardware stack error",
    "invalid program counter",
    "driver shutting down",
    "invalid device function",
}
SPEAKER = re.compile(r"cuda|CUDA|Cuda|hip|HIP|GPUassert|thrust|parallel_for|NCCL|kernel launch")
NUMBERED = re.compile(
    r"(?:\[(?=\d{1,3}\] Call to cu)|cuda runtime error \(|CUDA [Ee]rror:? |C(?:UDA|uda) failure |initialization failure with error:? |cudaSuccess \(|Error Code \d+: Cuda Runtime \()(\d{1,3})\b"
)
FULL = re.compile(
    r"(?:CUDA|HIP|Cuda|hip|cuda)[^\n]{0,60}?(?:[Ee]rror|failure|failed)[^\n]{0,40}?[:'] ?(out of memory|initialization error|unknown error)|cudaSuccess \(2 vs\. 0\) +(out of memory)"
)
GENERAL = re.compile(r"\b(CUDA|HIP) [Ee]rror: ([a-z][^\n]{3,160})")
FULL_CODES = {"out of memory": 2, "initialization error": 3, "unknown error": 999}
STATUS = re.compile(
    r"\b(CUDNN|CUBLAS|CUSOLVER|CUSPARSE|CURAND)_STATUS_(?!SUCCESS)([A-Z_]{3,60})|\b(CUFFT)_(?!SUCCESS)((?:INTERNAL_ERROR|ALLOC_FAILED|EXEC_FAILED|SETUP_FAILED|INVALID_\w{2,20}))"
)
NCCL = re.compile(
    r"\b(?:NCCL [Ee]rror[^\n]{0,200}|ncclUnhandledCudaError|ncclSystemError|ncclInternalError|ncclRemoteError)"
)
# An allocator that tries less after it: whoever reads allocations tells of it.
TRIED = re.compile(r"failed to allocate [^\n]{1,60} from device: CUDA_ERROR_OUT_OF_MEMORY")
INIT = re.compile(r"failed call to cuInit: ([A-Z_]+)?")
ASSERTED = re.compile(
    r"block: \[\d+, ?\d+, ?\d+\], thread: \[\d+, ?\d+, ?\d+\] Assertion `([^\n]{1,400}?)['`] failed"
)
ABOVE = re.compile(r"(\S{1,300}):(\d{1,7}): (?:([^\n]{1,800}): )?$")
# A warning or an information is said and the program goes on.
MILD = re.compile(
    r"Warning\b|(?:^|\s)[IW] \S*[\w/.]+\.(?:cc|cpp|h):\d+\]|^[IW]\d{4} |\bWARNING\b|(?:^|\s)\[W\b"
)
# Sentences about versions: the words, what they are about, whom they speak of.
SENTENCES = tuple(
    (re.compile(words), topic, subject)
    for words, topic, subject in (
        (
            r"Loaded (?:runtime )?(?:[Cc]u?DNN|cudnn) library: \S+[^\n]{0,60}? but source was compiled (?:with|against):? \S+",
            "gpu-versions",
            "cuDNN",
        ),
        (r"cuDNN version (?:incompatibility|mismatch)[^\n]{0,120}", "gpu-versions", "cuDNN"),
        (
            r"Found (cuDNN|CUDA|cuBLAS|cuSPARSE|cuSOLVER|cuFFT|NCCL|CUPTI)(?: runtime)? version \S+, but JAX was built against version \S+",
            "gpu-versions",
            "CUDA",
        ),
        (r"Possibly insufficient driver version: \S+", "gpu-versions", "NVIDIA driver"),
        (r"NVIDIA driver on your system is too old[^\n]{0,40}", "gpu-versions", "NVIDIA driver"),
        (r"Driver/library version mismatch", "gpu-versions", "NVIDIA driver"),
        (r"unsatisfied condition: cuda ?[<>=]+ ?[\d.]+", "gpu-versions", "NVIDIA driver"),
        (
            r"kernel version \S+ does not match DSO version \S+",
            "gpu-versions-suspected",
            "NVIDIA driver",
        ),
        (
            r"detected CUDA version \([\d.]+\) mismatches the version that was used to compile PyTorch \([\d.]+\)",
            "gpu-versions",
            "CUDA",
        ),
        (
            r"PyTorch and torch\w+ were compiled with different CUDA (?:major )?versions",
            "gpu-versions",
            "CUDA",
        ),
        (
            r"engine plan file is (?:not compatible with this version of TensorRT|generated on an incompatible device)[^\n]{0,80}",
            "gpu-versions",
            "TensorRT",
        ),
        (
            r"Serialization assertion stdVersionRead == serializationVersion failed|Version tag does not match",
            "gpu-versions",
            "TensorRT",
        ),
        (
            r"\bsm_\d+\w? is not compatible with the current PyTorch installation",
            "gpu-too-new-or-old",
            "PyTorch",
        ),
        (
            r"PyTorch no longer supports this GPU because it is too old",
            "gpu-too-new-or-old",
            "PyTorch",
        ),
        (
            r"not built with CUDA kernel binaries compatible with compute capability [\d.]+\w?",
            "gpu-too-new-or-old",
            "TensorFlow",
        ),
        (r"has no device code compatible with CUDA arch \d+", "gpu-versions", "CUDA"),
        (
            r"\bptx[^\n]{0,60}fatal *: (?:Value '\w+' is not defined for option 'gpu-name'|Unsupported \.version [\d.]+)",
            "gpu-versions",
            "ptxas",
        ),
        (r"invalid value for --gpu-architecture(?: \(-arch\))?", "gpu-versions", "CUDA"),
        (r"Unsupported gpu architecture '\w+'", "gpu-versions", "CUDA"),
        (r"FlashAttention only supports Ampere GPUs or newer", "gpu-versions", "FlashAttention"),
        (r"not compiled with CUDA enabled", "gpu-versions", "PyTorch"),
        (r"Found no NVIDIA driver on your system", "gpu-versions", "NVIDIA driver"),
        (r"CUDA unknown error - this may be due to", "gpu-versions-suspected", "NVIDIA driver"),
        (
            r"ptxas (?:exited with non-zero error code|returned an error during compilation)",
            "gpu-versions-suspected",
            "ptxas",
        ),
        (r"compiled without CUDA support", "gpu-versions", "OpenCV"),
        (r"implementation for device cuda[:\d]{0,3} not found", "gpu-versions", "MMCV"),
        (r"CUDA Setup failed despite GPU being available", "gpu-versions", "bitsandbytes"),
        (
            r"only supported on GPUs with compute capability of at least [\d.]+",
            "gpu-versions",
            "GPU",
        ),
        (r"Dst tensor is not initialized", "gpu-out-of-memory", "GPU"),
        (r"DNN library (?:is not found|initialization failed)", "cudnn-unusable", "cuDNN"),
        (r"Failed to get convolution algorithm", "cudnn-not-started", "cuDNN"),
        (
            r"Blas \w+(?: GEMM)? launch failed|BLAS operation using StreamExecutor without BLAS support",
            "cublas-not-started",
            "cuBLAS",
        ),
        (r"Cuda ?SolverDn? launch failed|cuSolverDN call failed", "cublas-not-started", "cuSOLVER"),
    )
)
NOT_FATAL_ALONE = {"gpu-versions-suspected", "gpu-too-new-or-old"}
OUT_OF_MEMORY = 2
MOST = 40


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the errors, each once, the assertions of kernels, and the sentences about versions."""
    told: set[tuple[str, object]] = set()
    for n, line in enumerate(evidence.lines):
        for fact in _of_line(evidence, n, line):
            key = (type(fact).__name__, _telling(fact))
            if key not in told and len(told) < MOST:
                told.add(key)
                yield fact


def _telling(fact: Fact) -> object:
    """What makes a fact another one than the last: a log repeats each error for every thread."""
    match fact:
        case Gpu():
            return fact.api, fact.code or fact.text
        case Check():
            return fact.expression, fact.file, fact.line
        case Notice():
            return fact.topic, fact.subject
        case _:
            return fact


def _of_line(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    if asserted := ASSERTED.search(line):
        yield _check(evidence, n, asserted)
    yield from _sentences(evidence, n, line)
    if started := INIT.search(line):
        topic = "gpu-absent" if started[1] == "CUDA_ERROR_NO_DEVICE" else "gpu-not-started"
        yield _notice(evidence, n, started[0], topic, started[1])
    elif not MILD.search(line) and not TRIED.search(line):
        yield from _errors(evidence, n, line)


def _errors(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    status = STATUS.search(line)
    if status:
        api = (status[1] or status[3]).lower()
        yield _gpu(evidence, n, api, status[0])
    if error := _error(line):
        words, code = error
        api = "hip" if "hip" in line or "HIP" in line else "cuda"
        yield _gpu(evidence, n, api, words, code)
        if code == OUT_OF_MEMORY:
            yield _notice(evidence, n, words, "gpu-out-of-memory", "GPU", "out-of-memory")
    elif not status and (general := GENERAL.search(line)) and "out of memory" not in general[2]:
        yield _gpu(evidence, n, general[1].lower(), general[2].rstrip())
    if nccl := NCCL.search(line):
        yield _gpu(evidence, n, "nccl", nccl[0].rstrip())


def _error(line: str) -> tuple[str, int] | None:
    """The words of the error on a line and its number, by words, by name, or by number."""
    words = WORDS.search(line)
    if words and (words[0] not in AMBIGUOUS or SPEAKER.search(line)):
        at = line.find(" at ", words.end(), words.end() + 5)
        return (line[words.start() :].rstrip() if at >= 0 else words[0]), BY_WORDS[words[0]]
    if (named := NAMED.search(line)) and named[2] in BY_NAME:
        return named[0], BY_NAME[named[2]]
    if full := FULL.search(line):
        said = full[1] or full[2]
        return said, FULL_CODES[said]
    if numbered := NUMBERED.search(line):
        number = int(numbered[1])
        return numbered[0].strip(), OLD_NUMBERS.get(number, number)
    return None


def _gpu(evidence: Evidence, n: int, api: str, words: str, code: int | None = None) -> Gpu:
    span = Span(evidence=evidence.name, first=n, last=n, words=words)
    return Gpu(span=span, api=api, text=words, code=code)


def _check(evidence: Evidence, n: int, asserted: re.Match[str]) -> Check:
    above = ABOVE.search(evidence.lines[n][max(0, asserted.start() - 1200) : asserted.start()])
    return Check(
        span=Span(evidence=evidence.name, first=n, last=n, words=asserted[1]),
        framework="CUDA",
        expression=asserted[1],
        file=above[1] if above else None,
        line=int(above[2]) if above else None,
        function=above[3] if above else None,
    )


def _sentences(evidence: Evidence, n: int, line: str) -> Iterator[Fact]:
    for pattern, topic, subject in SENTENCES:
        if found := pattern.search(line):
            fatal = topic not in NOT_FATAL_ALONE and not MILD.search(line)
            proved = "check-failed" if fatal else None
            if topic == "gpu-out-of-memory":
                proved = "out-of-memory"
            named = found[1] if pattern.groups else subject
            yield _notice(evidence, n, found[0], topic, named, proved)


def _notice(
    evidence: Evidence,
    n: int,
    words: str,
    topic: str,
    subject: str | None,
    mechanism: str | None = None,
) -> Notice:
    span = Span(evidence=evidence.name, first=n, last=n, words=words)
    return Notice(span=span, topic=topic, text=words, subject=subject, mechanism=mechanism)
