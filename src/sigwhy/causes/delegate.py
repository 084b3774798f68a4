"""A delegate of TensorFlow Lite is missing, cannot run an operator, or is faulty.

What happens: delegates run parts of a model elsewhere: Flex runs TensorFlow's own operators, NNAPI,
GPU, Hexagon, Edge TPU and Core ML use other hardware, XNNPACK is the fast path of the CPU. If a
model needs one that is not linked, the interpreter refuses the model. If a driver is faulty, the
process dies inside it.

How to tell: the interpreter names Flex or the delegate; the dead thread stands in a delegate or in
the driver below it; or it died right after the delegate was created, and does not without it.

Fix: run once without the delegate. For Flex: link it (pip package tensorflow, or the library
tensorflow-lite-select-tf-ops of the same version), or convert without SELECT_TF_OPS.

Folklore: "Created TensorFlow Lite XNNPACK delegate for CPU" is no warning; it is the default.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Check, Death, Notice, Op, Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="delegate",
    title="TensorFlow Lite lacks a delegate or an operator, or has a faulty one",
    usually={"SIGABRT": "check-failed"},
    fix="Run without the delegate; then use a build in which delegate, runtime and model match.",
)
LINK_FLEX = (
    "Link the Flex delegate (the tensorflow package has it; on Android "
    "tensorflow-lite-select-tf-ops of the same version), or convert without SELECT_TF_OPS."
)
WITHOUT = {
    "NNAPI": "Run without NNAPI (setUseNNAPI(false)); drivers of many devices are faulty.",
    "GPU": "Run without the GPU delegate, or with another precision or backend (OpenGL, OpenCL).",
    "XNNPACK": "Run without XNNPACK (experimental_op_resolver_type BUILTIN_WITHOUT_DEFAULT_DELEGATES).",
}
FRAMES = (
    (re.compile(r"FlexDelegate|tflite::flex::|FlexKernel|DelegateKernel::.*[Ff]lex"), "Flex"),
    (re.compile(r"NnApi|NNAPI|nnapi|ANeuralNetworks\w*|android::nn::"), "NNAPI"),
    (re.compile(r"TfLiteGpuDelegate|tflite::gpu::|GpuDelegate(?:V2)?\b|GpuApiDelegate"), "GPU"),
    (re.compile(r"TfLiteMetalDelegate|TFLGpuDelegate|tflite::gpu::metal"), "Metal"),
    (re.compile(r"Hexagon(?:Delegate|Kernel)|hexagon_nn_"), "Hexagon"),
    (re.compile(r"CoreMlDelegate|coreml_delegate|MLModel predict"), "CoreML"),
    (re.compile(r"edgetpu|EdgeTpu|platforms::darwinn"), "EdgeTPU"),
    (re.compile(r"QnnDelegate|Qnn(?:Graph|Context|Backend)_|SnpeDelegate"), "QNN"),
    (re.compile(r"armnn(?:Delegate|::)"), "Arm NN"),
    (re.compile(r"TfLiteXNNPackDelegate|xnnpack_delegate|tflite::xnnpack::"), "XNNPACK"),
    (re.compile(r"StableDelegate|ExternalDelegate|tflite_plugin_create_delegate"), "external"),
)  # fmt: skip
DRIVERS = (
    (re.compile(r"libneuralnetworks|libnnapi|android\.hardware\.neuralnetworks|neuron|libvndk_nn"), "NNAPI"),
    (re.compile(r"libtensorflowlite_gpu|libGLES\w*|libOpenCL|libvulkan|vulkan\.\w+\.so|libllvm-(?:qcom|glnext)|libCB\.so|libgsl\.so|libEGL\w*"), "GPU"),
    (re.compile(r"libhexagon|libcdsprpc|libadsprpc"), "Hexagon"),
    (re.compile(r"libedgetpu"), "EdgeTPU"),
    (re.compile(r"libQnn|libSnpe|libSNPE"), "QNN"),
    (re.compile(r"libtensorflowlite_flex"), "Flex"),
)  # fmt: skip
LACKING = {
    "delegate-missing": ("a delegate could not be loaded", None),
    "custom-op-unresolved": ("the runtime does not know a custom operator", "Register the custom operator with the interpreter, or link what has it."),
    "runtime-too-old": ("the runtime is older than an operator of the model", "Update the runtime, or convert with the TensorFlow version of the runtime."),
}  # fmt: skip
TFLITE = re.compile(r"tflite|TfLite|tensorflowlite|tensorflow\.lite|litert|LiteRt")
NEAR = 12
SOON = 10
BY_DEFAULT = ("XNNPACK", None)


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a delegate."""
    for notice in case.all(Notice):
        yield from _said(case, notice)
    yield from _checked(case)
    for op in case.all(Op):
        if op.framework == "tflite" and op.op.startswith("Flex"):
            says = f"the operator {op.op} needs the Flex delegate"
            yield Clue(Weight.STRONG, op, says, Culprit(kind="library", name="Flex"), LINK_FLEX)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(case, stack)


