"""A page of the manual, and the list of all pages, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table

from sigwhy.report.paper import LABEL, LOUD, ink, within, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from sigwhy.manual import Page

WIDE_ENOUGH = 60
READABLE = 100


def render(page: Page, *, width: int = 80, colour: bool = False) -> str:
    """Write one page."""
    width = min(within(width), READABLE)
    return written(_parts(page), width=width, colour=colour)


def listed(lists: Mapping[str, Sequence[Page]], *, width: int = 80, colour: bool = False) -> str:
    """Write the lists, each below its heading."""
    width = within(width)
    parts: list[RenderableType] = []
    for heading, pages in lists.items():
        parts += [ink(heading, LOUD), _list(pages, width), ""]
    parts.append("sigwhy cause ID shows the page of one.")
    return written(parts, width=width, colour=colour)


def _list(pages: Sequence[Page], width: int) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.expand = True
    if width >= WIDE_ENOUGH:
        table.add_column(no_wrap=True, style=LABEL)
        table.add_column(ratio=1, overflow="fold")
        for page in pages:
            table.add_row(page.id, ink(page.title))
    else:
        for page in pages:
            table.add_row(ink(page.id, LABEL))
            table.add_row(ink(f"  {page.title}"))
    return table


def _parts(page: Page) -> Iterator[RenderableType]:
    yield ink(page.id, LABEL)
    yield ink(_plain(page.summary), LOUD)
    for heading, paragraphs in page.parts:
        yield ""
        if heading:
            yield ink(heading, LABEL)
        for paragraph in paragraphs:
            yield Padding(ink(_plain(paragraph)), (0, 0, 0, 2))
    if page.sources:
        yield from ("", ink("Sources", LABEL))
        yield from (Padding(ink(source), (0, 0, 0, 2)) for source in page.sources)


def _plain(text: str) -> str:
    """Without the marks of code, which mean nothing on a terminal."""
    return text.replace("``", "")
