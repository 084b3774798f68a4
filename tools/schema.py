"""Writes ``docs/report.schema.json`` from the structs that the JSON report is made of."""

from __future__ import annotations

import json
from pathlib import Path

from sigwhy.report.json import schema

TARGET = Path(__file__).parents[1] / "docs" / "report.schema.json"


def document() -> str:
    """The JSON Schema as it must stand in the file."""
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    print(TARGET)
