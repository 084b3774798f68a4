"""Writes constraints.txt anew: the newest version of every development tool and of what they need.

Names and versions only. A fresh environment is made, so that nothing installed by hand slips in.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINS = ROOT / "constraints.txt"
HEAD = "# Versions of the development tools. Written by `make pins`; the product itself pins nothing.\n"


def main() -> int:
    """Install without constraints, and write down what came."""
    with tempfile.TemporaryDirectory(prefix="sigwhy-pins-") as folder:
        venv.create(folder, with_pip=True)
        pip = (str(Path(folder, "bin", "python")), "-m", "pip", "--disable-pip-version-check")
        subprocess.run((*pip, "install", "--quiet", f"{ROOT}[dev]"), check=True)
        frozen = subprocess.run(
            (*pip, "freeze", "--exclude", "sigwhy"), check=True, capture_output=True, text=True
        ).stdout
    pins = [line for line in frozen.splitlines() if "==" in line and "@" not in line]
    PINS.write_text(HEAD + "\n".join(sorted(pins, key=str.lower)) + "\n", encoding="utf-8")
    print(f"{PINS.name}: {len(pins)} pins, from Python {sys.version.split()[0]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
