"""Writes the script that runs the operation of an Incident again; an option of explain and run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from sigwhy.model.report import Report

SUFFIX = ".py"


def write(report: Report, name: str) -> None:
    """Write the script and what belongs to it, and say where and what it lacks."""
    from sigwhy.autopsy.incident_file import inputs_of
    from sigwhy.report.harmless import one_line
    from sigwhy.report.repro import chosen, repro

    path = target(name)
    kept = zip(report.incidents, report.kept_in, strict=False)
    both = [(incident, file) for incident, file in kept if chosen(incident)]
    incident, file = next(iter(both), (next(iter(report.incidents), None), None))
    if incident is None:
        raise UsageError(
            "--repro needs an Incident (*.sigwhy), which sigwhy run keeps; no text holds the inputs of an operation"
        )
    is_ours = file is not None and file.endswith(".sigwhy")
    found = repro(incident, inputs_of(Path(file)) if file and is_ours else {}, name=path.stem)
    for place in found.write(path):
        print(f"sigwhy: wrote {one_line(str(place), most=400)}", file=sys.stderr)
    for lack in found.lacks:
        print(f"sigwhy: not as it was: {one_line(lack, most=400)}", file=sys.stderr)


def target(name: str) -> Path:
    """Where the script goes."""
    path = Path(name)
    if path.suffix != SUFFIX:
        raise UsageError(f"--repro {name!r} is no Python file; name one, as --repro repro.py")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"cannot write {path}: there is no folder {path.parent}; make it first")
    return path
