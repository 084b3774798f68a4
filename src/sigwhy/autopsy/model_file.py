"""The file of a model that was mapped: whether it is still as long as it was when it was loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident

PAGE = 4096


def tell(incident: Incident) -> Iterator[Told]:
    """Where a page of the model could not be had: the file shrank, or the model leads past its end."""
    signal = incident.signal
    if signal is None or signal.name != "SIGBUS" or signal.address is None:
        return
    models = (operation.model for operation in incident.operations)
    model = next((m for m in models if m and m.path and m.address and m.size), None)
    if model is None or not model.address or not model.size:
        return
    now, into = incident.sizes.get(model.path), signal.address - model.address
    inside = any(
        m.path == model.path and m.start <= signal.address < m.end for m in incident.mappings
    )
    if now is not None and model.size > now:
        line = f"the model {model.path} had {model.size} bytes when it was loaded, and its file has {now} now"
        topic = "model-shrank"
    elif inside and into >= model.size // PAGE * PAGE:
        line = f"{signal.address:#x} lies {into} bytes into the model {model.path}, which has {model.size}"
        topic = "model-read-past-end"
    else:
        return
    notice = Notice(span=NO_SPAN, topic=topic, text=line, subject=model.path)
    yield Told.of(line, notice, words=model.path)
