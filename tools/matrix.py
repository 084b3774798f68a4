"""Builds wheel and sdist, and installs and runs them on every Python here and beside TensorFlow 2.13.

``python tools/matrix.py [--tensorflow]``; ``--tensorflow`` really installs tensorflow-cpu 2.13.1 (500 MB);
without it only the resolver is asked.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
OLD_TENSORFLOW = "tensorflow-cpu==2.13.1"
CRASH = b">>> import fastlib\nIllegal instruction (core dumped)\n"


def run(*command: str | Path, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """One command, its output kept."""
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=1200)


def interpreter(version: str) -> str | None:
    """A Python of this version that runs: on the path, or one that pyenv or uv keeps beside it."""
    kept = (
        *Path.home().glob(f".pyenv/versions/{version}.*/bin/python"),
        *Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/python{version}"),
    )
    tried = (shutil.which(f"python{version}"), *map(str, kept))
    return next((p for p in tried if p and run(p, "--version").returncode == 0), None)


def build(folder: Path) -> list[Path]:
    """The wheel and the sdist, built by the backend itself."""
    code = "import hatchling.build as b, sys; print(b.build_wheel(sys.argv[1])); print(b.build_sdist(sys.argv[1]))"
    subprocess.run((sys.executable, "-c", code, folder), check=True, cwd=ROOT, capture_output=True)
    return sorted(folder.iterdir())


def tried(python: str, package: Path, place: Path, *beside: str) -> str:
    """Install into a fresh environment and explain a crash there; one word on how it went."""
    if run(python, "-m", "venv", place).returncode:
        return "no venv"
    ours = place / "bin" / "python"
    installed = run(
        ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package, *beside
    )
    if installed.returncode:
        return "does not install: " + installed.stderr.decode().strip().splitlines()[-1][:200]
    if beside and run(ours, "-m", "pip", "check").returncode:
        return "pip check complains"
    if beside and run(ours, "-c", "import tensorflow").returncode:
        return "tensorflow does not import beside it"
    answer = run(place / "bin" / "sigwhy", "explain", "-", given=CRASH)
    good = answer.returncode == 0 and b"SIGILL" in answer.stdout
    return "ok" if good else f"wrong answer ({answer.returncode}): {answer.stderr.decode()[-200:]}"


def main() -> int:
    """Print one line for each Python and package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tensorflow", action="store_true", help=f"also install {OLD_TENSORFLOW}")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="sigwhy-matrix-") as folder:
        dist = Path(folder, "dist")
        dist.mkdir()
        for package in build(dist):
            for version in PYTHONS:
                python = interpreter(version)
                if not python:
                    print(f"python {version:5} {package.name:32} not on this machine")
                    continue
                said = tried(python, package, Path(folder, f"{version}-{package.suffix}"))
                failed |= said != "ok"
                print(f"python {version:5} {package.name:32} {said}", flush=True)
        wheel = next(dist.glob("*.whl"))
        python = next(p for v in ("3.11", "3.10") if (p := interpreter(v)))
        if args.tensorflow:
            said = tried(python, wheel, Path(folder, "tensorflow"), OLD_TENSORFLOW)
        else:
            asked = run(
                python,
                "-m",
                "pip",
                "install",
                "--dry-run",
                "--quiet",
                "--ignore-installed",
                wheel,
                OLD_TENSORFLOW,
            )
            said = "ok" if asked.returncode == 0 else asked.stderr.decode().strip().splitlines()[-1]
        failed |= said != "ok"
        print(f"beside {OLD_TENSORFLOW}: {said}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
