"""Looks at a process that hangs, says what it waits for, and lets it go on unharmed.

All its threads are held for less than a second. Exit status: 0 a verdict, 3 undecided, 2 the process
cannot be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import argparse

    from sigwhy.model.incident import Incident

VERDICT, UNDECIDED = 0, 3


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    from sigwhy.cli import explain

    parser.add_argument("pid", metavar="PID", help="the process, as ps or pgrep name it")
    parser.add_argument(
        "--incidents",
        metavar="DIR",
        help="where the Incident is kept (default: the folder you are in)",
    )
    explain.forms(parser)


def run(args: argparse.Namespace) -> int:
    """Look, keep, explain, and tell whether there is a verdict."""
    from sigwhy.alive import attach
    from sigwhy.cli import explain

    report = attach(number(args.pid), incidents=args.incidents or ".")
    explain.tell(args, report)
    if not (args.output or args.json or args.format):
        _tell_waits(report.incidents[0])
    return VERDICT if report.verdict else UNDECIDED


def _tell_waits(incident: Incident) -> None:
    """What each thread does, whether there is a verdict or not."""
    from sigwhy.autopsy import waits
    from sigwhy.report.harmless import one_line

    print("  What each thread does")
    for told in waits.tell(incident):
        for line in told.lines:
            print(f"    {one_line(line, most=400)}")


def number(word: str) -> int:
    """The PID that was meant."""
    if not word.isdecimal() or not 0 < int(word) < 1 << 31:
        raise UsageError(f"{word!r} is no process id; pgrep -af python lists those that run")
    return int(word)
