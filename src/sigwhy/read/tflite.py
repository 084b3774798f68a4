"""What TensorFlow Lite, LiteRT, their delegates and their converter say.

Looks like::

    INFO: Created TensorFlow Lite XNNPACK delegate for CPU.
    ERROR: Regular TensorFlow ops are not supported by this interpreter. Make sure you apply/link the Flex delegate before inference.
    ERROR: Node number 0 (FlexMatrixDeterminant) failed to prepare.
    ValueError: Cannot set tensor: Got value of type FLOAT64 but expected type FLOAT32 for input 0
    RuntimeError: There is at least 1 reference to internal data
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Check, Fact, Notice, Op, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence

# These tell what was going on; all other sentences refuse something, and nobody dies of that.
HINTS = (
    "delegate-created",
    "delegate-unused",
    "delegate-partial",
    "edgetpu-driver",
    "converter-ran",
)
# What the sentence says, its topic, and who it is about where the group of the row does not say.
ROWS = (
    # an operator that needs somebody who is not there
    (
        re.compile(
            r"Regular TensorFlow ops are not supported by this interpreter|(?:apply|add)\s?/?\s?(?:or )?link the Flex delegate"
        ),
        "flex-missing",
        "Flex",
    ),
    (
        re.compile(
            r"Select TensorFlow op\(s\), included in the given model, is\(are\) not supported"
        ),
        "flex-missing",
        "Flex",
    ),
    (re.compile(r"Encountered unresolved custom op: (?P<about>Flex\w+)"), "flex-missing", "Flex"),
    (
        re.compile(r"Encountered unresolved custom op: (?P<about>edgetpu-custom-op)"),
        "delegate-missing",
        "EdgeTPU",
    ),
    (
        re.compile(r"Encountered unresolved custom op: ?(?P<about>[\w.:/-]+?)\.?(?:\s|$)"),
        "custom-op-unresolved",
        "",
    ),
    (
        re.compile(r"(?:Didn't|Did not) find custom op(?:erator)? for name '?(?P<about>[\w.:/-]+)"),
        "custom-op-unresolved",
        "",
    ),
    (
        re.compile(r"(?:Didn't|Did not) find op for builtin opcode '?(?P<about>\w+)"),
        "runtime-too-old",
        "",
    ),
    (re.compile(r"Op builtin_code out of range: (?P<about>\d+)"), "runtime-too-old", ""),
    # delegates
    (
        re.compile(
            r"Created (?:TensorFlow Lite|TFLite|LiteRT) (?:delegate for )?(?P<about>XNNPACK|NNAPI|GPU|Hexagon|Metal|CoreML|Core ML|EdgeTPU|Flex|select TF ops)"
        ),
        "delegate-created",
        "",
    ),
    (
        re.compile(
            r"(?:Initialized|Created) (?P<about>OpenCL|OpenGL|Vulkan|WebGPU)[- ]based (?:API|delegate)"
        ),
        "delegate-created",
        "GPU",
    ),
    (re.compile(r"Created 0 (?P<about>GPU|NNAPI|Hexagon) delegate kernels"), "delegate-unused", ""),
    (
        re.compile(
            r"Failed to (?:apply|create|load|initialize) (?:the )?(?:default )?(?:TensorFlow Lite |TFLite )?(?P<about>[\w ]{2,20}?) ?delegate\b"
        ),
        "delegate-failed",
        "",
    ),
    (re.compile(r"Failed to apply delegate: ?(?P<about>\w+)?"), "delegate-failed", ""),
    (
        re.compile(
            r"[Rr]eturning error since (?:TFLite|NNAPI|ANeuralNetworks\w*) returned failure (?P<about>nnapi|gpu|hexagon|coreml)_delegate"
        ),
        "delegate-failed",
        "",
    ),
    (re.compile(r"\bApplying (?P<about>\w+) delegate"), "delegate-created", ""),
    (
        re.compile(
            r"Replacing \d+ (?:node\(s\)|out of \d+ node\(s\)) with delegate \((?P<about>\w+)\)"
        ),
        "delegate-created",
        "",
    ),
    (
        re.compile(r"Node number \d+ \((?P<about>Tf[Ll]ite\w{2,30}Delegate\w*)\) failed"),
        "delegate-failed",
        "",
    ),
    (
        re.compile(
            r"(?P<about>Tf[Ll]ite\w{2,30}Delegate\w*)(?: delegate)?:? (?:[Ff]ailed|[Ee]rror)"
        ),
        "delegate-failed",
        "",
    ),
    (re.compile(r"Failed to load delegate from (?P<about>\S+)"), "delegate-missing", ""),
    (re.compile(r"Could not load delegate (?P<about>\S+)"), "delegate-missing", ""),
    (
        re.compile(
            r"\b(?:usb_driver|driver_shared|beagle_\w{2,30}|mmu_mapper|kernel_registers)\.cc"
        ),
        "edgetpu-driver",
        "EdgeTPU",
    ),
    (
        re.compile(r"ByteBuffer is not a valid (?:TensorFlow Lite|TFLite) model"),
        "model-damaged",
        "",
    ),
    (
        re.compile(r"The size of (?:byte ?)?[Bb]uffer and the shape do not match"),
        "tensor-size-wrong",
        "",
    ),
    (
        re.compile(r"NN API returned error (?P<about>ANEURALNETWORKS_\w+)"),
        "delegate-failed",
        "NNAPI",
    ),
    (
        re.compile(
            r"Following operations are not supported by (?P<about>GPU|NNAPI|CoreML|Hexagon) delegate"
        ),
        "delegate-partial",
        "",
    ),
    (
        re.compile(
            r"Next operations are not supported by (?P<about>GPU|NNAPI|CoreML|Hexagon) delegate"
        ),
        "delegate-partial",
        "",
    ),
    (
        re.compile(
            r"(?:ModifyGraphWithDelegate is disallowed|Attempting to use a delegate that only supports static-sized tensors|delegate that only supports static)"
        ),
        "delegate-static-shapes",
        "",
    ),
    (
        re.compile(
            r"Restored original execution plan after delegate application failure|Falling back to (?:the )?(?:original|CPU|default)[\w ]* (?:execution|graph)"
        ),
        "delegate-failed",
        "",
    ),
    (
        re.compile(
            r"(?P<about>XNNPack|XNNPACK|NNAPI|GPU|Hexagon|CoreML) delegate failed to (?:\w+)"
        ),
        "delegate-failed",
        "",
    ),
    (
        re.compile(r"(?P<about>TfLiteGpuDelegate\w*) (?:Init|Prepare|Invoke)\b"),
        "delegate-failed",
        "GPU",
    ),
    (
        re.compile(
            r"Failed to fetch Hexagon NN version|(?:FastRPC|remote_handle\w*|hexagon_nn_\w+|SnpeDelegate|QnnDelegate)[\w ]{0,40}(?:fail|error)",
            re.IGNORECASE,
        ),
        "delegate-failed",
        "Hexagon",
    ),
    (
        re.compile(
            r"Hexagon (?:delegate|DSP)[\w' ]{0,40}(?:fail|error|not supported|unavailable)",
            re.IGNORECASE,
        ),
        "delegate-failed",
        "Hexagon",
    ),
    (
        re.compile(
            r"Internal: Unsupported data type in custom op handler|edgetpu.{0,80}HandleEvent|HandleQueuedBulkIn transfer in failed"
        ),
        "delegate-failed",
        "EdgeTPU",
    ),
    # the contract between buffers and model
    (
        re.compile(
            r"Cannot copy (?:to|from) a (?:TensorFlow Lite|TensorFlowLite|TFLite) tensor (?:\((?P<about>[^)]{1,80})\) )?with"
        ),
        "tensor-size-wrong",
        "",
    ),
    (
        re.compile(
            r"Cannot convert between a (?:TensorFlow Lite|TensorFlowLite|TFLite) buffer with \d{1,15} bytes"
        ),
        "tensor-size-wrong",
        "",
    ),
    (
        re.compile(
            r"Cannot convert between a (?:TensorFlow Lite|TensorFlowLite|TFLite) tensor (?:with type|of)"
        ),
        "tensor-type-wrong",
        "",
    ),
    (
        re.compile(
            r"Cannot set tensor: Got (?:value of type|tensor of type) (?P<about>\w+|\S+) but expected"
        ),
        "tensor-type-wrong",
        "",
    ),
    (
        re.compile(r"Cannot set tensor: Dimension (?:mismatch|count mismatch)[^.]{0,20}"),
        "tensor-size-wrong",
        "",
    ),
    (
        re.compile(r"Cannot set tensor: Tensor is unallocated"),
        "used-before-allocate",
        "allocate_tensors",
    ),
    (
        re.compile(
            r"Invalid tensor index \d+ exceeds max tensor index|Invalid (?:input|output) (?:Tensor )?index: ?-?\d+"
        ),
        "tensor-index-wrong",
        "",
    ),
    (
        re.compile(r"ResizeInputTensorStrict only allows mutating unknown dimensions"),
        "tensor-size-wrong",
        "resize_tensor_input",
    ),
    (
        re.compile(r"(?:Input tensor|tensor) (?:\S+ )?lacks data|Input tensor \d+ lacks data"),
        "input-lacks-data",
        "",
    ),
    # the order of calls
    (re.compile(r"There is at least 1 reference to internal data"), "view-held", "tensor()"),
    (
        re.compile(r"Invoke called on model that is not (?:ready|consistent)"),
        "used-before-allocate",
        "invoke",
    ),
    (
        re.compile(
            r"(?:AllocateTensors|allocate_tensors)\(?\)? (?:was )?called on inconsistent model"
        ),
        "model-inconsistent",
        "allocate_tensors",
    ),
    (
        re.compile(r"Tensor data is null\. Run allocate_tensors\(\) first"),
        "used-before-allocate",
        "allocate_tensors",
    ),
    (
        re.compile(r"Internal error: The Interpreter has already been closed"),
        "used-after-close",
        "Interpreter",
    ),
    (
        re.compile(r"Interpreter handle is (?:invalid|null)|Invalid handle to Interpreter"),
        "used-after-close",
        "Interpreter",
    ),
    # the model file
    (
        re.compile(r"Model provided has model identifier '(?P<about>[^']{0,8})', should be 'TFL3'"),
        "model-damaged",
        "",
    ),
    (
        re.compile(r"[Tt]he model is not a valid [Ff]lat[Bb]uffer(?: buffer| file)?"),
        "model-damaged",
        "",
    ),
    (
        re.compile(
            r"The model allocation is null/empty|Failed to mmap model (?P<about>\S*)|mmap of size 0 requested"
        ),
        "model-damaged",
        "",
    ),
    (re.compile(r"No subgraph in the model"), "model-damaged", ""),
    (
        re.compile(r"Model provided is schema version \d+ not equal to supported version \d+"),
        "model-damaged",
        "",
    ),
    (re.compile(r"Input array not provided for operation '(?P<about>\w+)'"), "model-damaged", ""),
    (
        re.compile(r"Could not open '(?P<about>[^']{1,300}\.(?:tflite|lite|bin))'"),
        "model-not-found",
        "",
    ),
    # memory of small devices
    (
        re.compile(r"Failed to (?:resize buffer|allocate memory)\. Requested: (?P<about>\d+)"),
        "arena-too-small",
        "tensor_arena",
    ),
    (re.compile(r"Arena size is too small for all buffers"), "arena-too-small", "tensor_arena"),
    # the converter
    (
        re.compile(r"(?:ConverterError|Exception): (?:<unknown>|TOCO failed|See console for info)"),
        "converter-failed",
        "TFLiteConverter",
    ),
    (
        re.compile(r"TOCO failed|toco_from_protos: (?:not found|command not found)"),
        "converter-failed",
        "toco",
    ),
    (
        re.compile(
            r"failed to (?:legalize operation|convert func|run transformation)|is neither a custom op nor a flex op"
        ),
        "converter-failed",
        "TFLiteConverter",
    ),
    (
        re.compile(
            r"Some ops are not supported by the native TFLite runtime|Some of the operators in the model are not supported by the standard TensorFlow Lite runtime"
        ),
        "converter-failed",
        "TFLiteConverter",
    ),
    (
        re.compile(
            r"Error code: ERROR_(?:NEEDS_FLEX_OPS|NEEDS_CUSTOM_OPS|UNSUPPORTED_\w+|STATEFUL_\w+)"
        ),
        "converter-failed",
        "TFLiteConverter",
    ),
    (
        re.compile(
            r"Quantization not yet supported for op|Failed to quantize|Quantize weights tool only supports|Max and min for dynamic tensors should be recorded during calibration|Empty min/max for tensor"
        ),
        "converter-failed",
        "TFLiteConverter",
    ),
    (
        re.compile(
            r"(?:Unsupported|Unknown) \(custom\) ops: |Here is a list of operators for which you will need custom implementations"
        ),
        "converter-failed",
        "toco",
    ),
    (
        re.compile(
            r"toco/(?:graph_transformations|import_tensorflow|tooling_util|allocate_transient_arrays|tflite/export)\w*(?:/\w+)?\.cc"
        ),
        "converter-ran",
        "toco",
    ),
)
MARKERS = (
    "Falling back to", "Created LiteRT", "Invalid output", "Invalid input", "Exception:", "min/max for tensor",
    "TensorFlow op", "Flex", "custom op", "builtin opcode", "builtin_code", "Registration failed", "elegat", "Delegate",
    "OpenCL", "OpenGL", "Vulkan", "NN API", "NNAPI", "GPU", "exagon", "FastRPC", "remote_handle", "usb_driver", "driver_shared",
    "beagle", "mmu_mapper", "edgetpu", "HandleQueued", "kernel_registers", "Cannot copy", "Cannot convert", "Cannot copy", "Cannot set tensor", "tensor index",
    "Tensor index", "ResizeInputTensor", "lacks data", "mismatch", "do not match", "internal data", "Invoke called",
    "inconsistent model", "Tensor data is null", "nterpreter", "model identifier", "valid F", "valid f", "null/empty", "mmap", "subgraph",
    "schema version", "Input array", "GetModel", "ByteBuffer", "out of range", "Could not open", "Requested: ", "Arena size",
    "Converter", "TOCO", "toco", "legalize", "convert func", "flex op", "TFLite", "TensorFlow Lite", "Error code: ERROR_",
    "uantiz", "calibration", "custom implementations", "Unsupported", "Unknown", "hexagon", "execution plan", "failed to ",
    "Node number", "was not true", " != ", "explicitly applied", "index: ", "Internal",
)  # fmt: skip
NODE = re.compile(
    r"Node number (?P<node>\d{1,9}) \((?P<op>[\w.:/ -]{1,120})\) failed to (?P<what>prepare|invoke)"
)
DELEGATE_NAMES = (
    ("xnnpack", "XNNPACK"), ("nnapi", "NNAPI"), ("nn api", "NNAPI"), ("gpu", "GPU"), ("metal", "Metal"),
    ("opencl", "GPU"), ("opengl", "GPU"), ("hexagon", "Hexagon"), ("coreml", "CoreML"), ("core ml", "CoreML"),
    ("edgetpu", "EdgeTPU"), ("flex", "Flex"), ("select tf", "Flex"), ("qnn", "QNN"), ("armnn", "Arm NN"), ("aneuralnetworks", "NNAPI"),
    ("vulkan", "GPU"), ("webgpu", "GPU"), ("ethosu", "Ethos-U"), ("vx", "VX"), ("neuron", "Neuron"),
)  # fmt: skip


# tensorflow/lite/kernels/reshape.cc:58 num_input_elements != num_output_elements (1200 != 1000)
ENSURED = re.compile(
    r"(?P<file>(?:tensorflow/)?(?:lite|tflite|litert)/[\w./-]{1,200}\.(?:cc|h)):(?P<line>\d{1,6}):? (?P<expression>[^\n]{1,300}?)"
    r"(?: \((?P<detail>[^()]{1,120} (?:!=|==|vs\.) [^()]{1,120})\)| was not true\.)"
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the conditions and operators that failed and the sentences that are known."""
    for n, line in enumerate(evidence.lines):
        if found := ENSURED.search(line):
            yield Check(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
                framework="tflite",
                expression=found["expression"],
                detail=found["detail"] or "",
                file=found["file"],
                line=int(found["line"]),
            )
        if found := NODE.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Op(span=span, framework="tflite", op=found["op"], node=found["node"])
        yield from _notices(evidence, n, line)


def _notices(evidence: Evidence, n: int, line: str) -> Iterator[Notice]:
    said = set()
    for pattern, topic, about in ROWS:
        if topic not in said and (found := pattern.search(line)):
            said.add(topic)
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0].strip())
            subject = about or next((g for g in found.groups() if g), None)
            if topic.startswith("delegate"):
                subject = _delegate(subject) or _delegate(line) or subject
            yield Notice(
                span=span,
                topic=topic,
                text=found[0].strip(),
                subject=subject,
                mechanism=None if topic in HINTS else "no-crash",
            )


def _delegate(words: str | None) -> str | None:
    """A delegate by the name that people use: ``TfLiteXNNPackDelegate`` is XNNPACK."""
    small = (words or "").lower()
    return next((plain for part, plain in DELEGATE_NAMES if part in small), None)