def _checked(case: Case) -> Iterator[Clue]:
    for check in case.all(Check):
        words = f"{check.expression} {check.function or ''}"
        if name := next((name for pattern, name in FRAMES if pattern.search(words)), None):
            culprit = Culprit(kind="library", name=name)
            says = f"a check of the {name} delegate failed"
            yield Clue(Weight.PROOF, check, says, culprit, WITHOUT.get(name))


def _said(case: Case, notice: Notice) -> Iterator[Clue]:
    name = notice.subject
    culprit = Culprit(kind="library", name=name)
    if notice.topic == "flex-missing":
        yield Clue(
            Weight.PROOF, notice, "the model needs Flex, which is not linked", culprit, LINK_FLEX
        )
    elif row := LACKING.get(notice.topic):
        yield Clue(Weight.PROOF, notice, row[0], culprit, row[1])
    elif notice.topic in {"delegate-failed", "edgetpu-driver", "delegate-static-shapes"}:
        weight = Weight.FAIR if name in BY_DEFAULT else Weight.PROOF
        yield Clue(
            weight,
            notice,
            f"the {name or ''} delegate reports an error",
            culprit,
            WITHOUT.get(name or ""),
        )
    elif notice.topic == "delegate-created" and name not in BY_DEFAULT:
        yield from _created(case, notice, culprit)


def _created(case: Case, notice: Notice, culprit: Culprit) -> Iterator[Clue]:
    """A hint only; more of one if the process died within a few lines."""
    fix = WITHOUT.get(notice.subject or "")
    for death in case.all(Death):
        yield Clue(Weight.FAIR, notice, f"the {notice.subject} delegate was in use", culprit, fix)
        same = death.span.evidence == notice.span.evidence
        if same and 0 < death.span.first - notice.span.last <= SOON:
            says = f"it died right after the {notice.subject} delegate came in"
            yield Clue(Weight.STRONG, death, says, culprit, fix)


def _frames(case: Case, stack: Stack) -> Iterator[Clue]:
    lite = any(TFLITE.search(f"{f.function} {f.library} {f.file}") for f in stack.frames)
    for frame in stack.frames[:NEAR]:
        name, says = _delegate(frame, lite=lite)
        if name:
            culprit = Culprit(
                kind="library", name=name, function=frame.function, library=frame.library
            )
            if name in BY_DEFAULT:  # it prepares and runs every model, damaged ones too
                yield Clue(Weight.FAIR, stack, says, culprit, WITHOUT.get(name))
                return
            yield Clue(Weight.STRONG, stack, says, culprit, WITHOUT.get(name))
            if death := case.first(Death):
                yield Clue(Weight.FAIR, death, f"it died of {death.signal} there", culprit)
            return


def _delegate(frame: Frame, *, lite: bool) -> tuple[str | None, str]:
    for pattern, name in FRAMES:
        if pattern.search(f"{frame.function} {frame.file}"):
            return name, f"the dead thread stands in the {name} delegate"
    for pattern, name in DRIVERS:
        if lite and pattern.search(frame.library or ""):
            return name, f"the dead thread stands in the driver below the {name} delegate"
    return None, ""
