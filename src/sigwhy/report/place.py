"""Where it happened and who is to blame, in the words that a user can search his code for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.culprit import tells
from sigwhy.model.blame import file_name, short_path
from sigwhy.model.fact import Frame, Op, Stack
from sigwhy.report.harmless import one_line
from sigwhy.report.size import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.cause import Culprit
    from sigwhy.model.report import Report

MOST = 4
# Python files that are not the user's: what is installed, and what came with the interpreter.
NOT_YOURS = re.compile(r"site-packages|dist-packages|[/\\]lib[/\\]python\d|[/\\]Lib[/\\]|^<|^$")
STANDARD_LIBRARY = re.compile(r"/lib(?:64)?/(python\d[\d.]*t?/.+)")
NOT_STANDARD = re.compile(r"(?:site|dist)-packages/")
NAME = re.compile(r"[^(\s]+(?=\(|$)")
PLAIN_NAME = re.compile(r"[\w.:~]+")
INNERMOST = re.compile(r"<[^<>]*>")
BYTES = re.compile(r"(\d{1,20}) bytes")
# A limit, by the name under which it is set: RLIMIT_AS, OMP_STACKSIZE, pids.max.
OWN_NAME = re.compile(r"[A-Z]+_[A-Z_]+|[a-z]+\.max")
LONG_NAME = 60
PROPER = {
    "tensorflow": "TensorFlow",
    "tflite": "TensorFlow Lite",
    "torch": "PyTorch",
    "pytorch": "PyTorch",
    "onnx": "ONNX",
    "jax": "JAX",
    "keras": "Keras",
    "paddle": "Paddle",
}


def places(report: Report) -> tuple[str, ...]:
    """Where to look, the most exact place first."""
    found = dict.fromkeys(one_line(place, most=200) for place in _places(report))
    return tuple(found)[:MOST]


def scene(report: Report) -> str:
    """Where it happened, for the middle of a sentence: ``in the TensorFlow op Reshape``."""
    culprit = report.culprit
    if op := _op(report):
        return f"in {op}"
    if culprit is None:
        return ""
    if report.seen and report.seen.mechanism.id == "load-failure":
        return ""  # what is to blame is missing: nothing happened in it
    named = culprit.function and not culprit.function.startswith("<")
    if culprit.function and named and culprit.kind in ("api", "file", "library"):
        return f"in {_call(culprit.function)}"
    if culprit.file and culprit.kind in ("api", "file"):
        return f"at {_line(culprit.file, culprit.line)}"
    return ""


def blame(culprit: Culprit) -> str:
    """Who is to blame, as exactly as it is known."""
    name = culprit.name or culprit.function or culprit.library or culprit.file or ""
    if name == culprit.function:
        name = _call(name)
    if culprit.kind == "limit":
        return one_line(_limit(culprit), most=240)
    words = [f"{culprit.kind} {name}".strip() if culprit.kind in SAID else name or culprit.kind]
    if culprit.argument:
        value = f" = {culprit.value}" if culprit.value is not None else ""
        words.append(f"{_relation(culprit)} {culprit.argument}{value}")
    elif culprit.value is not None:
        words.append(f"value {culprit.value}")
    words += [f"node {culprit.node}"] if culprit.node else []
    words += [f"in {culprit.library}"] if culprit.library and culprit.library != name else []
    return one_line(", ".join(word for word in words if word), most=240)


def _relation(culprit: Culprit) -> str:
    """What stands beside a library of one's own is the call in one's source, else an argument."""
    if culprit.kind in {"library", "file", "package"}:
        return "called as"
    return "over" if culprit.kind == "api" else "argument"


SAID = frozenset({"op", "library", "package", "argument", "instruction"})


def _limit(culprit: Culprit) -> str:
    """A limit: what it is of, whose it is, and how high."""
    name = culprit.name or culprit.argument or "a limit"
    said = name
    if culprit.argument and OWN_NAME.fullmatch(name):
        said = f"{name}, the limit of {culprit.argument}"
    elif culprit.argument and "limit" in culprit.argument:
        said = f"{culprit.argument} of {name}"
    elif culprit.argument:
        said = f"limit of {name}" if "(" in name else f"limit of {culprit.argument}, met by {name}"
    height = BYTES.fullmatch(culprit.value or "")
    value = size(int(height[1])) if height else culprit.value
    return f"{said}: {value}" if value else said


def frame_words(frame: Frame) -> str:
    """One frame on one line."""
    words = [_in_full(frame.function)] if frame.function else []
    if frame.file:
        words.append(f"at {_line(frame.file, frame.line)}")
    if frame.library:
        offset = f"+{frame.offset:#x}" if frame.offset is not None else ""
        words.append(f"in {frame.library}{offset}")
    return one_line(" ".join(words) or "(no name)", most=400)


def brief(frame: Frame) -> str:
    """One frame in few words: a name without arguments, files and libraries without folders."""
    words = [_call(frame.function)] if frame.function else ["(no name)"]
    if frame.file:
        where = file_name(frame.file) if frame.language == "native" else _shortest(frame.file)
        words.append(f"at {_line(where, frame.line)}")
    elif frame.library:
        offset = f"+{frame.offset:#x}" if frame.offset is not None else ""
        words.append(f"in {file_name(frame.library)}{offset}")
    return one_line(" ".join(words), most=200)


def _shortest(file: str) -> str:
    found = STANDARD_LIBRARY.search(file)
    return found[1] if found and not NOT_STANDARD.search(file) else short_path(file)


def _in_full(function: str) -> str:
    return f"{function}()" if PLAIN_NAME.fullmatch(function) else function


def _places(report: Report) -> Iterator[str]:
    culprit, case = report.culprit, report.case
    op = case.first(Op)
    if op and not op.from_memory:  # of one from memory, more is told below its arguments
        details = (op.node and f"node {op.node}", op.device, op.kernel and f"kernel {op.kernel}")
        yield ", ".join([f"{_op_name(op)}", *(d for d in details if d)])
    python = list(_frames(case, "python"))
    frames = (next(_frames(case, "native"), None), *_yours(python)[:1], *python[:1])
    blamed = _blamed(culprit) if culprit else None
    for frame in dict.fromkeys((blamed, *frames)):
        if frame and (frame is blamed or not (blamed and _same(frame, blamed))):
            yield _place(frame)


def _blamed(culprit: Culprit) -> Frame | None:
    """The culprit as a place, where it is one."""
    if not (culprit.file or culprit.function):
        return None
    return Frame(
        function=culprit.function, file=culprit.file, line=culprit.line, library=culprit.library
    )


def _same(one: Frame, other: Frame) -> bool:
    if one.file and other.file:
        return (one.file, one.line) == (other.file, other.line)
    return one.function == other.function


def _place(frame: Frame) -> str:
    """A file and a line first, because that is where one goes to look."""
    if not frame.file:
        where = f" in {short_path(frame.library)}" if frame.library else ""
        offset = f"+{frame.offset:#x}" if where and frame.offset is not None else ""
        return (_call(frame.function) if frame.function else "code") + where + offset
    return _line(short_path(frame.file), frame.line) + (
        f" in {_call(frame.function)}" if frame.function else ""
    )


def _frames(case: Case, language: str) -> Iterator[Frame]:
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from (f for f in stack.frames if f.language == language and tells(f))


def _yours(frames: list[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame.file and not NOT_YOURS.search(frame.file)]


def _op(report: Report) -> str:
    culprit = report.culprit
    for op in report.case.all(Op):
        if culprit is None or culprit.kind != "op" or culprit.name == op.op:
            return _op_name(op)
    return f"the op {culprit.name}" if culprit and culprit.kind == "op" and culprit.name else ""


def _op_name(op: Op) -> str:
    what = "call" if op.op == op.call else "op"
    return f"the {PROPER.get(op.framework.lower(), op.framework)} {what} {op.op}"


def _call(function: str) -> str:
    """A function as one would say its name: without its arguments, with templates cut short."""
    if function.startswith("_Z"):
        from sigwhy.machine.demangle import demangled  # asks ctypes, which is slow to load

        function = demangled(function)
    name = function.replace("(anonymous namespace)::", "")
    found = NAME.match(name)
    if not found or "operator" in name or name.startswith("<"):
        return function
    name = found[0]
    while len(name) > LONG_NAME and (shorter := INNERMOST.sub("", name)) != name:
        name = shorter
    return f"{name}()"


def _line(file: str, line: int | None) -> str:
    return f"{file}:{line}" if line is not None else file
