"""The watcher that ``sigwhy.enable()`` starts; nobody types it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.run.handler import Seen, Watched


def main(words: Sequence[str]) -> None:
    """Watch the process that asked: ``PID BEGAN FOLDER follow|alone FILE``."""
    from sigwhy.run.handler import Watched, kept_from_stopping

    pid, began, folder, follow, last_words = words
    watched = Watched(pid=int(pid), began=began, follow=follow == "follow", last_words=last_words)
    kept_from_stopping(lambda: _watch(watched, Path(folder)))


def _watch(watched: Watched, folder: Path) -> None:
    from sigwhy.run.handler import Beside, beside

    with Beside() as recorder:
        _tell(beside(watched, recorder), folder)


def _tell(seen: Seen, folder: Path) -> None:
    """Keep the Incidents, and say the first where the process would have said it."""
    from sigwhy.explain import judge
    from sigwhy.model.case import Gathered
    from sigwhy.run.shelf import Shelf

    paths = [Shelf(folder).put(incident, core).path for incident, core in seen.incidents]
    kept = [str(path) if path else None for path in paths]
    if not seen.incidents or seen.stderr is None:
        return
    from sigwhy.report import text

    report = judge(Gathered(()), seen.incidents[0][0], kept_in=kept[:1])
    with os.fdopen(seen.stderr, "w", encoding="utf-8", errors="replace") as out:
        out.write(text.render(report, width=80, colour=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
