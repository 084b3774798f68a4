"""Paper of a given width, on which rich writes, coloured or not."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

NARROWEST, WIDEST = 30, 200
LABEL = "cyan"
QUIET = "dim"
LOUD = "bold"


def within(width: int) -> int:
    """A width at which lines can still be read."""
    return min(max(width, NARROWEST), WIDEST)


def ink(text: str, style: str = "") -> Text:
    """Text that is broken rather than lost where it does not fit."""
    return Text(text, style=style, overflow="fold")


def written(parts: Iterable[RenderableType], *, width: int, colour: bool) -> str:
    """The parts as lines of at most ``width`` cells."""
    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},
    )
    console.print(Group(*parts))
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
