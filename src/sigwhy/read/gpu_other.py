"""GPUs and their runtimes that are not CUDA: ROCm, Metal, OpenCL, Vulkan, DirectX, SYCL.

Looks like::

    Memory access fault by GPU node-1 (Agent handle: 0x55d0) on address 0x7f3c2000. Reason: Unknown.
    :0:rocdevice.cpp:2603: Queue at 0x7f error: HSA_STATUS_ERROR_EXCEPTION: code: 0x1016
    "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!"
    Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)
    vk::Queue::submit: ErrorDeviceLost
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Gpu, Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "XPC_ERROR",
    "OUT_OF_",
    "OutOf",
    "ALLOCATION_FAILURE",
    "ALLOC_FAILED",
    "by GPU node-",
    "HSA_STATUS_ERROR",
    "Unable to find code object for all current devices",
    "rocBLAS error",
    "miopenStatus",
    "MIOpen Error",
    "CommandBufferCallbackError",
    "MTLCommandBufferError",
    "command buffer was aborted",
    "MTLCompilerService",
    "CL_OUT_OF_",
    "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "CL_INVALID_",
    "CL_BUILD_PROGRAM_FAILURE",
    "CL_DEVICE_NOT_",
    "CL_PLATFORM_NOT_FOUND",
    "VK_ERROR_",
    "vk::",
    "DXGI_ERROR_",
    "0x887A00",
    "UR_RESULT_ERROR_",
    "PI_ERROR_",
    "ZE_RESULT_ERROR_",
)
# What is printed, whose it is. The words that are found are the text of the fact.
ERRORS = tuple(
    (re.compile(words), api)
    for words, api in (
        (r"Memory access fault by GPU node-\d+", "hip"),
        (r"HW Exception by GPU node-\d+", "hip"),
        (r"HSA_STATUS_ERROR\w*", "hip"),
        (r"Unable to find code object for all current devices", "hip"),
        (
            r"rocBLAS error: (?:Cannot read|Could not initialize Tensile|Could not load|Tensile)[^\n]{0,160}",
            "hip",
        ),
        (r"miopenStatus(?!Success)\w+|MIOpen Error: [^\n]{1,120}", "hip"),
        (r"kIO(?:GPU|Accel)CommandBufferCallbackError\w+", "metal"),
        (r"MTLCommandBufferError\w*", "metal"),
        (r"Execution of the command buffer was aborted[^\n]{0,80}", "metal"),
        (r"MTLCompilerService[^\n]{0,80}|XPC_ERROR_CONNECTION_INTERRUPTED", "metal"),
        (
            r"\bCL_(?:OUT_OF_RESOURCES|OUT_OF_HOST_MEMORY|MEM_OBJECT_ALLOCATION_FAILURE|INVALID_[A-Z_]{3,40}|BUILD_PROGRAM_FAILURE|DEVICE_NOT_[A-Z]+|PLATFORM_NOT_FOUND\w*)\b",
            "opencl",
        ),
        (r"\bVK_ERROR_[A-Z_]{4,40}|\bvk::[^\n]{1,120}?\bError[A-Z]\w+", "vulkan"),
        (r"DXGI_ERROR_[A-Z_]{4,40}|0x887A000[5-7]", "directx"),
        (r"\b(?:UR_RESULT|PI|ZE_RESULT)_ERROR_[A-Z_]{4,40}", "sycl"),
    )
)
MEMORY = re.compile(
    r"OUT_OF_(?:DEVICE_|HOST_)?MEMORY|OutOf(?:Device|Host)?Memory|ALLOCATION_FAILURE|ALLOC_FAILED"
)
MOST = 20


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the errors, each once."""
    told: set[str] = set()
    for n, line in enumerate(evidence.lines):
        for pattern, api in ERRORS:
            found = pattern.search(line)
            if found and found[0] not in told and len(told) < MOST:
                told.add(found[0])
                yield from _error(evidence, n, api, found[0].rstrip())


def _error(evidence: Evidence, n: int, api: str, words: str) -> Iterator[Fact]:
    span = Span(evidence=evidence.name, first=n, last=n, words=words)
    yield Gpu(span=span, api=api, text=words)
    if MEMORY.search(words):
        yield Notice(
            span=span,
            topic="gpu-out-of-memory",
            text=words,
            subject="GPU",
            mechanism="out-of-memory",
        )
