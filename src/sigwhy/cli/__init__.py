"""Says why a process died, and what to do about it."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "run": "run a command; when it dies, say why",
    "explain": "say why a process died, from logs, pasted texts, Incidents and core files",
    "attach": "say what a process that hangs waits for; it goes on unharmed",
    "last": "say what this machine still knows about a death that nobody watched",
    "check": "find what would kill a program, before it runs",
    "cause": "the manual: what is known about a cause, or the list of all",
    "demo": "make a real process die, and explain it",
}
EXAMPLES = """\
examples:
  sigwhy explain crash.log             a file; several files are one case
  python -X faulthandler train.py 2>&1 | sigwhy explain -
  sigwhy explain crash.log -o report.html
  sigwhy cause abi-mismatch
  sigwhy check src/ model.tflite
  sigwhy demo

exit status of explain: 0 a verdict, 3 undecided, 2 the input cannot be read; of check: 0 clean, 1 problems
"""
WRONG_USE, OURS, STOPPED, BROKEN_PIPE = 2, 70, 130, 141


class Parser(argparse.ArgumentParser):
    """Speaks in one line that says what was given, what was wanted, and what to do."""

    def error(self, message: str) -> NoReturn:
        """Turn every complaint into the same kind of error."""
        raise UsageError(f"{_plainly(message)}; type {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a test or a notebook may have put another one there
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            status = _run(given)
        except SystemExit as end:  # argparse ends so after --help
            status = int(end.code or 0)
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        return _nobody_reads()
    except KeyboardInterrupt:
        return STOPPED
    except Exception as error:  # noqa: BLE001 -- the last place where an error can become a line
        return _complain(error)
    return status


def _run(given: list[str]) -> int:
    args, unknown = _parser(given).parse_known_args(given)
    name = f"sigwhy {args.command}" if args.command else "sigwhy"
    if unknown:
        raise UsageError(f"unknown option or argument: {' '.join(unknown)}; type {name} --help")
    if args.command is None:
        raise UsageError(f"name a command: {', '.join(COMMANDS)}; type sigwhy --help")
    return int(args.run(args))


def _parser(given: Sequence[str]) -> Parser:
    """The parser; only the command that was asked for is loaded."""
    parser = Parser(
        "sigwhy",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    wanted = next((word for word in given if not word.startswith("-")), None)
    for name, says in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=says,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == wanted:
            module = importlib.import_module(f"sigwhy.cli.{name}")
            command.description = module.__doc__
            module.arguments(command)
            command.set_defaults(run=module.run)
    return parser


class Version(argparse.Action):
    """Prints the version."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print, and end well."""
        from sigwhy import __version__

        print(f"sigwhy {__version__}")
        parser.exit(0)


def _plainly(message: str) -> str:
    """The complaints of argparse, as this house says them."""
    if message.startswith("argument COMMAND: invalid choice: "):
        word = message.split("invalid choice: ", 1)[1].split(" (choose", 1)[0].strip("'\"")
        from difflib import get_close_matches

        near = get_close_matches(word, COMMANDS, n=1)
        meant = f"did you mean {near[0]}" if near else f"there are {', '.join(COMMANDS)}"
        if not near and Path(word).exists():
            meant = f"to explain the file, type sigwhy explain {word}"
        return f"no command is called {word!r}; {meant}"
    if message.startswith("the following arguments are required: "):
        return f"missing: {message.split(': ', 1)[1]}"
    return message


def _complain(error: Exception) -> int:
    """One line on standard error for whatever went wrong."""
    from sigwhy.report.harmless import one_line

    match error:
        case UsageError():
            message, status = str(error), WRONG_USE
        case OSError(filename=None):
            message, status = f"cannot write: {error.strerror or error}", WRONG_USE
        case OSError():
            message, status = f"{error.filename}: {error.strerror or error}", WRONG_USE
        case _ if os.environ.get("SIGWHY_DEBUG"):
            raise error
        case _:
            message, status = _ours(error), OURS
    if sys.stderr:
        print(f"sigwhy: {one_line(message, most=2000)}", file=sys.stderr)
    if isinstance(error, OSError):
        _throw_away_the_rest()
    return status


def _nobody_reads() -> int:
    """A reader such as ``head`` has seen enough: that is no error, so nothing is said."""
    _throw_away_the_rest()
    return BROKEN_PIPE


def _throw_away_the_rest() -> None:
    """What could not be written stays in the buffer, and the interpreter would try it again at its end."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _ours(error: Exception) -> str:
    from sigwhy import __version__

    tail = error.__traceback__
    while tail and tail.tb_next:
        tail = tail.tb_next
    place = f" at {Path(tail.tb_frame.f_code.co_filename).name}:{tail.tb_lineno}" if tail else ""
    return (
        f"this is our fault, not yours: {type(error).__name__}: {error}{place}, in {__version__}; "
        "please report this line, with what SIGWHY_DEBUG=1 prints and the text if you may"
    )
