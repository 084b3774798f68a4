"""Two threads were inside of one TensorFlow Lite interpreter, which is made for one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident


def tell(incident: Incident) -> Iterator[Told]:
    """The thread that died and another one, in calls of the same interpreter."""
    found = [o for o in incident.operations if o.framework == "tflite" and o.model]
    died = next((o for o in found if o.state != "beside"), None)
    owner = died.model.owner if died and died.model else None
    if died is None or owner is None:
        return
    for other in found:
        if other.tid != died.tid and other.model and other.model.owner == owner:
            line = f"thread {died.tid} was in {died.call or died.op}, and thread {other.tid} in {other.call or other.op} of the same interpreter"
            notice = Notice(
                span=NO_SPAN, topic="interpreter-shared", text=line, subject=died.call or died.op
            )
            yield Told.of(line, notice)
            return
