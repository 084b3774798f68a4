"""A check inside a GPU kernel failed: most often an index or a label out of range.

What happens: the kernel found a value that it must not get, and stopped the GPU. The process learns
of it later, in whatever call comes next, so the traceback often points to an innocent line. After
it every CUDA call of the process fails.

How to tell: "device-side assert triggered" (CUDA error 710, before CUDA 10.1: 59), and above it
lines "block: [..], thread: [..] Assertion `t >= 0 && t < n_classes` failed." which name the check.

Fix: run once with CUDA_LAUNCH_BLOCKING=1, or on the CPU: then the right line is named. Check the
smallest and the largest label or index before the call.

Folklore: it is no defect of the card, of the driver or of the installation, and reinstalling CUDA
does not help.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Check, Gpu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="gpu-assert",
    title="a check inside a GPU kernel failed: an index, label or value was out of range",
    fix="Run once with CUDA_LAUNCH_BLOCKING=1 or on the CPU to get the true line; check that "
    "labels and indices are within range.",
)
ASSERT = 710
LABELS = (
    "Every label must be in [0, number of classes): print labels.min() and labels.max(). Labels that "
    "begin at 1, a -1, or a last layer with too few outputs are usual; ignore_index skips a label."
)
UNIT = (
    "The input of BCELoss must be within [0, 1]: apply a sigmoid, or use BCEWithLogitsLoss; look "
    "for NaN."
)
CHANCES = (
    "The probabilities contain NaN, infinity or negative values: look at the logits (half "
    "precision, a learning rate too high)."
)
ROWS = (
    "An index is not below the number of rows: compare input_ids.max() with num_embeddings. A token "
    "added to the tokenizer needs resize_token_embeddings; a sequence must not be longer than the "
    "position table."
)
RANGE = (
    "An index is out of range: print index.min() and index.max() and compare them with the size of "
    "the dimension."
)
# What stands in the check, the kernel or its file; what is out of range; what to do about it.
KERNELS = tuple(
    (re.compile(words, re.IGNORECASE), what, fix)
    for words, what, fix in (
        (r"ClassNLL|nll_?loss|n_classes|cur_target", "labels", LABELS),
        (r"BCECriterion|bce_loss|binary_cross_entropy|input_val|\*input <= 1", "input", UNIT),
        (r"multinomial|cumdist|Distributions|val >= zero", "probabilities", CHANCES),
        (r"srcSelectDimSize|indexSelect|embedding|vocab", "indices", ROWS),
        (r"out of bounds|Index(?:Kernel|ing)|DimSize|index_size|idx_dim", "indices", RANGE),
        (r"scatter|gather|index >= -?sizes", "indices", RANGE),
    )
)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a failed check inside a kernel."""
    for check in case.all(Check):
        if check.framework == "CUDA" or _in_a_kernel(check):
            words = f"{check.expression} {check.function or ''} {check.file or ''}"
            what, fix = _known(words)
            culprit = Culprit(
                kind="argument" if what else "api",
                name=what or check.function or check.expression,
                argument=what,
                value=check.expression,
                file=check.file,
                line=check.line,
                function=check.function,
            )
            says = f"a GPU kernel checked `{check.expression}` and found it false"
            yield Clue(Weight.PROOF, check, says, culprit, fix)
    for gpu in case.all(Gpu):
        if gpu.code == ASSERT:
            what, fix = _known(gpu.text)
            named = Culprit(kind="argument", name=what, argument=what) if what else None
            yield Clue(Weight.PROOF, gpu, "a check inside a GPU kernel failed", named, fix)


def _in_a_kernel(check: Check) -> bool:
    """An assert in a file of kernels; a CHECK stands in the code around them."""
    return check.framework == "assert" and (check.file or "").endswith((".cu", ".cuh"))


def _known(words: str) -> tuple[str | None, str | None]:
    for pattern, what, fix in KERNELS:
        if pattern.search(words):
            return what, fix
    return None, None
