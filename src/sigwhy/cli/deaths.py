"""What is done about the deaths of a watched command: keep each, say why, tell others.

Whatever fails here leaves the command's own end alone; one line says so.
"""

from __future__ import annotations

import contextlib
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from sigwhy.model.incident import Incident
    from sigwhy.model.report import Report

SIZE = re.compile(r"\d{1,18}(?:\.\d{1,6})? ?(?:[KMGTP]i?)?B?", re.IGNORECASE)
KEEP, KEEP_BYTES = 20, "200MB"  # as in sigwhy.run.shelf, which is loaded when somebody dies


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what is to be done about a death."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the verdict as JSON to this file; - is standard output",
    )
    parser.add_argument(
        "--incidents",
        metavar="DIR",
        help="where Incidents are kept (default: the folder you are in)",
    )
    parser.add_argument(
        "--keep",
        metavar="N",
        default=KEEP,
        help=f"how many Incidents stay there; the oldest go first (default: {KEEP})",
    )
    parser.add_argument(
        "--keep-bytes",
        metavar="SIZE",
        default=KEEP_BYTES,
        help=f"how much room they may take, as 50MB or 2GB (default: {KEEP_BYTES})",
    )
    parser.add_argument(
        "--no-core", action="store_true", help="keep no memory: only what the report tells"
    )
    parser.add_argument(
        "--redact",
        metavar="PATTERN",
        action="append",
        default=[],
        help="hide what this regular expression finds, besides keys and passwords; may be repeated",
    )
    parser.add_argument(
        "--on-death",
        metavar="CMD",
        help="run this by the shell after a death, with SIGWHY_INCIDENT and SIGWHY_SIGNATURE set",
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing; keep the Incident")


@dataclass(slots=True)
class Deaths:
    """Tells of deaths, one after the other; the same one again is said in one line."""

    json: str | None = None
    folder: Path = field(default_factory=Path)
    keep: int = KEEP
    keep_bytes: int = 0
    core: bool = True
    hidden: tuple[re.Pattern[str], ...] = ()
    on_death: str | None = None
    quiet: bool = False
    told: dict[str, int] = field(default_factory=dict)  # how often each was told, by signature

    @classmethod
    def of(cls, args: argparse.Namespace) -> Deaths:
        """As the user wants it; raises ``UsageError`` where that cannot be."""
        return cls(
            json=args.json,
            folder=Path(args.incidents or "."),
            keep=count(args.keep, "--keep"),
            keep_bytes=size(args.keep_bytes, "--keep-bytes"),
            core=not args.no_core,
            hidden=_compiled(args.redact),
            on_death=args.on_death,
            quiet=args.quiet,
        )

    def tell(self, incidents: Sequence[tuple[Incident, Path | None]]) -> None:
        """Keep all, and say why the first of them died."""
        if not incidents:
            return
        from sigwhy.autopsy.redact import whole
        from sigwhy.explain import judge
        from sigwhy.model.case import Gathered
        from sigwhy.model.signature import signature

        cleaned = [(whole(incident, self.hidden), core) for incident, core in incidents]
        kept = [self._kept(incident, core) for incident, core in cleaned]
        report = judge(Gathered(()), cleaned[0][0], kept_in=[str(kept[0]) if kept[0] else None])
        if self.json:
            from sigwhy.cli.explain import document
            from sigwhy.cli.output import write

            write(document(report, "json"), self.json)
        if not _is_worth_telling(report):
            return
        again = signature(report)
        self.told[again] = self.told.get(again, 0) + 1
        self._print(report, times=self.told[again], kept=kept[0])
        if self.on_death:
            self._run_hook(kept[0], again)

    def _kept(self, incident: Incident, core: Path | None) -> Path | None:
        """Where an Incident lies now; a plain exit status is not worth a file."""
        if not incident.threads and not incident.signal:
            return None
        from sigwhy.run.shelf import Shelf

        shelf = Shelf(self.folder, self.keep, self.keep_bytes)
        kept = shelf.put(incident, core if self.core else None)
        if kept.word and not self.quiet:
            say(kept.word)
        return kept.path

    def _print(self, report: Report, *, times: int, kept: Path | None) -> None:
        if self.quiet or not sys.stderr:
            return
        if times > 1:
            from sigwhy.report.headline import headline

            say(f"{headline(report)}: the same again, {times} times by now ({kept or 'not kept'})")
            return
        from sigwhy.cli.output import width
        from sigwhy.report import text

        print(text.render(report, width=width(), colour=sys.stderr.isatty()), file=sys.stderr)

    def _run_hook(self, kept: Path | None, again: str) -> None:
        from sigwhy.run import on_death

        trouble = on_death.tell(self.on_death or "", incident=kept, signature=again)
        if trouble and not self.quiet:
            say(trouble)


def say(line: str) -> None:
    """One line on standard error, where there is one."""
    if sys.stderr:
        with contextlib.suppress(OSError):
            print(f"sigwhy: {line}", file=sys.stderr, flush=True)


def count(word: str | int, option: str) -> int:
    """A whole number, 0 or more."""
    try:
        number = int(word)
    except ValueError:
        number = -1
    if number < 0:
        raise UsageError(f"{option} {word!r} is no number; give a whole one, as {option} 20")
    return number


def size(word: str, option: str) -> int:
    """An amount of memory, as people write it."""
    from sigwhy.machine.sizes import bytes_of

    number = bytes_of(word) if SIZE.fullmatch(word.strip()) else None
    if number is None:
        raise UsageError(f"{option} {word!r} is no amount; give bytes, or 50MB, or 2GB")
    return number


def _compiled(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    if not patterns:
        return ()
    from sigwhy.autopsy.redact import compiled

    return compiled(patterns)


def _is_worth_telling(report: Report) -> bool:
    """An ordinary exception, or an exit status without more, is the program's own affair."""
    cause = report.verdict.cause.id if report.verdict else None
    incident = report.incidents[0]
    return (
        bool(incident.threads)
        or incident.signal is not None
        or (cause is not None and cause != "none")
    )
