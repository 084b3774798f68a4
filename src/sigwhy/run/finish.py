"""What is added to a look when the process has been let go: native frames, wheels, source lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sigwhy.autopsy import native_frames, wheels
from sigwhy.autopsy.borne_out import borne_out
from sigwhy.run.built_for import built_for
from sigwhy.run.sources import sources

if TYPE_CHECKING:
    from sigwhy.autopsy.apart import Apart
    from sigwhy.model.incident import Incident
    from sigwhy.run.capture import Look


def finished(pid: int, kept: Look, unwinding: Apart | None) -> Incident:
    """The Incident of a look; ``unwinding`` makes the native frames, where there is a core."""
    found = kept.incident
    blind, threads = list(found.blind), found.threads
    if unwinding:
        plain, trouble = unwinding.result()
        if trouble:
            blind.append(f"the native frames: {trouble}")
        frames = native_frames.frames(plain or {})
        threads = [msgspec.structs.replace(t, native=frames.get(t.tid, [])) for t in threads]
    root = f"/proc/{pid}/root"
    found = msgspec.structs.replace(
        wheels.of_small_core(msgspec.structs.replace(found, threads=threads), kept.core),
        sources=sources(threads, root=root, script=kept.script),
        built_for=dict(built_for(found.modules, root)),
        blind=blind,
    )
    return borne_out(found)
