"""The Python that has a framework: ``make test`` sets them up, each in an environment of its own."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python_of(name):
    """The Python with ``tensorflow`` (and LiteRT) or ``arrays`` (torch, NumPy, SciPy, pandas …)."""
    given = os.environ.get(f"SIGWHY_{name.upper()}")
    python = Path(given) if given else ROOT / ".venv" / name / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no {name} here; make test sets it up")
    return str(python)
