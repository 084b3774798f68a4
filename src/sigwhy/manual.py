"""The manual: what is known about each cause and each check, from the docstrings of the knowledge itself."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import takewhile
from typing import TYPE_CHECKING

from sigwhy.causes import causes
from sigwhy.checks import checks
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from types import ModuleType

HEADING = re.compile(r"^([A-Z][\w ]{1,28}):\s+")

PLAIN_WORD = re.compile(r"[a-z]+[ ,]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page: ``parts`` are headings with the paragraphs below them."""

    id: str
    title: str
    summary: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    sources: tuple[str, ...] = ()


def pages() -> tuple[Page, ...]:
    """Every page of a cause, by id."""
    found = (
        _page(file.CAUSE.id, file.CAUSE.title, file.__doc__ or "", file.CAUSE.sources)
        for file in causes().values()
    )
    return tuple(sorted(found, key=lambda page: page.id))


def check_pages() -> tuple[Page, ...]:
    """Every page of a check, by id."""
    found = (
        _page(file.CHECK.id, file.CHECK.title, file.__doc__ or "", file.CHECK.sources)
        for file in checks().values()
    )
    return tuple(sorted(found, key=lambda page: page.id))


def page(id: str) -> Page:  # noqa: A002 -- the word of the taxonomy
    """The page of one cause or check. Raises ``UsageError`` where there is none, and says what is near."""
    known = {page.id: page for page in (*pages(), *check_pages())}
    wanted = id.strip().lower().replace("_", "-")
    if wanted in known:
        return known[wanted]
    near = get_close_matches(wanted, known, n=3, cutoff=0.5)
    near += [one for one in known if set(wanted.split("-")) & set(one.split("-"))]
    names = ", ".join(dict.fromkeys(near[:4]))
    hint = f"did you mean {names}?" if names else "sigwhy cause lists all"
    raise UsageError(f"no cause is called {id[:80]!r}, and no check; {hint}")


def _page(id: str, title: str, text: str, sources: tuple[str, ...]) -> Page:  # noqa: A002 -- the word of the taxonomy
    first, *rest = re.split(r"\n\s*\n", inspect.cleandoc(text))
    parts: list[tuple[str, list[str]]] = []
    for paragraph in rest:
        words = " ".join(paragraph.split())
        if found := HEADING.match(words):
            parts.append((found[1], [_begun(words[found.end() :])]))
        elif parts:
            parts[-1][1].append(words)
        else:
            parts.append(("", [words]))
    return Page(
        id=id,
        title=title,
        summary=" ".join(first.split()),
        parts=tuple((heading, tuple(words)) for heading, words in parts),
        sources=sources,
    )


def _begun(words: str) -> str:
    """With a capital, unless the first word is a name, which has its own spelling."""
    return words[0].upper() + words[1:] if PLAIN_WORD.match(words) else words


def looks_like(form: ModuleType) -> tuple[str, tuple[str, ...]]:
    """The summary of a format's docstring, and the lines of its example."""
    head, _, rest = inspect.cleandoc(form.__doc__ or "").partition("::\n\n")
    example = takewhile(lambda line: not line or line.startswith(" "), rest.split("\n"))
    lines = inspect.cleandoc("\n".join(["", *example])).split("\n")
    return " ".join(head.split("\n\n")[0].split()), tuple(lines)
