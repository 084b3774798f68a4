"""A model file is damaged, cut short, of another format, or contradicts itself.

What happens: the file is not what its name says: the download stopped, the save was cut off, Git
kept a pointer instead of the file, or a tool wrote indices that do not exist. Most loaders verify
little. They say so, or they follow a wrong offset and crash; TensorFlow Lite often dies in silence.

How to tell: the loader names it ("not a valid Flatbuffer", "not an sstable", "invalid load key"),
or the dead thread stands in a reader of models (flatbuffers, InterpreterBuilder, a Prepare()).

Fix: look at the first bytes and the size of the file, compare both with the original, and copy or
export the file again. "version https://git-lfs" at its beginning means: run git lfs pull.

Folklore: "the model does not fit the hardware" is seldom the reason; a wrong file is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.entry import whom
from sigwhy.model.fact import Checker, Death, Entered, Notice, Opened, PythonError, Stack
from sigwhy.model.of_model import divided_by_zero, was_read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="malformed-model",
    title="the model file is damaged or contradicts itself",
    fix="Compare the file's size and first bytes with the original; copy or export it again.",
    usually={"SIGABRT": "check-failed"},
)
# Readers of models, as they stand on stacks.
READERS = re.compile(
    r"flatbuffers::|GetOptionalFieldOffset|GetField<|VerifyOffset|tflite::(?:\w+::)?(?:FlatBufferModel|InterpreterBuilder|Verify\w*|MicroAllocator|ReadAllMetadata)"
    r"|BuildFromFlatbuffer|ParseTensors|ParseNodes|ParseQuantization|ParseSparsity|UnPackTo|tflite::GetModel|ReadAllMetadata|tflite::ParseOpData|tflite::Parse[A-Z]\w+"
    r"|onnx::\w*Proto::\w*(?:Parse|Merge)\w*|litert::internal::|UnpackModel|LiteRtCreateModel\w*|PyTorchStreamReader|caffe2::serialize|torch::jit::(?:Unpickler|load|import|ScriptModuleDeserializer)\w*|gguf_init\w*|llama_model_load\w*"
    r"|tensorflow::BundleReader|tensorflow::(?:LoadSavedModel|ReadSavedModel|ReadMetaGraphDef)\w*|SavedModelBundle"
)
# So is all of the model before its first inference; what fails then stands in the model.
PREPARING = re.compile(
    r"tflite::(?:impl::)?(?:Subgraph|MicroInterpreter|Interpreter)::(?:AllocateTensors|Prepare\w+|OpPrepare|ModifyGraphWithDelegate|ReplaceNodeSubsets\w*)"
)
ALLOCATING = re.compile(r"MemoryArena|ArenaPlanner|malloc|mmap|Commit")
# A node of TFLite is prepared before it has any data: what fails there stands in the model.
PREPARED = re.compile(r"tflite::ops::(?:builtin|custom|micro)::(?P<op>\w+)::(?:\w+::)*Prepare")
COMPUTED = re.compile(r"tflite::ops::(?:builtin|micro)::(?P<op>\w+)::")
BAD_SCALE = re.compile(
    r"QuantizeMultiplier|CheckAffineQuantization|PopulateConvolutionQuantizationParams"
)
STAND_IN = (
    (READERS, "it died while the model file was read"),
    (PREPARED, "it died while a node of the model was prepared: no data was there yet"),
    (BAD_SCALE, "it died over a quantisation scale: 0, infinite or missing"),
)
DIVIDED = (COMPUTED, "an operator divided by zero: an option or a size in the model is 0")
NEAR = 6
# Model files, and the libraries that read them.
FORMATS = (
    (re.compile(r"\.(?:h5|hdf5|keras)$"), re.compile(r"hdf5|h5py")),
    (re.compile(r"\.tflite$"), re.compile(r"tflite|litert|tensorflow")),
    (re.compile(r"\.(?:pb|index|data-\d+-of-\d+)$"), re.compile(r"tensorflow|protobuf")),
    (re.compile(r"\.(?:pt|pth|ckpt|bin|safetensors)$"), re.compile(r"torch|safetensors")),
    (re.compile(r"\.onnx$"), re.compile(r"onnx")),
)
HDF5 = {
    "hdf5-truncated": "the HDF5 file is shorter than it says",
    "hdf5-not-hdf5": "the file is not an HDF5 file",
    "hdf5-damaged": "the HDF5 file is damaged inside",
}
KERAS = re.compile(r"keras|load_weights|load_model|hdf5_format|saving_api|legacy_h5")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a model file that is not right."""
    for notice in case.all(Notice):
        yield from _said(notice)
    for error in case.all(PythonError):
        if error.type.endswith("UnpicklingError"):
            yield Clue(Weight.STRONG, error, "the pickle in the file could not be read")
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(case, stack)
    yield from _loading(case)
    for opened in case.all(Opened):
        yield from _open(case, opened)


