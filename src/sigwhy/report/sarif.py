"""Problems as SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sigwhy.checks import checks

if TYPE_CHECKING:
    from sigwhy.check import Inspection
    from sigwhy.model.check import Check
    from sigwhy.model.problem import Area, Problem

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RANKS = {"certain": 100.0, "likely": 75.0, "possible": 40.0}


def render(inspection: Inspection, *, version: str) -> str:
    """Write the document."""
    rules = {file.CHECK.id: file.CHECK for file in checks().values()}
    used = sorted({problem.id for problem in inspection.problems})
    driver = {
        "name": "sigwhy",
        "version": version,
        "rules": [_rule(rules[i]) for i in used],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, used.index(problem.id)) for problem in inspection.problems],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": _sound(note)}}
                    for note in inspection.notes
                ],
            }
        ],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "shortDescription": {"text": check.title},
        "help": {"text": f"{check.fix}. More: sigwhy cause {check.id}"},
        "defaultConfiguration": {"level": check.severity},
    }


def _result(problem: Problem, rule: int) -> dict[str, Any]:
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(problem.path)}}
    }
    if problem.area:
        location["physicalLocation"]["region"] = _region(problem.area)
    if problem.place:
        location["logicalLocations"] = [{"fullyQualifiedName": _sound(problem.place)}]
    return {
        "ruleId": problem.id,
        "ruleIndex": rule,
        "level": problem.severity,
        "rank": RANKS[problem.confidence],
        "message": {"text": f"{_sound(problem.says)}. Fix: {_sound(problem.fix)}"},
        "locations": [location],
        **({"fixes": [_fix(problem)]} if problem.edit else {}),
    }


def _fix(problem: Problem) -> dict[str, Any]:
    edit = problem.edit
    replacement = {
        "deletedRegion": _region(edit.area) if edit else {},
        "insertedContent": {"text": edit.text if edit else ""},
    }
    change = {"artifactLocation": {"uri": _uri(problem.path)}, "replacements": [replacement]}
    return {"description": {"text": _sound(problem.fix)}, "artifactChanges": [change]}


def _region(area: Area) -> dict[str, int]:
    return {
        "startLine": area.line,
        "startColumn": area.column,
        "endLine": area.end_line,
        "endColumn": area.end_column,
    }


def _uri(path: str) -> str:
    """A path as a reference: relative as it was given, else a file."""
    if PurePath(path).is_absolute():
        return Path(path).as_uri()
    return quote(PurePath(_sound(path)).as_posix())


def _sound(words: str) -> str:
    return words.encode("utf-8", "replace").decode()
