"""Memory that was asked for and not given, on the host and on GPUs, by whoever says so.

Looks like::

    OOM when allocating tensor with shape[16,19,19,1024] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu
    numpy._core._exceptions._ArrayMemoryError: Unable to allocate 37.3 GiB for an array with shape (100000, 50000) and data type float64
    RuntimeError: [enforce fail at alloc_cpu.cpp:114] data. DefaultCPUAllocator: can't allocate memory: you tried to allocate 18874368000 bytes.
    torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.50 GiB is free.
    OSError: [Errno 12] Cannot allocate memory
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from sigwhy.machine.sizes import SIZE, bytes_of
from sigwhy.model.fact import Allocation, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

Where = Literal["host", "gpu", "told", "unsaid"]

SHAPE = r"shape ?[\[(](?P<shape>[\d, ]{0,300})[\])]"
ASKED = rf"(?P<asked>{SIZE})"
# Where the memory was to be, the words, and what allocator that is. "told": the line tells the
# device in its own words, "unsaid": it does not, and the rest of the text may.
WORDS: Final[tuple[tuple[Where, str, str | None], ...]] = (

        # TensorFlow
        ("told", rf"OOM when allocating tensor (?:of|with) {SHAPE}(?: and type (?P<dtype>\w{{1,20}}))?(?: on (?P<device>\S{{1,200}}))?(?: by allocator (?P<allocator>\S{{1,60}}))?", None),
        ("told", rf"Allocator \((?P<allocator>[\w:/-]{{1,60}})\) ran out of memory trying to allocate {ASKED}", None),
        ("gpu", rf"failed to allocate {ASKED} [^\n]{{0,60}}from device: [^\n]{{0,60}}(?:CUDA_ERROR_OUT_OF_MEMORY|out of memory|hipErrorOutOfMemory|ROCM_ERROR)", "CUDA"),
        ("host", rf"(?:failed to alloc|could not allocate pinned host memory of size:?) ?{ASKED}(?: on host)?", "pinned"),
        ("host", r"Failed to allocate memory for the batch of component", "tf.data"),
        ("unsaid", r"(?:[Rr]esource exhausted|ResourceExhaustedError|RESOURCE_EXHAUSTED)[^\n]{0,80}: ?[Ff]ailed to allocate memory\b", None),
        # XLA and JAX
        ("gpu", rf"(?:RESOURCE_EXHAUSTED|Resource exhausted)[^\n]{{0,80}}[Rr]an out of memory in memory space (?:hbm|vmem|smem)[^\n]{{0,20}}?(?:Used {ASKED} of (?P<limit>{SIZE}))?", "TPU"),
        ("host", rf"(?:RESOURCE_EXHAUSTED|Resource exhausted): Out of memory allocating {ASKED}", "XLA"),
        ("gpu", rf"(?:jaxlib|XlaRuntimeError|JaxRuntimeError)[^\n]{{0,80}}Out of memory while trying to allocate {ASKED}", "XLA"),
        ("unsaid", rf"(?:RESOURCE_EXHAUSTED|Resource exhausted)[^\n]{{0,80}}Out of memory while trying to allocate {ASKED}", "XLA"),
        ("gpu", rf"Failed to allocate request for {ASKED}[^\n]{{0,40}} on device ordinal \d{{1,3}}", "XLA"),
        ("gpu", rf"Attempting to (?:allocate|reserve) {ASKED}[^\n]{{0,80}}(?:not possible|TPU|HBM)", "XLA"),
        # PyTorch
        ("gpu", rf"(?:CUDA|HIP|XPU|NPU|ROCm|MUSA) out of memory\.? ?(?:Tried to allocate {ASKED})?(?:[^\n]{{0,40}}?(?:total capacity of|;) ?(?P<limit>{SIZE})[^\n]{{0,100}}?(?:of which|; (?=[^;\n]{{1,30}} free)) ?(?P<free>{SIZE})[^\n]{{0,8}} free)?", "PyTorch"),
        ("gpu", rf"MPS backend out of memory(?:[^\n]{{0,200}}Tried to allocate {ASKED})?", "MPS"),
        ("gpu", r"cuda runtime error \(2\) ?: out of memory", "PyTorch"),
        ("gpu", rf"allocating {ASKED} on device \d{{1,3}}: (?:cuda|hip)Malloc failed", "ggml"),
        ("gpu", r"CUDA error: out of memory|CUDA driver error: out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|cudaMalloc[^\n]{0,40} (?:failed|error)[^\n]{0,20}out of memory|hipErrorOutOfMemory|CUDA_OUT_OF_MEMORY|CL_MEM_OBJECT_ALLOCATION_FAILURE|CL_OUT_OF_RESOURCES|VK_ERROR_OUT_OF_DEVICE_MEMORY|ErrorOutOfDeviceMemory|CUDA out of memory", "CUDA"),
        ("gpu", r"(?:CUDNN|CUBLAS|CUSOLVER|CUSPARSE|CUFFT|MIOPEN|HIPBLAS|ROCBLAS)_(?:STATUS_)?ALLOC_FAILED|(?:cuDNN|cuBLAS|cuFFT|cuSOLVER|cuSPARSE)_STATUS_ALLOC_FAILED", "CUDA"),
        ("gpu", rf"cupy\S{{0,40}}OutOfMemoryError: Out of memory allocating {ASKED}", "CuPy"),
        ("gpu", r"std::bad_alloc: (?:out_of_memory: )?(?:CUDA|cuda)|rmm::(?:bad_alloc|out_of_memory)|bad_alloc: cudaErrorMemoryAllocation", "RMM"),
        ("gpu", rf"Out of memory error on GPU \d{{1,3}}\. Cannot allocate {ASKED}", "Paddle"),
        ("gpu", rf"Requested amount of GPU memory \({ASKED}\) could not be allocated|OutOfMemory \((?:no further information|Requested size)", "TensorRT"),
        ("host", rf"DefaultCPUAllocator: (?:can't allocate memory|not enough memory)(?:: you tried to allocate {ASKED})?", "PyTorch"),
        ("host", rf"(?:\$ Torch: )?not enough memory: you tried to allocate {ASKED}", "PyTorch"),
        ("host", rf"unable to mmap {ASKED} from file <(?!/torch_)[^>\n]{{1,200}}>: Cannot allocate memory", "mmap"),
        # NumPy and those who speak as it does
        ("host", rf"(?:Memory|ArrayMemory)?[Ee]rror: Unable to allocate (?:{ASKED} for an array|array) with {SHAPE}(?: and data type (?P<dtype>[\w<>|]{{1,20}}))?", "NumPy"),
        ("host", rf"Unable to allocate {ASKED} for an array with {SHAPE}(?: and data type (?P<dtype>[\w<>|]{{1,20}}))?", "NumPy"),
        # ONNX Runtime, Arrow, OpenCV, TFLite Micro, Rust, Node, Java
        ("unsaid", rf"BFCArena::AllocateRawInternal[^\n]{{0,200}}(?:requested buffer of size|requested bytes of) {ASKED}", "ONNX Runtime"),
        ("unsaid", rf"Failed to allocate memory for requested buffer of size {ASKED}", "ONNX Runtime"),
        ("host", rf"ArrowMemoryError: (?:malloc|realloc|mmap)[^\n]{{0,20}} of size {ASKED} failed", "Arrow"),
        ("host", rf"\(-4:Insufficient memory\) Failed to allocate {ASKED}", "OpenCV"),
        ("host", rf"Failed to resize buffer\. Requested: {ASKED}, available:? (?P<free>\d{{1,12}}),? missing", "TFLite arena"),
        ("host", rf"Arena size is too small for all buffers\. Needed {ASKED} but only (?P<free>\d{{1,12}}) was available", "TFLite arena"),
        ("host", rf"Failed to allocate (?:tail|variable|temp)?\s?(?:tensor|memory)[^\n]{{0,40}}\. Requested:? {ASKED}, available:? (?P<free>\d{{1,12}})", "TFLite arena"),
        ("host", rf"memory allocation of {ASKED} failed", "Rust"),
        ("host", r"JavaScript heap out of memory", "Node"),
        ("host", r"java\.lang\.OutOfMemoryError: (?:Java heap space|GC overhead|Direct buffer)", "Java"),
        ("host", r"LLVM ERROR: (?:out of memory|Unable to allocate section memory|Allocation failed)", "LLVM"),
        ("host", r"runtime: out of memory|virtual memory exhausted", None),
        ("host", r"STATUS_NO_MEMORY|STATUS_COMMITMENT_LIMIT|WinError 1455\]|paging file is too small", "Windows"),
        ("host", r"WinError 8\] Not enough|Not enough memory resources are available", "Windows"),
        # malloc, mmap, fork, Python
        ("host", rf"(?:tried|attempt\w{{0,4}}|trying|failed|unable|could not|couldn't|cannot|can't) (?:to )?(?:malloc|mmap|calloc|realloc)(?:ate)? {ASKED}", None),
        ("host", r"Cannot allocate memory(?! in static TLS)|errno[ :=]{1,3}12\b|ENOMEM\b", "malloc"),
        ("host", r"(?:mimalloc: error: unable to allocate|<jemalloc>: [^\n]{0,60}out of memory|tcmalloc: allocation failed|[Oo]ut of memory in (?:malloc|calloc|realloc|new)\b|(?:malloc|calloc|realloc|posix_memalign|mmap)\(?\)? ?(?:failed|returned NULL)|(?:[Mm]emory allocation|[Mm]alloc) (?:failed|failure|error))", "malloc"),
        ("host", r"(?:MemoryError|RuntimeError|Error|Exception): (?:std::)?bad[_ ]alloc(?:ation)?\b", "C++"),
        ("host", r"^\s{0,8}(?:std::)?bad_alloc(?: exception)?\s{0,8}$", "C++"),
        ("host", r"^\s{0,8}(?:[\w.]{1,80}\.)?_?(?:Array)?MemoryError(?::|\s{0,8}$)", "Python"),
        ("host", r"^\s{0,8}Fatal Python error: [^\n]{0,60}(?:MemoryError|[Oo]ut of memory|memory error)", "Python"),
)  # fmt: skip
ROWS = tuple((where, re.compile(words), allocator) for where, words, allocator in WORDS)
GPU = re.compile(r"gpu|cuda|rocm|hip\b|hbm|\bdml\b|tensorrt|metal|mps", re.IGNORECASE)
# What tells where XLA, BFC and others work, when their own line does not.
GPU_AT_WORK = re.compile(
    r"device:GPU:\d|/gpu:\d|GPU_\d{1,2}_bfc|bfc_allocator|Created (?:TensorFlow )?device [^\n]{0,80}GPU|XLA service [^\n]{0,60}platform CUDA"
    r"|CUDAExecutionProvider|CudaAllocator|gpu_device\.cc|cuda_executor|CudaDevice|TFRT_GPU|se_gpu|memory_space|xla/stream_executor/cuda/cuda_driver|GpuAllocator"
)
CPU_AT_WORK = re.compile(
    r"TFRT_CPU|platform Host|device:CPU:\d|CpuAllocator|mklcpu|CPUExecutionProvider"
)
# Warnings of big allocations, which succeed as a rule: the end comes later or never.
BIG = re.compile(
    rf"Allocation of (?P<tf>{SIZE}) exceeds \d{{1,3}}% of (?:free )?system memory|tcmalloc: large alloc (?P<tc>\d{{1,18}}) bytes"
)
# TensorFlow asks for more than it needs, and says so when it is refused.
WHAT = re.compile(r"what\(\):|[Cc]aller indicates that this is not a failure")
MARKERS = (
    "failed to", "Attempting to reserve", "WinError", "posix_memalign",
    "OOM", "emory", "MEMORY", "allocat", "alloc ", "bad_alloc", "bad alloc", "ALLOC_FAILED", "ENOMEM", "RESOURCE_EXHAUSTED", "errno", "arge alloc",
    "CL_OUT_OF", "Arena", "Requested:", "paging file", "malloc", "calloc", "realloc", "mmap", "OutOfMemory", "ALLOCATION_FAILURE", "Allocation", "STATUS_COMMITMENT",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what was asked for in vain, and what was much but was given."""
    on_gpu: bool | None = None
    for n, line in enumerate(evidence.lines):
        if GPU_AT_WORK.search(line):
            on_gpu = True
        elif on_gpu is None and CPU_AT_WORK.search(line):
            on_gpu = False
        if not any(marker in line for marker in MARKERS) or WHAT.search(line):
            continue
        if found := BIG.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            size = found["tf"] or found["tc"]
            yield Notice(span=span, topic="big-allocation", text=found[0], subject=size)
        else:
            yield from _failed(evidence.name, n, line, on_gpu=on_gpu)