def _open(case: Case, opened: Opened) -> Iterator[Clue]:
    """A model file was open, and it died in the library that reads such files."""
    entered, died = case.first(Entered), case.first(Death)
    reader = next((says for file, says in FORMATS if file.search(opened.path)), None)
    believed = entered and died and reader and reader.search(entered.died_library or "")
    if not (entered and died and believed) or was_read(case):
        return
    blamed = whom(entered, value=opened.path)
    yield Clue(Weight.STRONG, opened, f"it died while {opened.path} was read", blamed)
    yield Clue(Weight.STRONG, died, f"{died.signal} there means that the file was believed", blamed)


def _said(notice: Notice) -> Iterator[Clue]:
    culprit = Culprit(kind="file", name=notice.subject)
    if notice.topic == "model-damaged":
        yield Clue(Weight.PROOF, notice, "the loader says that the model file is damaged", culprit)
    elif notice.topic == "model-inconsistent":
        yield Clue(Weight.FAIR, notice, "the loader says that the model contradicts itself")
    elif notice.topic in HDF5:
        yield Clue(Weight.PROOF, notice, HDF5[notice.topic], culprit)


def _frames(case: Case, stack: Stack) -> Iterator[Clue]:
    died = case.first(Death)
    rows = (*STAND_IN, DIVIDED) if divided_by_zero(case) else STAND_IN
    for frame in stack.frames[:NEAR]:
        for pattern, says in rows:
            if found := pattern.search(frame.function or ""):
                culprit = Culprit(
                    kind="op" if pattern is not READERS else "api",
                    name=found.groupdict().get("op") or found[0].strip(":"),
                    function=frame.function,
                    library=frame.library,
                    file=frame.file,
                    line=frame.line,
                )
                yield Clue(Weight.STRONG, stack, says, culprit)
                yield from _ended(case, stack, found)
                return
    for frame in () if _allocates(stack) else stack.frames:
        if found := PREPARING.search(frame.function or ""):
            culprit = Culprit(kind="api", name=found[0], function=frame.function)
            says = "it died while the model was prepared: no data was there yet"
            yield Clue(Weight.STRONG, stack, says, culprit)
            if died:
                says = f"it died of {died.signal}, where only the model is at work"
                yield Clue(Weight.FAIR, died, says)
            return


def _ended(case: Case, stack: Stack, found: re.Match[str]) -> Iterator[Clue]:
    """How it ended there; of a bare stack a reader of files tells enough."""
    if end := case.first(Checker) or case.first(Death):
        yield Clue(Weight.FAIR, end, "it died there, where only the file is at work")
    elif found.re is READERS:
        yield Clue(Weight.SLIGHT, stack, "only the file is at work there")


def _allocates(stack: Stack) -> bool:
    return any(ALLOCATING.search(frame.function or "") for frame in stack.frames[:NEAR])


def _loading(case: Case) -> Iterator[Clue]:
    """Keras stands on a stack, and an HDF5 file is damaged: that file is a model."""
    damaged = next((n for n in case.all(Notice) if n.topic in HDF5), None)
    if damaged and any(KERAS.search(f.file or "") for s in case.all(Stack) for f in s.frames):
        yield Clue(Weight.FAIR, damaged, "Keras was loading a model from it")
