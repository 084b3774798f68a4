"""Shows the manual page of a cause or of a check; without an ID the list of all, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.cli.output import has_colour, width, write

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "id", nargs="?", metavar="ID", help="the id of a cause or check, as reports name it"
    )


def run(args: argparse.Namespace) -> int:
    """Print a page or the list."""
    from sigwhy.manual import check_pages, page, pages
    from sigwhy.report import manual

    if args.id is None:
        lists = {"Why it died": pages(), "What would kill it": check_pages()}
        shown = manual.listed(lists, width=width(), colour=has_colour())
    else:
        shown = manual.render(page(args.id), width=width(), colour=has_colour())
    write(shown, None)
    return 0
