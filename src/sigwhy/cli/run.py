"""Runs a command under watch; when it dies, says why, and keeps an Incident.

The command runs as if sigwhy were not there: same output, same exit status, same signals.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, TextIO

from sigwhy.cli import deaths
from sigwhy.cli.deaths import Deaths, say
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from sigwhy.run.session import Ended

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
MOST_SECONDS = 1e9


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        help="end the command after so long, and say what it did; exit status 124",
    )
    parser.add_argument(
        "--hang",
        metavar="SECONDS",
        type=seconds,
        help="say what it waits for when nothing has moved for so long; it goes on",
    )
    parser.add_argument(
        "--restart",
        metavar="N",
        default=0,
        help="start the command again when it dies, so many times; a service",
    )
    parser.add_argument(
        "--backoff",
        metavar="SECONDS",
        type=seconds,
        default=1.0,
        help="how long to wait before the first new start; each next time twice as long (default: 1)",
    )
    deaths.arguments(parser)
    parser.add_argument(
        "--inputs",
        choices=("none", "small", "full"),
        default="small",
        help="how much of the inputs of the operation that died is kept whole, for a repro: "
        "nothing, 512 KiB (default), or 256 MiB",
    )
    parser.add_argument(
        "command_line", nargs=argparse.REMAINDER, metavar="-- CMD ...", help="the command to run"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command and pass on how it ended."""
    if sys.platform != "linux":
        raise UsageError(
            f"sigwhy run works on Linux, this is {sys.platform}; sigwhy explain works everywhere"
        )
    command = args.command_line[1:] if args.command_line[:1] == ["--"] else args.command_line
    if not command:
        raise UsageError("missing: the command; type sigwhy run -- python train.py")
    told = Deaths.of(args)
    if times := deaths.count(args.restart, "--restart"):
        return _service(args, command, told, times)
    from sigwhy.run.launch import CannotStartError

    try:
        ended, _ = _once(args, command, told, alone=True)
    except CannotStartError as error:
        say(str(error))
        return error.status
    return _passed_on(ended)


def _service(args: argparse.Namespace, command: list[str], told: Deaths, times: int) -> int:
    """Run the command, and again when it dies."""
    from sigwhy.run.launch import CannotStartError
    from sigwhy.run.restart import Restart

    restart = Restart(times=times, backoff_seconds=args.backoff)
    while True:
        began = time.monotonic()
        try:
            ended, asked = _once(args, command, told, alone=False)
        except CannotStartError as error:
            say(str(error))
            return error.status
        ran = time.monotonic() - began
        if ended.overtime or not restart.wanted(ended.status, seconds=ran, asked=asked):
            return _passed_on(ended)
        if not args.quiet:
            say(
                f"starting it again in {restart.pause_seconds:g} s ({restart.done} of {restart.times})"
            )
        time.sleep(
            restart.pause_seconds
        )  # a signal ends us here as it would have ended the command


def _once(
    args: argparse.Namespace, command: list[str], told: Deaths, *, alone: bool
) -> tuple[Ended, bool]:
    """One run: how it ended, and whether somebody asked it to end."""
    from sigwhy.run import session
    from sigwhy.run.recorder import Recorder
    from sigwhy.run.standstill import Standstill

    watched = Standstill(timeout=args.timeout, hang=args.hang)
    with Recorder(standstill=watched, tell_of_hang=told.tell, inputs=args.inputs) as recorder:
        output = args.json == "-" or _is_terminal(sys.stdout)
        ended = session.supervised(command, recorder, alone=alone, output=output)
        trouble = ended.trouble
        try:
            told.tell(ended.incidents)
        except Exception as error:  # noqa: BLE001 -- the command's own end is passed on, whatever fails here
            trouble = str(error) if isinstance(error, UsageError) else repr(error)
    for remark in () if args.quiet else ended.remarks:
        say(remark)
    if trouble:
        say(f"something of ours failed, not of your program: {trouble}")
    return ended, recorder.was_asked


def _passed_on(ended: Ended) -> int:
    from sigwhy.run import session
    from sigwhy.run.standstill import OVERTIME

    return OVERTIME if ended.overtime else session.pass_on(ended.status)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def seconds(word: str) -> float:
    """So many seconds: ``90``, ``1.5``, or ``2m``, ``1h``, ``1d`` as timeout(1) takes them."""
    try:
        value = float(word.rstrip("smhd")) * UNITS.get(word[-1:], 1)
    except ValueError:
        value = 0.0
    if not 0 < value < MOST_SECONDS:
        raise UsageError(f"{word!r} is no time; give seconds (90), minutes (2m) or hours (1h)")
    return value
