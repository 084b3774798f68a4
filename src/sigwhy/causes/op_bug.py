"""The kernel is wrong for valid input: oneDNN, XLA, Eigen, FBGEMM or the framework's own code.

What happens: the arguments were right, the code that computes with them was not: kernels made for
one kind of CPU (oneDNN), compilers inside the framework (XLA, LLVM), or sizes kept in 32 bits.

How to tell: the dead thread stands inside oneDNN, FBGEMM, XLA or the like; a sanitizer points into
the framework's own sources; or the framework says "please report a bug" itself. Proof is that the
same call works with that part switched off.

Fix: switch the part off and try again: TF_ENABLE_ONEDNN_OPTS=0 (TensorFlow),
torch.backends.mkldnn.enabled = False (PyTorch), jit_compile=False (XLA). If that helps, install
another version and report the call.

Folklore: the line "oneDNN custom operations are on" is no error and no sign of one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Check, Checker, Death, Entered, Notice, Op, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Kind
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="op-bug",
    title="a kernel of the framework is wrong for valid input",
    fix="Switch that kernel off or use another version of the framework, and report the call.",
    usually={"SIGABRT": "check-failed"},
)
NO_ONEDNN = "Switch oneDNN off: TF_ENABLE_ONEDNN_OPTS=0, torch.backends.mkldnn.enabled = False."
NO_XLA = "Switch XLA off (jit_compile=False, no TF_XLA_FLAGS), or use another version."
NO_COMPILE = "Call it without torch.compile (TORCH_COMPILE_DISABLE=1), or use another version."
# Vendored code by the names that stand on a stack; both as C++ and as the linker writes them.
VENDORED = (
    (re.compile(r"\b(?:mkldnn|dnnl)(?:::impl\b|_\w+|4impl)|\bN?\d?(?:6mkldnn|4dnnl)4impl|_ZNK?(?:6mkldnn|4dnnl)"), "oneDNN", Weight.STRONG, NO_ONEDNN),
    (re.compile(r"\bfbgemm(?:::|_)|6fbgemm"), "FBGEMM", Weight.STRONG, None),
    (re.compile(r"\bxla::(?!PjRt|ifrt|PyArray|nb_)|_ZNK?3xla"), "XLA", Weight.STRONG, NO_XLA),
    (re.compile(r"\b(?:llvm|mlir)::|_ZNK?4(?:llvm|mlir)"), "LLVM", Weight.FAIR, NO_XLA),
    (re.compile(r"\bnnc?_?pack|\bnnp_\w+|\bqnnp?_\w+|pytorch_q8\w+"), "NNPACK", Weight.STRONG, None),
    (re.compile(r"\bmkl_(?:blas|lapack|dnn|dft|spblas|vml|vsl)\w*"), "MKL", Weight.FAIR, None),
    (re.compile(r"\bEigen::(?:internal|Tensor)\w*|_ZNK?5Eigen"), "Eigen", Weight.SLIGHT, None),
    (re.compile(r"/torchinductor_\w+/|/\.triton/cache/"), "torch.compile", Weight.STRONG, NO_COMPILE),
    (re.compile(r"\bmetal_plugin::|\bMetalStream\*|\bMPSKernelDAG\w+"), "tensorflow-metal", Weight.STRONG, None),
    (re.compile(r"\bruy::|\bgemmlowp::|\bxnn_\w+"), "XNNPACK", Weight.FAIR, None),
    (re.compile(r"\bOpenBLAS|\b(?:[sdcz](?:gemm|gemv|dot|trsm|syrk)_(?:kernel|thread|beta|incopy|oncopy)\w*)"), "OpenBLAS", Weight.FAIR, None),
)  # fmt: skip
NEAR = 6
# Code for one kind of CPU is made at run time; all else runs on any CPU.
FOR_ONE_CPU = re.compile(r"jit_|avx|amx|sse4|x64::|Xbyak")
OWN_SOURCES = re.compile(
    r"(?:tensorflow/core/(?:kernels|framework|util|common_runtime|data)|tensorflow/lite/kernels|aten/src|caffe2/|torch/csrc|fbgemm|/Eigen/|unsupported/Eigen"
    r"|/eigen|mkl[-_]?dnn|onednn|third_party/(?:onednn|mkl_dnn|ideep|XNNPACK|eigen)|XNNPACK|onnxruntime/core|paddle/(?:phi|fluid)|xla/service|xla/backends|mxnet/src|src/operator/)"
)
OF_A_FILE = re.compile(r"/serialization/|/saved_model/|flatbuffers|/lite/(?:core|schema)/")
OF_A_DRIVER = re.compile(
    r"c10/(?:cuda|hip)|CUDA|cuda|nccl|ProcessGroup|c10d|rpc/|inline_container|driver_api|THC|hip/"
)
COMPILER_CHECK = re.compile(
    r"/xla/(?:service|hlo|backends|python|pjrt|client)|xla/(?:service|hlo)|hlo_|mlir/|mkl_(?:conv|layout)\w*\.(?:cc|h)"
)


CHECKED = "the checker points into the framework"
COMPILER = "the compiler inside the framework gave up"
SAID = {
    "onednn-exception": (Weight.STRONG, "oneDNN threw an exception", NO_ONEDNN),
    "onednn-failed": (Weight.STRONG, "oneDNN could not make or run a primitive", NO_ONEDNN),
    "onednn-memory": (Weight.SLIGHT, "oneDNN could not make memory of its own", NO_ONEDNN),
    "llvm-cannot-compile": (Weight.STRONG, COMPILER, NO_XLA),
    "llvm-gave-up": (Weight.FAIR, COMPILER, NO_XLA),
    "hlo-invalid": (Weight.STRONG, COMPILER, NO_XLA),
}


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a kernel that is wrong."""
    entered = case.first(Entered)
    if entered and entered.died_whose == "package":
        return  # no framework: what the package was told to do is the question
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(case, stack)
    yield from _verbose(case)
    for found in case.all(Checker):
        if found.tool != "lsan" and found.place and OWN_SOURCES.search(found.place):
            culprit = Culprit(kind="file", name=found.place, file=found.place.partition(":")[0])
            yield Clue(Weight.STRONG, found, CHECKED, culprit)
    for check in case.all(Check):
        yield from _own_check(check)
    for notice in case.all(Notice):
        yield from _said(notice)


