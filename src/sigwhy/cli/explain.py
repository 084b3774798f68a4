"""Says why a process died, from anything that was written about it.

Files, folders and patterns are told apart by themselves, also compressed ones; - is standard input.
Several of them are one case. Exit status: 0 a verdict, 3 undecided, 2 cannot be read.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sigwhy.cli.output import STANDARD, has_colour, width, write
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import argparse

    from sigwhy.model.report import Report

FORMATS = ("text", "json", "markdown", "html", "issue")
SUFFIXES = {".json": "json", ".md": "markdown", ".markdown": "markdown", ".html": "html"}
VERDICT, UNDECIDED = 0, 3
LONG_BYTES = 20_000_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("evidence", nargs="+", metavar="FILE", help="- is standard input")
    parser.add_argument(
        "--repro",
        metavar="FILE.py",
        help="write a script that runs the operation of an Incident again, with its inputs",
    )
    forms(parser)


def forms(parser: argparse.ArgumentParser) -> None:
    """Declare in which form, and where to."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="the form of the report: text where -o does not end in .html, .md or .json; "
        "issue is what the maintainers of the package to blame ask for",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report to this file")
    parser.add_argument(
        "--json", metavar="FILE", help="write JSON to this file too; with - only JSON is printed"
    )


def run(args: argparse.Namespace) -> int:
    """Explain, write, and tell whether there is a verdict."""
    from sigwhy.explain import explain

    sources = [_source(name) for name in args.evidence]
    with Waiting(sources):
        report = explain(*sources)
    tell(args, report)
    if args.repro:
        from sigwhy.cli import repro

        repro.write(report, args.repro)
    return VERDICT if report.verdict else UNDECIDED


def tell(args: argparse.Namespace, report: Report) -> None:
    """Write the report where it was asked for."""
    if args.json:
        write(document(report, "json"), args.json)
    if args.json != STANDARD or args.output or args.format:
        form = args.format or SUFFIXES.get(Path(args.output or "").suffix.lower(), "text")
        write(document(report, form, to_terminal=args.output in (None, STANDARD)), args.output)


def document(report: Report, form: str, *, to_terminal: bool = False) -> str:
    """The report in one of the forms; each is loaded only when it is asked for."""
    match form:
        case "json":
            from sigwhy.report import json

            return json.render(report)
        case "markdown":
            from sigwhy.report import markdown

            return markdown.render(report)
        case "issue":
            from sigwhy.report import issue

            return issue.render(report)
        case "html":
            from sigwhy.report import html

            return html.render(report)
        case _:
            from sigwhy.report import text

            return text.render(report, width=width(), colour=to_terminal and has_colour())


def _source(name: str) -> Path | IO[bytes]:
    if name != STANDARD:
        return Path(name)
    if sys.stdin is None:
        raise UsageError("standard input is closed; pass a file, or pipe the text in")
    if sys.stdin.isatty():
        print("sigwhy: paste the text, then press Ctrl-D", file=sys.stderr)
    return sys.stdin.buffer


class Waiting:
    """A line on the terminal while a long log is read, taken away afterwards."""

    def __init__(self, sources: list[Path | IO[bytes]]) -> None:
        sizes = [_size(source) for source in sources if isinstance(source, Path)]
        self.long = sum(sizes) > LONG_BYTES and sys.stderr is not None and sys.stderr.isatty()
        self.megabytes = sum(sizes) // 1_000_000

    def __enter__(self) -> None:
        if self.long:
            print(f"sigwhy: reading {self.megabytes} MB ...", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self.long:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
