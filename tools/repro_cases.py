"""Runs programs that crash, writes the repro of each, and tells how many repros die of the same signal.

    tools/repro_cases.py FOLDER --python ENV/bin/python [--only NAME ...] [--keep DIR]

A program is ``NAME.py`` in the folder, or ``NAME/case.py``. Each runs under ``sigwhy run`` in its own
folder, its repro in a fresh interpreter of the same environment. Programs that do not die, and deaths in
which no operation was found, are counted apart.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sigwhy.autopsy import incident_file
from sigwhy.model.error import UsageError
from sigwhy.report.repro import chosen, repro

RUN_SECONDS, REPRO_SECONDS = 120, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one program, and of its repro."""

    name: str
    outcome: str  # same, other, lives, refused, no operation, no death
    op: str = ""
    died: str = ""
    repro: str = ""
    lacks: tuple[str, ...] = ()


def programs(folder: Path) -> dict[str, Path]:
    """The programs of a folder by name."""
    found = {path.parent.name: path for path in folder.glob("*/case.py")}
    return found | {path.stem: path for path in folder.glob("*.py")}


def tried(name: str, program: Path, python: str, place: Path) -> Result:
    """Run one program, and its repro where one can be written."""
    place.mkdir(parents=True, exist_ok=True)
    watch = [sys.executable, "-m", "sigwhy", "run", "--quiet", "--incidents", str(place)]
    ended([*watch, "--", python, str(program)], program.parent, RUN_SECONDS)
    kept = sorted(place.glob("*.sigwhy"))
    if not kept:
        return Result(name=name, outcome="no death")
    incident = incident_file.read(kept[0])
    died = incident.signal.name if incident.signal else "?"
    operation = chosen(incident)
    if operation is None:
        return Result(name=name, outcome="no operation", died=died)
    op = f"{operation.framework}:{operation.op}{' (hint)' if operation.is_hint else ''}"
    try:
        made = repro(incident, incident_file.inputs_of(kept[0]), name="repro")
    except UsageError as error:
        return Result(name=name, outcome="refused", op=op, died=died, lacks=(str(error),))
    script = made.write(place / "repro.py")[0]
    status, words = ended([python, str(script)], place, REPRO_SECONDS)
    (place / "repro.out").write_bytes(words)
    again = signal.Signals(-status).name if status < 0 else f"exit {status}"
    outcome = "same" if again == died else "other" if status < 0 else "lives"
    return Result(name=name, outcome=outcome, op=op, died=died, repro=again, lacks=made.lacks)


def ended(command: list[str], folder: Path, seconds: float) -> tuple[int, bytes]:
    """The exit status of a command, and what it said; 124 where its time was over."""
    world = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONFAULTHANDLER")}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=world | {"PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return 124, late.stdout or b""
    return done.returncode, done.stdout


def main() -> int:
    """Run all, print a line for each, and the sums."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--keep", type=Path, help="where Incidents and repros stay")
    args = parser.parse_args()
    python = str(Path(args.python).absolute()) if "/" in args.python else args.python
    counted: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="sigwhy-repro-") as folder:
        top = args.keep or Path(folder)
        for name, program in sorted(programs(args.folder.resolve()).items()):
            if args.only and name not in args.only:
                continue
            place = top.resolve() / name
            for old in place.glob("*") if place.is_dir() else ():
                old.unlink()
            one = tried(name, program, python, place)
            counted[one.outcome] = counted.get(one.outcome, 0) + 1
            lacks = (
                f"  [{'; '.join(one.lacks)[:160]}]" if one.lacks and one.outcome != "same" else ""
            )
            print(
                f"{one.outcome:12} {name:36} {one.op:50} {one.died} -> {one.repro}{lacks}",
                flush=True,
            )
    print(", ".join(f"{n} {outcome}" for outcome, n in sorted(counted.items())))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
