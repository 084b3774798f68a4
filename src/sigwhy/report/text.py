"""The report for a terminal: what happened, why, where, what to do; then the evidence."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table

from sigwhy.report import paper
from sigwhy.report.harmless import short, window
from sigwhy.report.paper import ink, within, written
from sigwhy.report.story import tell
from sigwhy.report.threads import Gap, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from sigwhy.model.report import Missing, Report
    from sigwhy.report.given import Given
    from sigwhy.report.story import Point, Story

LABEL_CELLS = 9
MARGIN = 2
MOST_QUOTED = 2
MOST_VALUES = 4
LONGEST_VALUE = 32
READABLE = 100  # prose that runs wider is hard to read
AT = re.compile(r" at 0x[0-9a-f]+(?=>)")  # where an object lies helps nobody in so little room
KINDS = {"fact": "bold green", "hint": "yellow", "against": "bold red"}


def render(report: Report, *, width: int = 80, colour: bool = False) -> str:
    """Write a report as lines of at most ``width`` cells."""
    width = within(width)
    return written(_parts(tell(report), width), width=width, colour=colour)


def _parts(story: Story, width: int) -> Iterator[RenderableType]:
    yield ink("sigwhy: ", paper.LABEL).append(story.headline, paper.LOUD)
    yield ""
    room = min(width, READABLE) - MARGIN - LABEL_CELLS
    where = (_broken(place, room) for place in story.where)
    said = [("Why" if story.decided else "So far", story.why), *_labelled("Where", where)]
    said += [("Memory", story.memory)] if story.memory else []
    said += [("Blame", story.blame)] if story.blame else []
    said += [("Fix", story.fix)] if story.fix else []
    yield _table(((label, ink(words)) for label, words in said), width)
    if story.given:
        yield from ("", *_given(story.given, width))
    if story.stack:
        rows = story.stack[:-1] if isinstance(story.stack[-1], Gap) else story.stack
        yield from ("", _table(_stack(rows), width))
    if story.likely:
        yield from ("", _indented(story.ranking), _likely(story, width))
    if story.speaks_for or story.speaks_against:
        yield from ("", *_evidence(story, width))
    if story.next and not story.decided:
        yield from ("", _indented("To decide, do one of these, best first:"))
        yield Padding(Group(*_commands(story.next, width - 2 * MARGIN)), (0, 0, 0, 2 * MARGIN))
    if after := (*(story.next if story.decided else ()), *story.more):
        yield ""
        commands = _commands(after, width - MARGIN - LABEL_CELLS)
        yield _table((("Next" if n == 0 else "", row) for n, row in enumerate(commands)), width)
    for note in story.notes:
        yield from ("", _indented(f"Note: {note}"))


def _given(told: Given, width: int) -> Iterator[RenderableType]:
    """The arguments below each other; names and types stand in columns."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.width = min(width, READABLE) - MARGIN
    table.add_column(no_wrap=True, style=paper.LABEL)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    table.add_column(no_wrap=True, style="bold red")
    for row in told.rows:
        style = paper.LOUD if row.guilty else ""
        marked = "<- guilty" if row.guilty else ""
        table.add_row(ink(row.name), ink(row.type), ink(row.values, style), marked)
    if told.rows:
        yield Padding(table, (0, 0, 0, MARGIN))
    more = f"and {told.untold} more inputs" if told.untold else ""
    for words in (more, told.attributes, told.place):
        if words:
            yield _indented(words)


def _stack(rows: Iterable[Shown | Gap]) -> Iterator[tuple[str, RenderableType]]:
    """Where it died: the calls that tell something, the innermost first."""
    valued = False
    for n, row in enumerate(rows):
        label = "Stack" if n == 0 else ""
        match row:
            case Gap(words=words):
                yield label, ink(f"-- {words} --", paper.QUIET)
            case Shown():
                yield label, _call(row)
                if row.yours and row.locals and not valued:
                    valued = True
                    yield "", ink(_values(row), paper.QUIET)


def _call(call: Shown) -> Text:
    text = ink(call.brief, paper.LOUD if call.culprit or call.yours else "")
    if call.times > 1:
        text.append(f"  {call.times} times in a row", paper.QUIET)
    return text.append("  <- blamed", "bold red") if call.culprit else text


def _values(call: Shown) -> str:
    return "    " + ", ".join(
        f"{name} = {short(AT.sub('', value), LONGEST_VALUE)}"
        for name, value in call.locals[:MOST_VALUES]
    )


def _labelled(label: str, lines: Iterable[str]) -> list[tuple[str, str]]:
    return [(label if n == 0 else "", line) for n, line in enumerate(lines)]


