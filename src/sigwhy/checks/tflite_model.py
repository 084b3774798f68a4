"""The model lacks a part that every model has, or names one that is not there.

What happens: a runtime reads version, subgraphs, buffers and operator codes before anything else, and few of them
verify that these are there. A model without subgraphs is SIGSEGV when it is loaded; an unknown operator is an error; a buffer
that claims to lie outside of the file is read there: SIGSEGV or SIGBUS.

How to tell: version 3; at least one subgraph; a list of buffers; every buffer that is told by offset and size inside the
file, behind the tables; every operator code known; every entry of metadata led to a buffer.

Fix: export the model again with a current converter; do not edit it by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.tflite.model import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-model",
    title="a part that every model has is missing, or one is named that is not there",
    fix="export the model again",
)
VERSION = 3
# An offset of 0 or 1 says that there is none.
NOWHERE = (0, 1)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what is missing, and what leads to nothing."""
    if model.root is None:
        return
    if model.root["version"] != VERSION:
        says = f"its version is {model.root['version']}; all runtimes read only version {VERSION}"
        yield CHECK.problem(says, place="model, version")
    for part in ("subgraphs", "buffers", "operator_codes"):
        if not model.rows(part) and not (part == "operator_codes" and _is_idle(model)):
            yield CHECK.problem(f"the model has no {part.replace('_', ' ')}", place="model")
    yield from _buffers(model)
    yield from _codes(model)
    yield from _metadata(model)


def _is_idle(model: TfliteModel) -> bool:
    """Whether no subgraph does anything, so that no operator needs a code."""
    return not any(graph.operators for graph in model.subgraphs)


def _buffers(model: TfliteModel) -> Iterator[Problem]:
    for n, row in enumerate(model.rows("buffers")):
        start, size = (row["offset"], row["size"]) if row else (0, 0)
        if start not in NOWHERE and start + size > model.size:
            says = (
                f"it lies at {start:,} and has {size:,} bytes, but the file ends at {model.size:,}"
            )
            yield CHECK.problem(says, place=f"buffer {n}")


def _codes(model: TfliteModel) -> Iterator[Problem]:
    for n, row in enumerate(model.rows("operator_codes")):
        if row is None:
            continue
        number = max(row["deprecated_builtin_code"], row["builtin_code"])
        name = name_of("BuiltinOperator", number)
        if name == str(number):
            yield CHECK.problem(f"no operator has the number {number}", place=f"operator code {n}")
        elif name == "CUSTOM" and not row["custom_code"]:
            yield CHECK.problem("a custom operator without a name", place=f"operator code {n}")
        elif row["version"] < 1:
            says = f"the version of {name} is {row['version']}; versions begin with 1"
            yield CHECK.problem(says, place=f"operator code {n}")


def _metadata(model: TfliteModel) -> Iterator[Problem]:
    buffers = len(model.rows("buffers"))
    for n, row in enumerate(model.rows("metadata")):
        if row and row["buffer"] >= buffers:
            says = f"it stands in buffer {row['buffer']}, but there are {buffers}"
            yield CHECK.problem(says, place=f"metadata {n}")
