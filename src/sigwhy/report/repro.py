"""A stand-alone script that runs the operation again with what it was given, and so dies again."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.report.repro_script import Script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sigwhy.model.incident import Incident
    from sigwhy.model.operation import Operation

# Who writes the script, by the framework of the operation.
WRITERS = {
    "tensorflow": "repro_tensorflow", "tflite": "repro_tflite", "torch": "repro_torch",
    "numpy": "repro_numpy", "scipy": "repro_numpy", "pandas": "repro_numpy",
}  # fmt: skip
AGAIN = "run the program once more: sigwhy run -- python YOUR_PROGRAM.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repro:
    """The script, the arrays that go into the ``.npz`` beside it, and a cut model for TensorFlow Lite.

    ``lacks`` says what could not be made as it was.
    """

    script: str
    arrays: Mapping[str, bytes]
    model: bytes | None
    lacks: tuple[str, ...]

    def write(self, path: Path) -> list[Path]:
        """Write all files; their places, the script first."""
        written = [path]
        path.write_text(self.script, encoding="utf-8")
        if self.arrays:
            written.append(path.with_suffix(".npz"))
            written[-1].write_bytes(packed(self.arrays))
        if self.model is not None:
            written.append(path.with_suffix(".tflite"))
            written[-1].write_bytes(self.model)
        return written


def packed(arrays: Mapping[str, bytes]) -> bytes:
    """An ``.npz``: a zip of ``.npy``."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in arrays.items():
            file.writestr(f"{name}.npy", data)
    return out.getvalue()


def chosen(incident: Incident) -> Operation | None:
    """The operation that a script can be written for: the first one that is sure, else the first."""
    able = [o for o in incident.operations if o.framework in WRITERS]
    return next((o for o in able if not o.is_hint), next(iter(able), None))


def repro(incident: Incident, inputs: Mapping[str, bytes], *, name: str) -> Repro:
    """The script of an Incident; raises ``UsageError`` where there is nothing to write.

    ``inputs`` are the members that its arguments name, ``name`` that of the script's file.
    """
    operation = chosen(incident)
    if operation is None:
        found = next((o.op for o in incident.operations), None)
        why = (
            f"of {found!a} none can be written" if found else "no operation was found in its memory"
        )
        raise UsageError(f"no repro: {why}; {AGAIN}")
    script = Script(incident, operation, name)
    import_module(f"sigwhy.report.{WRITERS[operation.framework]}").write(script, inputs)
    for lack in operation.missing if operation.state != "constructing" else ():
        script.lack(f"not found in memory: {lack}")
    return Repro(
        script=script.whole(),
        arrays=script.stored,
        model=script.model,
        lacks=tuple(script.lacks),
    )
