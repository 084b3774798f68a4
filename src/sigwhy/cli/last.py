"""Says what this machine still knows about a death that nobody watched.

The kernel's log, core files, coredumpctl, and the Incidents in this folder are looked at; what speaks
of the same process is one case. Exit status: 0 a verdict, 3 undecided or nothing known.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sigwhy.cli.explain import FORMATS, UNDECIDED, VERDICT, document
from sigwhy.cli.output import STANDARD, write
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import argparse

    from sigwhy.run.found import Found

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
MOST_SECONDS = 1e9
MOST_STATUS = 255


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--pid", metavar="N", type=_pid, help="the process that died")
    parser.add_argument("--command", dest="program", metavar="NAME", help="its program or script")
    parser.add_argument(
        "--since",
        metavar="TIME",
        type=_seconds,
        default=3600.0,
        help="how far back to look: 90s, 30m, 1h, 2d (default: 1h)",
    )
    parser.add_argument("--exit", metavar="N", type=_status, help="the exit status that you saw")
    parser.add_argument("--format", choices=FORMATS, help="the form of the report (default: text)")
    parser.add_argument(
        "--json", metavar="FILE", help="write JSON to this file too; with - only JSON is printed"
    )


def run(args: argparse.Namespace) -> int:
    """Look, join, explain."""
    if sys.platform != "linux":
        raise UsageError(
            f"sigwhy last works on Linux, this is {sys.platform}; sigwhy explain works everywhere"
        )
    from sigwhy.explain import explain, judge
    from sigwhy.model.case import Gathered
    from sigwhy.run.found import Sought, last

    found = last(Sought(pid=args.pid, command=args.program, seconds=args.since, status=args.exit))
    if args.json != STANDARD:
        _say(found)
    if not found.pieces and not args.json:
        return UNDECIDED
    report = explain(*found.sources) if found.pieces else judge(Gathered(()))
    if args.json:
        write(document(report, "json"), args.json)
    if found.pieces and (args.json != STANDARD or args.format):
        write(document(report, args.format or "text", to_terminal=True), None)
    return VERDICT if report.verdict else UNDECIDED


def _say(found: Found) -> None:
    """What was found, and where; where nothing was, what would have helped."""
    if any(piece.pid is not None for piece in found.pieces):
        pid = next(piece.pid for piece in found.pieces if piece.pid is not None)
        names = ", ".join(dict.fromkeys(piece.what for piece in found.pieces))
        print(f"sigwhy: process {pid}, by {names}\n", file=sys.stderr)
        return
    print("sigwhy: this machine knows of no such death\n\n  Looked at", file=sys.stderr)
    for line in found.looked:
        print(f"    {line}", file=sys.stderr)
    print("\n  To know more the next time", file=sys.stderr)
    for line in found.advice:
        print(f"    {line}", file=sys.stderr)
    print(file=sys.stderr)


def _pid(word: str) -> int:
    if not word.isdigit() or not 0 < int(word) < 1 << 31:
        raise UsageError(f"--pid {word!r} is no process; give its number, as --pid 4711")
    return int(word)


def _status(word: str) -> int:
    if not word.lstrip("-").isdigit() or abs(int(word)) > MOST_STATUS:
        raise UsageError(f"--exit {word!r} is no exit status; give 0 to 255, as --exit 139")
    return int(word)


def _seconds(word: str) -> float:
    try:
        value = float(word.rstrip("smhd")) * UNITS.get(word[-1:], 1)
    except ValueError:
        value = 0.0
    if not 0 < value < MOST_SECONDS:
        raise UsageError(f"--since {word!r} is no time; give 90s, 30m, 1h or 2d")
    return value
