"""Writes the JSON Schemas in ``docs`` from the structs that the JSON documents are made of."""

from __future__ import annotations

import json
from pathlib import Path

from sigwhy.report import problems_json
from sigwhy.report.json import schema

DOCS = Path(__file__).parents[1] / "docs"
SCHEMAS = {"report.schema.json": schema, "check.schema.json": problems_json.schema}


def documents() -> dict[Path, str]:
    """Each JSON Schema as it must stand in its file."""
    return {DOCS / name: json.dumps(made(), indent=2) + "\n" for name, made in SCHEMAS.items()}


if __name__ == "__main__":
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
        print(path)
