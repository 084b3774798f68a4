"""Writes the pages that are generated: one for each cause and check, their lists, and the list of formats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.manual import check_pages, looks_like, pages
from sigwhy.model.check import KINDS
from sigwhy.read import formats
from sigwhy.report.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.manual import Page

DOCS = Path(__file__).parents[1] / "docs"
ROOMS = ("causes", "checks")
MADE = "<!-- made by tools/docs.py from the docstrings of src/sigwhy: change those -->"
CODE = re.compile(r"``(.+?)``")
NAMED = re.compile(r"^(https?://\S+)$")
LINK = r"<\1>"


def documents() -> dict[Path, str]:
    """Every generated page, by its path below ``docs``."""
    causes, checks = pages(), check_pages()
    return {
        Path("causes/README.md"): _text(_index(causes)),
        Path("checks/README.md"): _text(_list(checks)),
        Path("formats.md"): _text(_formats()),
        **{Path(f"causes/{page.id}.md"): _text(_page(page, "causes")) for page in causes},
        **{Path(f"checks/{page.id}.md"): _text(_page(page, "checks")) for page in checks},
    }


def strays() -> list[Path]:
    """Pages of causes and checks that are no more."""
    known = documents()
    found = (path.relative_to(DOCS) for room in ROOMS for path in (DOCS / room).glob("*.md"))
    return sorted(path for path in found if path not in known)


def _text(lines: Iterator[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _prose(words: str) -> str:
    """Prose in which only code between double backticks is marked up."""
    parts = CODE.split(words)
    return "".join(f"`{p}`" if n % 2 else plain(p) for n, p in enumerate(parts))


def _page(page: Page, room: str) -> Iterator[str]:
    yield from (MADE, f"# {page.id}", "", f"**{_prose(page.summary)}**")
    for heading, paragraphs in page.parts:
        if heading:
            yield from ("", f"## {heading}")
        for paragraph in paragraphs:
            yield from ("", _prose(paragraph))
    if page.sources:
        yield from ("", "## Sources", "")
        yield from (f"* {NAMED.sub(LINK, source)}" for source in page.sources)
    yield from ("", f"[All {room}](README.md)")


def _index(manual: tuple[Page, ...]) -> Iterator[str]:
    yield from (MADE, "# The causes", "")
    yield f"sigwhy knows {len(manual)} things that kill processes. `sigwhy cause ID` shows the same pages."
    yield from ("", "| id | why it died |", "|---|---|")
    yield from (f"| [{page.id}]({page.id}.md) | {_prose(page.title)} |" for page in manual)


def _list(manual: tuple[Page, ...]) -> Iterator[str]:
    yield from (MADE, "# The checks", "")
    yield f"`sigwhy check` looks for {len(manual)} mistakes. `sigwhy cause ID` shows the same pages."
    for kind, title in KINDS.items():
        some = [page for page in manual if page.id.split("-", 1)[0] == kind]
        if some:
            yield from (
                "",
                f"## {title[0].upper() + title[1:]}",
                "",
                "| id | mistake |",
                "|---|---|",
            )
            yield from (f"| [{page.id}]({page.id}.md) | {_prose(page.title)} |" for page in some)


def _formats() -> Iterator[str]:
    known = formats()
    yield from (MADE, "# What can be read", "")
    yield f"{len(known)} formats, told apart by content; one text may hold several, torn and mixed."
    for name, form in sorted(known.items()):
        summary, example = looks_like(form)
        yield from ("", f"## {name}", "", _prose(summary), "", "```text", *example, "```")


def _write() -> None:
    for path in strays():
        (DOCS / path).unlink()
    for path, text in documents().items():
        target = DOCS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    print(f"{len(documents())} pages in {DOCS}")


if __name__ == "__main__":
    _write()
