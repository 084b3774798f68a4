"""The file is no model, or its parts lead outside of it.

What happens: a model is a flatbuffer: tables that lead to each other by offsets. A runtime that does not verify them follows
a wrong one anywhere: SIGSEGV or an endless loop when the model is loaded. TensorFlow up to 2.20 and tflite-runtime never
verify; TensorFlow 2.21 and LiteRT 1 verify models given as bytes but not files; CompiledModel.from_file of LiteRT 2 does not verify.

How to tell: every table, vector and string that can be reached is followed, as a runtime would. Each must lie inside the file, where
its alignment wants it, and end where it says. A file that is something else is named: a Git LFS pointer, an HTML page, an archive.

Fix: fetch or export the file again, and compare its size and checksum with those at its source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import TfliteModel

CHECK = Check(
    id="tflite-bytes",
    title="the file is no model, or its parts lead outside of it",
    fix="fetch or export the file again, and compare its checksum",
)


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what the file is instead, or each part that does not fit."""
    if model.foreign:
        yield CHECK.problem(f"this is {model.foreign}", place="file")
    for fault in model.faults:
        yield CHECK.problem(fault.says, place=fault.place)
