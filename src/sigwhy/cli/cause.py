"""Shows the manual page of a cause; without an ID the list of all causes, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.cli.output import has_colour, width, write

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the id of a cause, as reports name it")


def run(args: argparse.Namespace) -> int:
    """Print a page or the list."""
    from sigwhy.manual import page, pages
    from sigwhy.report import manual

    if args.id is None:
        shown = manual.listed(pages(), width=width(), colour=has_colour())
    else:
        shown = manual.render(page(args.id), width=width(), colour=has_colour())
    write(shown, None)
    return 0
