"""The report for a bug tracker. What was quoted cannot break out of its fence or call people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.report.story import tell
from sigwhy.report.threads import threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.report import Report
    from sigwhy.report.given import Given
    from sigwhy.report.story import Point, Story
    from sigwhy.report.threads import Shown

SIGNS = re.compile(r"([\\`*_\[\]<>#|~&$])")
CALLS = re.compile(r"(@|\\#)(?=\w)")  # a tracker mails @somebody and links #12
CUT = r"\1<!-- -->"
MOST_CALLS = 120
TICKS = re.compile(r"`+")


def render(report: Report) -> str:
    """Write a report as Markdown."""
    return "\n".join(_lines(report, tell(report)))


def _lines(report: Report, story: Story) -> Iterator[str]:
    yield f"**sigwhy: {plain(story.headline)}**"
    yield from _said(story)
    if story.given:
        yield from ("", *fenced(_given(story.given)))
    yield from _likely(story)
    yield from _evidence("Evidence for it" if story.decided else "What was read", story.speaks_for)
    yield from _evidence("Evidence against it", story.speaks_against)
    if story.decided and not story.speaks_against:
        yield from ("", "**Evidence against it:** nothing")
    yield from _stacks(report)
    if story.untold:
        yield from ("", f"And {story.untold} more.")
    if story.doubt:
        yield from ("", f"**Doubt:** {plain(story.doubt)}")
    if story.next:
        yield from ("", "**Next:**" if story.decided else "**To decide, best first:**", "")
        yield from (f"* {code(m.command)} {plain(m.brings)}" for m in story.next)
    for note in story.notes:
        yield from ("", f"Note: {plain(note)}")


def _likely(story: Story) -> Iterator[str]:
    if story.likely:
        yield from ("", plain(story.ranking), "")
    for one in story.likely:
        says = f" ({plain(one.says)})" if one.says else ""
        yield f"* {one.percent} {plain(one.title)}, {code(one.id)}{says}"


def _said(story: Story) -> Iterator[str]:
    yield from ("", f"**{'Why' if story.decided else 'So far'}:** {plain(story.why)}")
    if story.where:
        yield from ("", f"**Where:** {'; '.join(code(place) for place in story.where)}")
    if story.memory:
        yield from ("", f"**Memory:** {plain(story.memory)}")
    if story.blame:
        yield from ("", f"**Blame:** {code(story.blame)}")
    if story.fix:
        yield from ("", f"**Fix:** {plain(story.fix)}")


def _given(told: Given) -> list[str]:
    """What the operation was given, as lines of plain text."""
    wide = max((len(row.name) for row in told.rows), default=0)
    types = max((len(row.type) for row in told.rows), default=0)
    lines = [
        f"{row.name:<{wide}}  {row.type:<{types}}  {row.values}{'  <- guilty' if row.guilty else ''}"
        for row in told.rows
    ]
    lines += [f"and {told.untold} more inputs"] if told.untold else []
    return [*lines, *(words for words in (told.attributes, told.place) if words)]


def _stacks(report: Report) -> Iterator[str]:
    """The stack where it died, whole; of the other threads only how many there were."""
    all_of_them = [thread for thread in threads(report) if thread.merged]
    died = [thread for thread in all_of_them if thread.crashed] or all_of_them[:1]
    for thread in died:
        others = len(all_of_them) - len(died)
        beside = f"; {others} other thread{'s' if others > 1 else ''} stood beside it"
        yield from ("", f"<details><summary>Stack ({thread.count})</summary>", "")
        yield from (plain(thread.title + (beside if others else "")), "")
        yield from fenced([stack_line(call) for call in thread.calls[:MOST_CALLS]])
        yield from ("", "</details>")


def stack_line(call: Shown) -> str:
    """One call as a line of plain text."""
    times = f"  ({call.times} times in a row)" if call.times > 1 else ""
    wheel = f"  [{call.wheel}]" if call.wheel else ""
    return f"{'> ' if call.culprit else '  '}{call.words}{wheel}{times}"


def _evidence(heading: str, points: tuple[Point, ...]) -> Iterator[str]:
    if not points:
        return
    yield from ("", f"<details><summary>{heading} ({len(points)})</summary>", "")
    for point in points:
        yield f"* {plain(point.says)} ({point.kind} {point.weight:+d}; {code(point.place)})"
        yield from ("", *_fence(point), "")
    yield "</details>"


def _fence(point: Point) -> Iterator[str]:
    digits = len(str(point.lines[-1].number))
    yield from fenced(
        [f"{line.number:>{digits}} {'>' if line.hit else ' '} {line.text}" for line in point.lines]
    )


def fenced(lines: list[str]) -> Iterator[str]:
    """Lines in a fence that none of them can close."""
    ticks = "`" * max(3, 1 + _longest_run("\n".join(lines)))
    yield f"{ticks}text"
    yield from lines
    yield ticks


def plain(words: str) -> str:
    """Words that mean themselves and nothing to Markdown."""
    return CALLS.sub(CUT, SIGNS.sub(r"\\\1", words))


def code(words: str) -> str:
    """Words between as many backticks as they need."""
    ticks = "`" * (1 + _longest_run(words))
    gap = " " if words.startswith("`") or words.endswith("`") else ""
    return f"{ticks}{gap}{words}{gap}{ticks}"


def _longest_run(words: str) -> int:
    return max((len(run) for run in TICKS.findall(words)), default=0)
