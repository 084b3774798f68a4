"""A script in the making: its head, its imports, its lines, and what it could not be given.

Words of the Incident come in by two doors only: ``comment`` makes one harmless line of them, and
``text`` a literal. A name goes into the code as it is where ``name`` lets it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from keyword import iskeyword
from pathlib import PurePath
from textwrap import wrap
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.report.harmless import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident
    from sigwhy.model.operation import Operation

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}\Z")
PLAIN = re.compile(r"[ !#-\[\]-~]*\Z")  # what needs no escape between quotes
VARIABLE = re.compile(
    r"(?:TF|XLA|OMP|KMP|GOMP|MKL|ONEDNN|DNNL|OPENBLAS|NPY|NUMPY|TORCH|PYTORCH|ATEN|TFLITE|LITERT|XNNPACK|CUDA)_[A-Z0-9_]{1,80}\Z"
)
# They begin like those that change what is computed, and do not.
UNRELATED = re.compile(r"TF_(?:CLI_|VAR_|DATA_DIR|PLUGIN_|LOG|CPP_(?:MIN|MAX)_)")
# What is read when a process starts, before any line of a script runs.
AT_START = re.compile(
    r"(?:MALLOC_\w{1,60}|GLIBC_TUNABLES|LD_PRELOAD|LD_LIBRARY_PATH|PYTHONMALLOC|PYTHONHASHSEED)\Z"
)
REDACTED = re.compile(r"<redacted|\[redacted|…|\*\*\*")
INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib/python3")
PACKAGES = {
    "tensorflow": re.compile(r"(?:tensorflow|tf|keras|numpy|ml)[\w.-]*\Z"),
    "tflite": re.compile(r"(?:tensorflow|tflite|ai.edge|numpy)[\w.-]*\Z"),
    "torch": re.compile(r"(?:torch|numpy)[\w.-]*\Z"),
}
OTHERS = re.compile(r"(?:numpy|scipy|pandas|opencv|pyarrow|h5py)[\w.-]*\Z")
WIDTH = 92
STANDARD = frozenset(("ctypes", "inspect", "math", "mmap", "os", "pathlib", "pydoc", "tempfile"))
LONGEST = 2000


@dataclass(slots=True)
class Script:
    """Grows line by line; ``whole`` puts it together."""

    incident: Incident
    operation: Operation
    name: str = "repro"  # of the file, without its suffix
    imports: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    stored: dict[str, bytes] = field(default_factory=dict)  # the members of the .npz beside it
    model: bytes | None = None

    def add(self, *lines: str) -> None:
        """Put lines at the end."""
        self.lines += lines

    def lack(self, words: str) -> None:
        """Say what is not as it was."""
        if words not in self.lacks:
            self.lacks.append(words)

    def use(self, line: str) -> None:
        """Import something, once."""
        if line not in self.imports:
            self.imports.append(line)

    def store(self, wanted: str, member: bytes) -> str:
        """Put an array into the file beside the script; the expression that fetches it."""
        plain = re.sub(r"\W+", "_", wanted, flags=re.ASCII)[:60] or "array"
        name, n = plain, 1
        while name in self.stored:
            n += 1
            name = f"{plain}_{n}"
        self.stored[name] = member
        return f"stored[{name!r}]"

    def whole(self) -> str:
        """The text of the script."""
        body = "\n".join(self.lines)
        if re.search(r"\b(?:nan|inf)\b", body):
            self.use("from math import inf, nan")
        if self.stored:
            self.use("from pathlib import Path")
            self.use("import numpy as np")
            self.lines.insert(0, 'stored = np.load(Path(__file__).with_suffix(".npz"))')
        switches = _environment(self.incident)
        if switches:
            self.use("import os")
        standard = sorted(line for line in self.imports if line.split()[1] in STANDARD)
        others = sorted(line for line in self.imports if line not in standard)
        if self.lines[:1] and self.lines[0].startswith("def "):
            self.lines.insert(0, "")
        parts = [[*comment(_title(self)), *_about(self)], standard, switches, others, self.lines]
        return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def comment(words: str, *, mark: str = "") -> list[str]:
    """Words as lines of a comment."""
    lines = wrap(
        one_line(words, most=LONGEST),
        WIDTH - len(mark),
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [f"# {mark if n == 0 else ' ' * len(mark)}{line}" for n, line in enumerate(lines)]


def text(words: str) -> str:
    """Words as a literal, in ASCII."""
    return f'"{words}"' if PLAIN.match(words) else ascii(words)


def name(words: str, what: str) -> str:
    """A name that may stand in code; raises ``UsageError`` where it is none."""
    if not NAME.match(words) or iskeyword(words):
        raise UsageError(
            f"no repro: {one_line(ascii(words), most=80)} is no name of {what}; the Incident is damaged, write it anew with sigwhy run"
        )
    return words


def _title(script: Script) -> str:
    from sigwhy import __version__

    signal = script.incident.signal
    died = f" died of {signal.name}" if signal else " died"
    words = next((w for w in script.incident.command if w.endswith(".py")), "")
    program = PurePath(words).name or "the program"
    return f"{script.operation.op} as it was when {program}{died}. Written by sigwhy {__version__}."


def _about(script: Script) -> Iterator[str]:
    operation, incident = script.operation, script.incident
    named = operation.node and operation.node not in (operation.op, operation.inner)
    place = [f"node {operation.node}"] if named else []
    place += [operation.device.rpartition("/device:")[2]] if operation.device else []
    place += [f"kernel {operation.kernel}"] if operation.kernel else []
    if place:
        yield from comment(", ".join(place))
    made = next((line for line in operation.trace if not INSTALLED.search(line)), None)
    if made:
        yield from comment(f"It was made at {made}.")
    yield from comment(f"There: {'; '.join(_versions(script))}.")
    if operation.is_hint:
        yield from comment(
            "It is a hint: this may be the last operation, and not the one that died."
        )
    late = {k: v for k, v in incident.environment.items() if AT_START.match(k)}
    for key, value in sorted(late.items()):
        yield from comment(f"Set {key}={value} before Python starts; it was set there.")
    if script.lacks:
        yield "#"
        yield "# Not as it was:"
        for lack in script.lacks:
            yield from comment(lack, mark="* ")


def _versions(script: Script) -> Iterator[str]:
    incident = script.incident
    if incident.python_version:
        yield f"Python {incident.python_version}"
    form = PACKAGES.get(script.operation.framework, OTHERS)
    packages = [f"{k} {v}" for k, v in sorted(incident.packages.items()) if form.match(k)]
    yield from packages[:8]
    yield incident.system or "an unknown system"
    if incident.cpu:
        yield incident.cpu


def _environment(incident: Incident) -> list[str]:
    """Switches that change what is computed, set before anything is imported."""
    found = {
        key: value
        for key, value in sorted(incident.environment.items())
        if VARIABLE.match(key) and not UNRELATED.match(key) and not REDACTED.search(value)
    }
    return [f"os.environ[{text(key)}] = {text(value)}" for key, value in found.items()]
