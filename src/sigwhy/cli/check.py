"""Finds what would kill a program, before it runs: in Python sources, .tflite models, shared objects, and on this machine.

Exit status: 0 nothing found (notes do not count), 1 problems, 2 a path cannot be read. A line is excused by a comment
# sigwhy: ignore[id]; a project says more in [tool.sigwhy.check] of its pyproject.toml.
"""

from __future__ import annotations

import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.cli.output import STANDARD, has_colour, width, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from sigwhy.check import Inspection

FORMATS = ("text", "json", "sarif", "github", "junit")
CLEAN, PROBLEMS = 0, 1
PATIENCE_SECONDS = 1.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders")
    parser.add_argument(
        "--env",
        metavar="DIR",
        help="what libraries must fit; without PATH, check all libraries of it: .venv",
    )
    parser.add_argument("--format", choices=FORMATS, help="the form of the report (text)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    parser.add_argument(
        "--json", metavar="FILE", help="write JSON to this file too; with - only JSON is printed"
    )
    parser.add_argument(
        "--select", action="append", default=[], metavar="IDS", help="only these checks or kinds"
    )
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="IDS", help="not these checks or kinds"
    )
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="RUNTIME",
        help="what it will run on: tensorflow==2.16.2, litert==2.3.0, tflite-micro",
    )
    parser.add_argument(
        "--host", action="store_true", help="check this machine: limits, memory, CPU, drivers"
    )
    parser.add_argument(
        "--target-os", metavar="NAME", help="where libraries must load: debian11, manylinux_2_28"
    )
    parser.add_argument(
        "--target-cpu", metavar="NAME", help="where they must run: x86-64-v2, haswell"
    )
    parser.add_argument(
        "--memory-limit", metavar="SIZE", help="how much memory a model may take, such as 256MB"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="tell too what a model takes, gives and needs"
    )
    parser.add_argument(
        "--fix", action="store_true", help="make the changes that are certain, report the rest"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="how many processes look at files")
    parser.add_argument("--no-cache", action="store_true", help="look at everything anew")


def run(args: argparse.Namespace) -> int:
    """Check, write, and tell whether there is a problem."""
    from sigwhy.check import Wishes, inspect
    from sigwhy.inspection.fixes import fixed
    from sigwhy.model.error import UsageError

    if not (args.paths or args.env or args.host):
        raise UsageError("missing: PATH, --env DIR or --host; type sigwhy check --help")
    wishes = Wishes(
        select=_words(args.select),
        ignore=_words(args.ignore),
        target=_words(args.target),
        memory_limit=args.memory_limit,
        verbose=args.verbose,
        env=args.env,
        host=args.host,
        target_os=args.target_os,
        target_cpu=args.target_cpu,
        jobs=args.jobs,
        cache=not args.no_cache,
    )
    began = time.monotonic()
    progress = Progress()
    try:
        inspection = inspect(args.paths, wishes, progress.tell)
        if args.fix and fixed(inspection.problems):
            inspection = inspect(args.paths, wishes, progress.tell)
    finally:
        progress.end()
    seconds = time.monotonic() - began
    if args.json:
        write(document(inspection, "json", seconds), args.json)
    if args.json != STANDARD or args.output or args.format:
        to_terminal = args.output in (None, STANDARD)
        form = args.format or "text"
        write(document(inspection, form, seconds, to_terminal=to_terminal), args.output)
    guilty = any(problem.severity != "note" for problem in inspection.problems)
    return PROBLEMS if guilty else CLEAN


def document(
    inspection: Inspection, form: str, seconds: float, *, to_terminal: bool = False
) -> str:
    """The problems in one of the forms; each is loaded only when it is asked for."""
    match form:
        case "json":
            from sigwhy.report import problems_json

            return problems_json.render(inspection)
        case "sarif":
            from sigwhy import __version__
            from sigwhy.report import sarif

            return sarif.render(inspection, version=__version__)
        case "github":
            from sigwhy.report import github

            return github.render(inspection)
        case "junit":
            from sigwhy.report import junit

            return junit.render(inspection, seconds=seconds)
        case _:
            from sigwhy.report import problems_text

            return problems_text.render(
                inspection,
                _lines,
                seconds=seconds,
                width=width(),
                colour=to_terminal and has_colour(),
            )


@cache
def _lines(path: str) -> Sequence[str]:
    from sigwhy.subjects.python_source import decoded

    try:
        return decoded(Path(path).read_bytes()).split("\n")
    except (OSError, ValueError, SyntaxError):
        return ()


def _words(given: Sequence[str]) -> list[str]:
    """Options may be repeated, and each may name several things."""
    return [word for words in given for word in words.split(",") if word.strip()]


class Progress:
    """A line on the terminal while many files are looked at, taken away afterwards."""

    def __init__(self) -> None:
        self.shown = False
        self.terminal = sys.stderr is not None and sys.stderr.isatty()
        self.last = time.monotonic()

    def tell(self, of: int, done: int) -> None:
        """Say how far it is, once a second."""
        now = time.monotonic()
        if self.terminal and now - self.last > PATIENCE_SECONDS:
            self.last, self.shown = now, True
            words = f"\rsigwhy: {done:,} of {of:,} files checked ..."
            print(words, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Take the line away."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
