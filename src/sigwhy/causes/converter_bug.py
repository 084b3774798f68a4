"""The conversion or calibration of a model died.

What happens: converters run the model's graph through compilers and, for full quantisation, run the
model itself on sample data. They meet graphs nobody tried before, and abort.

How to tell: the dead thread stands in a converter (toco_from_protos, lite/python/convert, tf2onnx,
coremltools, the calibrator), or the converter itself reports what it cannot convert.

Fix: convert with a newer version; else step by step: without optimizations, without quantisation,
with a real representative dataset, with SELECT_TF_OPS, or from a SavedModel instead of a frozen
graph.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Check, Checker, Death, Log, Notice, Ran, Stack
from sigwhy.model.shape import aborter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="converter-bug",
    title="the converter of a model died or cannot convert it",
    fix="Convert with a newer version, then without optimizations or with SELECT_TF_OPS.",
    usually={"SIGABRT": "check-failed"},
)
# Files, libraries and functions of converters, and the name people know them by.
CONVERTERS = (
    (re.compile(r"toco_from_protos|wrap_toco|_pywrap_toco_api|\btoco::|lite/toco/"), "toco"),
    (re.compile(r"optimize/calibrator|calibration_wrapper|_pywrap_tensorflow_lite_calibration|tflite::optimize::|lite/python/optimize"), "TFLite calibrator"),
    (re.compile(r"lite/python/(?:convert|lite|tflite_convert|conversion|wrap)\w*\.py|tflite_convert|_pywrap_converter_api|mlir::TFL|compiler/mlir/lite/(?!quantization/lite/test)|tensorflow::ConvertSavedModelToTFLite\w*|converter_python_api"), "TFLiteConverter"),
    (re.compile(r"mlir/quantization|quantization/tensorflow/python|_pywrap_quantize_model|mlir::quant"), "quantizer"),
    (re.compile(r"tf2onnx"), "tf2onnx"),
    (re.compile(r"coremltools"), "coremltools"),
    (re.compile(r"onnx2tf|onnx_tf|onnx2keras|onnx-tensorflow|onnx_tensorrt|nvonnxparser"), "ONNX importer"),
    (re.compile(r"torch/onnx/|torch/csrc/jit/passes/onnx|onnxsim|onnx_simplifier|onnxoptimizer|onnx/version_converter"), "ONNX exporter"),
    (re.compile(r"tensorflowjs/convert|tensorflowjs_converter"), "tensorflowjs converter"),
    (re.compile(r"ai_edge_torch|litert_torch|tinynn/convert"), "ai-edge-torch"),
    (re.compile(r"compiler/tensorrt|tf2tensorrt|trt_convert|trtexec|tensorrt/parsers"), "TF-TRT"),
    (re.compile(r"openvino/tools/(?:mo|ovc)|openvino\.tools"), "OpenVINO converter"),
    (re.compile(r"xnnc|vitis_quantize|rknn\b|rknn_toolkit|nncase|edgetpu_compiler|hb_mapper|snpe-\w+-to-dlc"), "vendor converter"),
)  # fmt: skip
COMMANDS = re.compile(
    r"\b(?:tflite_convert|toco|tf2onnx(?:\.convert)?|tensorflowjs_converter|edgetpu_compiler|trtexec|coremltools|onnx2tf|onnx-tf|onnxsim|convert_tflite\w*|convert-[a-z0-9]{2,12}-to-[a-z0-9]{2,12}|(?:pb|keras|h5|onnx|torch|pytorch|caffe|mxnet|darknet|paddle)2(?:tflite|onnx|tf|keras|coreml|trt|ncnn|mnn|torch|caffe)|snpe-\w+-to-dlc|mo(?:_tf)?\.py)\b"
)
TYPELESS = re.compile(r"[Ff]ailed to infer result type|failed to legalize operation")
NEAR = 30
SOON = 8
WORKING = re.compile(r"tf_tfl_flatbuffer_helpers|flatbuffer_export|compiler/mlir/lite|lite/toco")
TFLITE_CONVERTER = Culprit(kind="api", name="TFLiteConverter")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a converter."""
    for notice in case.all(Notice):
        if notice.topic == "converter-failed":
            culprit = Culprit(kind="api", name=notice.subject)
            yield Clue(Weight.PROOF, notice, "the converter says what it cannot convert", culprit)
        elif notice.topic == "converter-ran":
            yield Clue(Weight.SLIGHT, notice, "a converter was at work")
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(case, stack)
    yield from _checked(case)
    refusals: list[Check | Log] = [*case.all(Check), *_fatal(case)]
    for said in refusals:
        yield from _gave_up(said)
    if death := case.first(Death):
        yield from _commands(case, death)
        yield from _working(case, death)


def _checked(case: Case) -> Iterator[Clue]:
    for found in case.all(Checker):
        if name := _converter(found.place or ""):
            culprit = Culprit(kind="api", name=name, file=(found.place or "").partition(":")[0])
            yield Clue(Weight.STRONG, found, f"the checker points into {name}", culprit)


def _fatal(case: Case) -> Iterator[Log]:
    return (log for log in case.all(Log) if log.level == "fatal")


def _gave_up(said: Check | Log) -> Iterator[Clue]:
    if isinstance(said, Check) and said.framework == "llvm" and TYPELESS.search(said.expression):
        says = "MLIR, in which the converter works, could not infer a type"
        yield Clue(Weight.STRONG, said, says, TFLITE_CONVERTER)
        yield Clue(Weight.FAIR, said, "models are compiled so when they are converted")
    if name := _converter(said.file or ""):
        culprit = Culprit(kind="api", name=name, file=said.file, line=said.line)
        yield Clue(Weight.PROOF, said, f"{name} failed its own check", culprit)


def _working(case: Case, death: Death) -> Iterator[Clue]:
    """The last that was heard before the death was the converter."""
    for log in case.all(Log):
        lines = death.span.first - log.span.last
        if WORKING.search(log.file or "") and death.span.evidence == log.span.evidence:
            yield Clue(Weight.FAIR, log, "the converter was at work", TFLITE_CONVERTER)
            if 0 < lines <= SOON:
                says = "it died right after a line of the converter"
                yield Clue(Weight.STRONG, death, says, TFLITE_CONVERTER)


def _commands(case: Case, death: Death) -> Iterator[Clue]:
    for ran in case.all(Ran):
        if found := COMMANDS.search(ran.command):
            culprit = Culprit(kind="api", name=found[0])
            yield Clue(Weight.STRONG, ran, f"the command that died is {found[0]}", culprit)
            yield Clue(Weight.SLIGHT, death, f"it died of {death.signal} there", culprit)


def _frames(case: Case, stack: Stack) -> Iterator[Clue]:
    for frame in stack.frames[:NEAR]:
        name = _converter(f"{frame.file or ''} {frame.library or ''} {frame.function or ''}")
        if name:
            culprit = Culprit(
                kind="api", name=name, function=frame.function, file=frame.file, line=frame.line
            )
            yield Clue(Weight.STRONG, stack, f"the dead thread is inside {name}", culprit)
            if death := case.first(Death):
                yield Clue(Weight.FAIR, death, f"it died of {death.signal} there", culprit)
            elif aborter(stack.frames):
                yield Clue(Weight.FAIR, stack, "it gave up there", culprit)
            return


def _converter(words: str) -> str | None:
    plain = words.replace("\\", "/")
    return next((name for pattern, name in CONVERTERS if pattern.search(plain)), None)