def _failed(name: str, n: int, line: str, *, on_gpu: bool | None) -> Iterator[Fact]:
    """The allocation that failed on this line."""
    for where, way, allocator in ROWS:
        if found := way.search(line):
            span = Span(evidence=name, first=n, last=n, words=found[0].strip())
            said = found.groupdict()
            device = _device(where, said, line, on_gpu=on_gpu)
            if device is None:
                yield Notice(
                    span=span, topic="allocation-failed", text=span.words, mechanism="out-of-memory"
                )
                return
            yield Allocation(
                span=span,
                device=device,
                asked_bytes=bytes_of(said.get("asked")),
                free_bytes=bytes_of(said.get("free")),
                limit_bytes=bytes_of(said.get("limit")),
                shape=_shape(said.get("shape")),
                dtype=said.get("dtype"),
                allocator=said.get("allocator") or allocator,
            )
            return


def _device(
    where: Where, said: dict[str, str | None], line: str, *, on_gpu: bool | None
) -> Literal["host", "gpu"] | None:
    """Host or GPU, as the row knows it, as the line tells it, or as lines before it showed."""
    if where in {"host", "gpu"}:
        return "gpu" if where == "gpu" else "host"
    told = f"{said.get('device') or ''} {said.get('allocator') or ''}".strip()
    if told or GPU.search(line):
        return "gpu" if GPU.search(told or line) else "host"
    return None if on_gpu is None else "gpu" if on_gpu else "host"


def _shape(text: str | None) -> tuple[int, ...] | None:
    """The dimensions of a shape, where all of them are numbers of a sensible length."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) <= 20 for part in parts):
        return None
    return tuple(int(part) for part in parts)