def _frames(case: Case, stack: Stack) -> Iterator[Clue]:
    if any(OF_A_FILE.search(frame.file or "") for frame in stack.frames[:NEAR]):
        return  # what reads a file is no kernel
    for frame in stack.frames[:NEAR]:
        if frame.file and OWN_SOURCES.search(frame.file) and case.first(Checker):
            culprit = _at("file", frame.file, frame)
            yield Clue(Weight.STRONG, stack, CHECKED, culprit)
        for pattern, name, weight, fix in VENDORED:
            if pattern.search(f"{frame.function} {frame.library}"):
                says = f"the dead thread stands in {name}"
                yield Clue(weight, stack, says, _at("library", name, frame), fix)
                yield from _trapped(case, frame)
                if death := case.first(Death):
                    yield Clue(Weight.SLIGHT, death, f"it died of {death.signal} in {name}")
                return


def _at(kind: Kind, name: str, frame: Frame) -> Culprit:
    file, line = frame.file, frame.line
    return Culprit(
        kind=kind, name=name, function=frame.function, library=frame.library, file=file, line=line
    )


def _trapped(case: Case, frame: Frame) -> Iterator[Clue]:
    """SIGILL in code that any CPU can run is a trap of the compiler."""
    for death in case.all(Death):
        if death.signal == "SIGILL" and not FOR_ONE_CPU.search(frame.function or ""):
            says = "SIGILL in code that is not made for one kind of CPU: a trap of the compiler"
            yield Clue(Weight.FAIR, death, says)


def _verbose(case: Case) -> Iterator[Clue]:
    """The verbose lines of oneDNN end where the process died."""
    ran = [op for op in case.all(Op) if op.framework == "onednn"]
    for op in ran:
        if death := case.first(Death):
            culprit = Culprit(kind="library", name="oneDNN", function=op.op)
            says = f"it died of {death.signal} while oneDNN was computing, after {op.op}"
            yield Clue(Weight.STRONG, op, says, culprit, NO_ONEDNN)
        else:
            yield Clue(Weight.SLIGHT, op, "oneDNN was asked to say what it computes")


def _own_check(check: Check) -> Iterator[Clue]:
    place = check.file or ""
    culprit = Culprit(kind="file", name=place.rpartition("/")[2], file=place, line=check.line)
    own = "INTERNAL ASSERT" in check.span.words
    if own and not OF_A_DRIVER.search(place + check.expression):
        yield Clue(Weight.STRONG, check, "PyTorch met a state that it should never reach", culprit)
    elif COMPILER_CHECK.search(place):
        yield Clue(Weight.STRONG, check, COMPILER, culprit, NO_XLA)


def _said(notice: Notice) -> Iterator[Clue]:
    if row := SAID.get(notice.topic):
        weight, says, fix = row
        yield Clue(weight, notice, says, Culprit(kind="library", name=notice.subject), fix)
