"""The memory of the GPU did not suffice.

What happens: a tensor is asked for on the GPU and there is no room. Frameworks raise an error that
names the size; libraries below them (cuDNN, cuBLAS) fail to start, and some of those end the
process. It never is a segmentation fault unless somebody ignored the failure.

How to tell: the message names the GPU and a size or a shape ("CUDA out of memory", "OOM when
allocating tensor ... on ... GPU:0"), or a library says ALLOC_FAILED. A cuDNN handle that cannot be
created may be this, or a version that does not fit: the lines before it decide.

Fix: a smaller batch or image, mixed precision, gradient checkpointing. End other processes that
hold the card (`nvidia-smi`). In TensorFlow call `set_memory_growth` for each GPU before the first
op, so that it does not take all memory and leave none to cuDNN.

Folklore: freeing Python objects between steps (`gc.collect()`, `empty_cache()`) does not lower what
one step needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Allocation, Gpu, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="gpu-memory",
    title="the memory of the GPU did not suffice",
    fix="Use a smaller batch or input, end other processes on the GPU (nvidia-smi), and in "
    "TensorFlow call set_memory_growth for each GPU before the first op.",
)
CARD = Culprit(kind="limit", name="GPU memory")
# Libraries that could not start: for lack of memory, or because versions do not fit.
UNSTARTED = {
    "CUDNN_STATUS_NOT_INITIALIZED",
    "CUDNN_STATUS_INTERNAL_ERROR",
    "CUBLAS_STATUS_NOT_INITIALIZED",
    "CUSOLVER_STATUS_NOT_INITIALIZED",
    "CUSOLVER_STATUS_INTERNAL_ERROR",
    "CUSPARSE_STATUS_NOT_INITIALIZED",
    "HSA_STATUS_ERROR_OUT_OF_RESOURCES",
}
UNSTARTED_TOPICS = {
    "cudnn-not-started": Weight.FAIR,
    "cublas-not-started": Weight.FAIR,
    "cudnn-unusable": Weight.SLIGHT,
}
GO_ON = "not a failure"
TRIED = "from device: "
GROWTH = (
    "Let TensorFlow leave memory to cuDNN: tf.config.experimental.set_memory_growth(gpu, True) "
    "before the first op (TF 1: gpu_options.allow_growth); end other processes on the GPU."
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a lack of GPU memory, and against it."""
    refused = [
        allocation
        for allocation in case.all(Allocation)
        if allocation.device == "gpu" and GO_ON not in case.quote(allocation.span).text
    ]
    yield from (_of(case, allocation) for allocation in refused)
    for notice in case.all(Notice):
        if notice.topic == "gpu-out-of-memory" and not refused:
            says = f"the GPU's own software says that its memory is full: {notice.text}"
            yield Clue(Weight.PROOF, notice, says, CARD)
    yield from _unstarted(case)


def _unstarted(case: Case) -> Iterator[Clue]:
    """Libraries that could not start: memory may be why."""
    for notice in case.all(Notice):
        if notice.topic in UNSTARTED_TOPICS:
            says = "a GPU library could not start, as happens when no memory was left for it"
            yield Clue(UNSTARTED_TOPICS[notice.topic], notice, says, CARD, GROWTH)
    for gpu in case.all(Gpu):
        if gpu.text in UNSTARTED:
            says = f"{gpu.text}: no memory may have been left for the library"
            yield Clue(Weight.FAIR, gpu, says, CARD, GROWTH)


def _of(case: Case, allocation: Allocation) -> Clue:
    asked = f" ({allocation.asked_bytes:,} bytes)" if allocation.asked_bytes else ""
    if TRIED in case.quote(allocation.span).text:
        says = f"the driver refused memory{asked}; the framework then tried with less"
        return Clue(Weight.STRONG, allocation, says, CARD)
    shape = f" for a tensor of shape {list(allocation.shape)}" if allocation.shape else ""
    says = f"an allocation on the GPU{asked}{shape} was refused"
    return Clue(Weight.PROOF, allocation, says, _culprit(allocation), _fix(allocation))


def _culprit(allocation: Allocation) -> Culprit:
    if allocation.shape:
        shape = str(list(allocation.shape))
        return Culprit(kind="argument", name="GPU memory", argument="shape", value=shape)
    asked = allocation.asked_bytes
    return Culprit(kind="limit", name="GPU memory", value=f"{asked} bytes" if asked else None)


def _fix(allocation: Allocation) -> str | None:
    asked, free, limit = allocation.asked_bytes, allocation.free_bytes, allocation.limit_bytes
    if asked and limit and asked > limit:
        return "This one request is larger than the whole card: the shape or size is wrong."
    if asked and free and asked < free:
        return (
            "More is free than was asked for: the memory is in pieces. Set "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or use a smaller batch."
        )
    return None
