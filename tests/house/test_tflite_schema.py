"""The tables of the .tflite format are those of the newest wheel that the live tests use."""

import sys
from pathlib import Path

from tests.live.frameworks import ROOT, python_of

TARGET = ROOT / "src/sigwhy/tflite/schema.py"


def test_the_tables_are_those_of_the_wheel():
    python = python_of("tensorflow")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from tflite_schema import document, source
    finally:
        sys.path.pop(0)
    version, path = source(Path(python))
    assert TARGET.read_text(encoding="utf-8") == document(version, path.read_text(encoding="utf-8"))
