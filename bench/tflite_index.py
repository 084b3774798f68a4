"""How often the index of a TensorFlow Lite operator is right, in models of many operators.

    python bench/tflite_index.py PYTHON [OPERATOR ...]

PYTHON is one that has ai_edge_litert. Makes models that kill it (tests/live/tflite_models.py), lets
each of them, and compares what the Incident says with the truth.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MAKER = ROOT / "tests" / "live" / "tflite_models.py"
SECONDS = 120


def dying(python: str, folder: Path, model: Path, how: dict[str, Any]) -> dict[str, Any]:
    """The operation that the Incident of one death names first."""
    copy = folder / "model.tflite"
    shutil.copy(model, copy)
    told = folder / "told.json"
    told.unlink(missing_ok=True)
    command = (python, str(MAKER), "use", str(copy), json.dumps(how))
    subprocess.run(
        (
            sys.executable,
            "-m",
            "sigwhy",
            "run",
            "--quiet",
            "--no-core",
            "--json",
            str(told),
            "--",
            *command,
        ),
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )
    found: dict[str, Any] = json.loads(told.read_text()).get("op") or {}
    return found


def main(python: str, *names: str) -> None:
    """Make, kill, compare."""
    right = wrong = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        subprocess.run((python, str(MAKER), place, *names), check=True, timeout=SECONDS)
        truth = json.loads((folder / "models.json").read_text())
        for name, how in truth.items():
            op = dying(python, folder, folder / name, how)
            inner = how.get("delegate") and op.get("delegate")
            fits = (op.get("inner") if inner else op.get("op"), op.get("index"))
            good = fits == (how["op"], how["index"]) or (inner and op.get("inner") == how["op"])
            right += bool(good)
            named = op.get("index") is not None and op.get("grade") == "fact"
            wrong += not good and named
            if not good:
                print(
                    f"{name}: {how['op']} {how['index']}, but said {op.get('op')} {op.get('index')} in {op.get('phase')} ({op.get('found')})",
                    flush=True,
                )
    print(f"operator and index right in {right} of {len(truth)}, wrong in {wrong}")


if __name__ == "__main__":
    main(*sys.argv[1:])