def _broken(place: str, room: int) -> str:
    """A place over several lines, broken behind a slash so that the file's name stays whole."""
    lines = []
    while len(place) > room:
        cut = max(place.rfind(mark, 0, room) for mark in "/\\ ") + 1 or room
        lines.append(place[:cut])
        place = place[cut:]
    return "\n".join([*lines, place])


def _indented(words: str) -> Padding:
    return Padding(ink(words), (0, 0, 0, MARGIN))


def _table(rows: Iterable[tuple[str, RenderableType]], width: int) -> Table:
    table = Table.grid(padding=0)
    table.width = min(width, READABLE)
    table.add_column(width=MARGIN)
    table.add_column(width=LABEL_CELLS, style=paper.LABEL)
    table.add_column(ratio=1, overflow="fold")
    for label, words in rows:
        table.add_row("", label, words)
    return table


def _evidence(story: Story, width: int) -> Iterator[RenderableType]:
    for label, points in (
        ("For" if story.decided else "Read", story.speaks_for),
        ("Against", story.speaks_against),
    ):
        for n, point in enumerate(points):
            yield _table([(label if n == 0 else "", _point(point))], width)
            indent = MARGIN + LABEL_CELLS
            yield from (Padding(q, (0, 0, 0, indent)) for q in _quote(point, width - indent))
        if not points and story.decided:
            yield _table([(label, ink("nothing"))], width)
    if story.untold:
        yield _table([("", ink(f"and {story.untold} more", paper.QUIET))], width)
    if story.doubt:
        yield _table([("Doubt", ink(story.doubt))], width)


def _point(point: Point) -> Table:
    kind = "against" if point.weight <= 0 and point.kind == "fact" else point.kind
    row = Table.grid(padding=(0, 0, 0, 2), expand=True)
    row.add_column(ratio=1, overflow="fold")
    row.add_column(justify="right", no_wrap=True)
    row.add_row(ink(point.says), ink(f"{point.kind} {point.weight:+4d}", KINDS[kind]))
    return row


def _quote(point: Point, width: int) -> Iterator[Text]:
    """The lines that say it, each cut around its words: a wider terminal gets longer quotes."""
    lines = [line for line in point.lines if line.hit and line.text.strip()]
    hit = next((n for n, line in enumerate(lines) if point.words and point.words in line.text), 0)
    for line in lines[hit : hit + MOST_QUOTED]:
        head = _head(point, line.number, width // 3)
        words = window(line.text.strip(), point.words, max(width - len(head) - 2, 8))
        text = ink("", paper.QUIET).append(f"{head}│ ").append(words)
        if point.words:
            text.highlight_words([point.words], paper.LOUD)
        text.truncate(width, overflow="ellipsis")
        yield text


def _head(point: Point, number: int, most: int) -> str:
    """Where a line stands, as exactly as there is room for."""
    name = re.split(r"[/\\]", point.source)[-1]
    heads = (f"{point.source}:{number} ", f"{name}:{number} ")
    return next((head for head in heads if len(head) <= most), f"line {number} ")


def _likely(story: Story, width: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=MARGIN)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for one in story.likely:
        words = ink(one.title).append(f"  {one.id}", paper.LABEL)
        if one.says:
            words.append(f"\n{one.says}", paper.QUIET)
        table.add_row("", one.percent, words)
    table.width = min(width, READABLE)
    return table


def _commands(some: Sequence[Missing], room: int) -> list[RenderableType]:
    """What to type, with words beside it where there is room, and below it where there is none."""
    fits = [len(m.command) for m in some if len(m.command) + len(m.brings) + 3 <= room]
    return [_command(missing, room, max(fits, default=0)) for missing in some]


def _command(missing: Missing, room: int, column: int) -> RenderableType:
    command = ink(_wrapped(missing, room), paper.LOUD)
    if len(command.plain) <= column and column + len(missing.brings) + 3 <= room:
        gap = " " * (column - len(command.plain) + 3)
        return command.append(gap + missing.brings, "not bold")
    return Group(command, Padding(ink(missing.brings), (0, 0, 0, 4)))


def _wrapped(missing: Missing, width: int) -> str:
    """A command that can be copied although it is longer than a line: a shell joins such lines."""
    lines = [""]
    for word in _words(missing.command):
        if lines[-1] and len(lines[-1]) + len(word) + 3 > width:
            lines[-1] += " \\"
            lines.append("  " + word)
        else:
            lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines)


def _words(command: str) -> list[str]:
    """The words of a command, with the quotes still around them."""
    lexer = shlex.shlex(command, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return command.split(" ")
