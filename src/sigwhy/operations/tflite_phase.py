"""What an interpreter of TensorFlow Lite was doing: the call of its API, and the phase.

Read off the code addresses on the stack and the Python frames, without unwinding. Addresses of calls
that returned long ago lie on the stack too, so a phase counts only where the call of the API can lead
to it, and nothing at all counts when the thread has left the runtime.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sigwhy.model.incident import PythonFrame, Thread
    from sigwhy.operations.functions import Function, Functions

# Where the Python half of a runtime lies, and the class that a file of it holds.
PACKAGE = re.compile(r"(?:^|/)(?:ai_edge_litert|tflite_runtime|tensorflow/lite/python)/")
CLASSES = {
    "interpreter.py": "Interpreter",
    "compiled_model.py": "CompiledModel",
    "tensor_buffer.py": "TensorBuffer",
    "environment.py": "Environment",
    "analyzer.py": "Analyzer",
    "lite.py": "TFLiteConverter",
    "convert.py": "TFLiteConverter",
    "calibrator.py": "Calibrator",
}
# Functions of other classes in the same files.
OTHERS = {
    ("Interpreter", "__call__"): "SignatureRunner.__call__",
    ("Interpreter", "load_delegate"): "load_delegate",
    ("Interpreter", "__init__"): "Interpreter",
    ("Analyzer", "analyze"): "Analyzer.analyze",
}
# The native class that Python or a program calls, and the API of its functions.
WRAPPER = re.compile(
    r"(?:^|::)(?P<of>InterpreterWrapper|CompiledModelWrapper|TensorBufferWrapper|EnvironmentWrapper|AnalyzerWrapper"
    r"|SignatureRunner|impl::Interpreter|InterpreterBuilder|FlatBufferModel)::(?P<name>~?\w+|operator\{\})$"
)
C_API = re.compile(
    r"^(?P<name>TfLite(?:Interpreter|Model|Tensor|SignatureRunner)[A-Z]\w*|LiteRt[A-Z]\w+)$"
)
API = {
    ("InterpreterWrapper", "Invoke"): "Interpreter.invoke",
    ("InterpreterWrapper", "AllocateTensors"): "Interpreter.allocate_tensors",
    ("InterpreterWrapper", "CreateWrapperCPPFromFile"): "Interpreter",
    ("InterpreterWrapper", "CreateWrapperCPPFromBuffer"): "Interpreter",
    ("InterpreterWrapper", "CreateInterpreterWrapper"): "Interpreter",
    ("InterpreterWrapper", "InterpreterWrapper"): "Interpreter",
    ("InterpreterWrapper", "ModifyGraphWithDelegate"): "Interpreter",
    ("InterpreterWrapper", "~InterpreterWrapper"): "Interpreter.__del__",
    ("InterpreterWrapper", "GetTensor"): "Interpreter.get_tensor",
    ("InterpreterWrapper", "SetTensor"): "Interpreter.set_tensor",
    ("InterpreterWrapper", "tensor"): "Interpreter.tensor",
    ("InterpreterWrapper", "ResizeInputTensor"): "Interpreter.resize_tensor_input",
    ("InterpreterWrapper", "ResetVariableTensors"): "Interpreter.reset_all_variables",
    ("InterpreterWrapper", "GetSignatureDefs"): "Interpreter.get_signature_list",
    ("InterpreterWrapper", "GetSubgraphIndexFromSignature"): "Interpreter.get_signature_runner",
    ("InterpreterWrapper", "InputIndices"): "Interpreter.get_input_details",
    ("InterpreterWrapper", "OutputIndices"): "Interpreter.get_output_details",
    ("CompiledModelWrapper", "CreateWrapperFromFile"): "CompiledModel.from_file",
    ("CompiledModelWrapper", "CreateWrapperFromBuffer"): "CompiledModel.from_buffer",
    ("CompiledModelWrapper", "RunByIndex"): "CompiledModel.run_by_index",
    ("CompiledModelWrapper", "RunByName"): "CompiledModel.run_by_name",
    ("CompiledModelWrapper", "~CompiledModelWrapper"): "CompiledModel.__del__",
}
# Phases by the functions that stand for them; the innermost one that is allowed counts.
PHASES = (
    ("delegate", re.compile(r"Subgraph::(?:ModifyGraphWithDelegate\w*|ReplaceNodeSubsetsWithDelegateKernels)$|DelegatePrepare|::ApplyDelegates$|::ApplyLazyDelegateProviders$")),
    ("prepare", re.compile(r"tflite::Subgraph::(?:PrepareOps\w*|OpPrepare|AllocateTensors)$|tflite::ops::.*::\w*Prepare\w*$")),
    ("invoke", re.compile(r"tflite::Subgraph::(?:Invoke(?:Impl)?|OpInvoke)$|tflite::ops::.*::\w*Eval\w*$")),
    ("init", re.compile(r"tflite::Subgraph::(?:AddNodeWithParameters|OpInit)$")),
    ("load", re.compile(r"InterpreterBuilder::|FlatBufferModel::|::ReadAllMetadata$|^flatbuffers::|::VerifyModelBuffer|litert::internal::(?:LoadModel|UnpackModel|FlatbufferWrapper)")),
    ("delete", re.compile(r"tflite::Subgraph::(?:~Subgraph|CleanupNode)$|::~Interpreter$|::~InterpreterWrapper$|::~CompiledModelWrapper$")),
)  # fmt: skip
# What a call of the API can lead to; others lead to nothing that is a phase.
LEADS_TO = (
    (re.compile(r"^Interpreter$|FromFile|FromBuffer|from_(?:file|buffer)|Build|Create"), ("load", "init", "delegate", "prepare")),
    (re.compile(r"allocate_tensors|AllocateTensors"), ("delegate", "prepare", "init")),
    (re.compile(r"invoke|Invoke|__call__|run_by|Run|resize|Resize"), ("invoke", "prepare", "init", "delegate")),
    (re.compile(r"ModifyGraph|Delegate"), ("delegate", "prepare", "init")),
    (re.compile(r"__del__|Delete|Destroy|~"), ("delete",)),
)  # fmt: skip
# The interpreter, and packages that read memory which a runtime had lent.
OTHERS_CODE = re.compile(
    r"/(?:libpython[\d.]+\w*\.so[\d.]*|python[\d.]*)$|/lib-dynload/|/(?:site|dist)-packages/"
)
NEAR = 12  # functions from the top that tell who runs
READS_ONLY = re.compile(r"Analyzer\.")  # tools that look at a model, and never run it
ALL = tuple(phase for phase, _ in PHASES)
IN_PC = -1  # where the function is that was running


@dataclass(frozen=True, slots=True)
class Call:
    """A function that stands on a stack, and where: the address of the word, IN_PC for the innermost."""

    where: int
    function: Function
    name: str


@dataclass(frozen=True, slots=True)
class Doing:
    """What was being done. ``is_live`` is False where the thread had left the runtime already."""

    call: str = ""
    phase: str = ""
    is_live: bool = True


def calls(functions: Functions, at: int, words: Iterable[tuple[int, int]]) -> Iterator[Call]:
    """The functions that a thread is in or has been in, innermost first."""
    first = functions.at(at)
    if first:
        yield Call(IN_PC, first, first.qualified)
    for where, value in words:
        mapping = functions.memory.mapping(value)
        if mapping is None or "x" not in mapping.rights:
            continue
        found = functions.returned_to(value)
        if found:
            yield Call(where, found, found.qualified)


def doing(thread: Thread, stack: Sequence[Call], libraries: frozenset[str]) -> Doing:
    """The call of the API and the phase, from both halves of the runtime."""
    native = next(filter(None, (_api(call.name) for call in stack)), "")
    native = next((API[key] for call in stack if (key := _wrapped(call.name)) in API), native)
    python = _of_python(thread.python)
    call = python or native
    allowed = next((ok for words, ok in LEADS_TO if words.search(call)), () if call else ALL)
    phase = ""
    for one in stack:
        phase = next((p for p, words in PHASES if p in allowed and words.search(one.name)), "")
        if phase:
            break
    phase = phase or ("load" if READS_ONLY.match(call) else "")
    return Doing(call, phase, bool(python) or _is_inside(thread, stack, libraries))


def _is_inside(thread: Thread, stack: Sequence[Call], libraries: frozenset[str]) -> bool:
    """Whether the innermost code is the runtime's, or was called by it: Python's own is not."""
    if not thread.python:
        return True
    for call in stack[:NEAR]:
        if call.function.library in libraries:
            return True
        if OTHERS_CODE.search(call.function.library):
            return False
    return False


def _wrapped(name: str) -> tuple[str, str]:
    """Class and function of what Python calls."""
    found = WRAPPER.search(name)
    return (found["of"], found["name"]) if found else ("", "")


def _api(name: str) -> str:
    if found := C_API.match(name):
        return found["name"]
    found = WRAPPER.search(name)
    if not found:
        return ""
    of, what = found["of"], found["name"]
    if known := API.get((of, what)):
        return known
    of = of.removeprefix("impl::")
    if of.endswith("Wrapper"):  # of a language, whose own half has another name for it
        return f"{of.removesuffix('Wrapper')}.{what}"
    return f"{of}::{what.replace('{}', '()')}"


def _of_python(frames: Sequence[PythonFrame]) -> str:
    """The call that stands in the user's code, while Python is inside of the runtime."""
    name = ""
    for frame in frames:
        if not PACKAGE.search(frame.file):
            break
        of = CLASSES.get(frame.file.rpartition("/")[2], "")
        function = frame.function.rpartition(".")[2]
        if function.startswith("<"):
            continue
        name = OTHERS.get((of, function)) or (f"{of}.{function}" if of else function)
    return name
