"""The native frames of all threads of a core, by drgn.

Only plain values leave this file, so that it can run apart. drgn finds the libraries by the list of
the loader in the core and unwinds with their tables; names come from their symbols, which release
wheels keep.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from sigwhy.autopsy.jumped import unwindable
from sigwhy.machine.demangle import demangled
from sigwhy.model.incident import NativeFrame

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_THREADS = 256
MOST_FRAMES = 1100
MOST_OF_OTHERS = 80
STACK_JUMP = 64 << 20
SAME_ENOUGH = 4

NOWHERE = (None, None, None, None, None, False, False)  # all that is known of no code

Call = tuple[int, str | None, str | None, int | None, str | None, int | None, bool, bool]


def of_core(path: str) -> dict[int, list[Call]]:
    """Frames by thread as plain values, innermost first; the crashed thread has most of them."""
    import drgn

    program = drgn.Program()
    core, jumped_to = unwindable(path)
    program.set_core_dump(core)
    with contextlib.suppress(drgn.MissingDebugInfoError):  # release wheels have none
        program.load_default_debug_info()
    crashed = _crashed(program)
    frames: dict[int, list[Call]] = {}
    if crashed is not None:
        calls = list(_calls(program, crashed, MOST_FRAMES))
        target = [] if jumped_to is None else [(jumped_to, *NOWHERE)]
        frames[crashed.tid] = [*target, *calls]
    for thread, _ in zip(program.threads(), range(MOST_THREADS), strict=False):
        if thread.tid not in frames:
            frames[thread.tid] = list(_calls(program, thread, MOST_OF_OTHERS))
    return frames


def _crashed(program: Any) -> Any:
    try:
        return program.crashed_thread()
    except (ValueError, LookupError):
        return None


def _calls(program: Any, thread: Any, most: int) -> Iterator[Call]:
    try:
        trace = thread.stack_trace()
    except (ValueError, LookupError):
        return
    before = same = 0
    for frame, _ in zip(trace, range(most), strict=False):
        try:
            call = _call(program, frame)
        except (LookupError, ValueError):
            continue
        here = frame.sp
        same = same + 1 if here == before and not call[6] else 0
        if same >= SAME_ENOUGH or 0 < before - here < STACK_JUMP:
            return  # it stays or goes back: it turns in a circle; a jump is another stack
        before = here
        yield call


def _call(program: Any, frame: Any) -> Call:
    at = frame.pc
    function = _name(frame)
    library = offset = None
    try:
        module = program.module(at)
        library = module.name
        offset = at - _begin(module)
    except (LookupError, ValueError, TypeError):
        pass
    file, line = _source(frame)
    return at, function, library, offset, file, line, frame.is_inline, frame.interrupted


def _begin(module: Any) -> int:
    """Where a library begins; those that were edited after linking (OpenBLAS) lie in several pieces."""
    pieces = getattr(module, "address_ranges", None) or [module.address_range]
    return int(min(begin for begin, _ in pieces))


def _name(frame: Any) -> str | None:
    if frame.is_inline and frame.name:
        return str(frame.name)  # the symbol would be that of the function around it
    try:
        return str(frame.name if frame.is_inline else frame.symbol().name)
    except LookupError:
        name = str(frame.name or "")
        return name if name and not name.startswith("0x") else None


def _source(frame: Any) -> tuple[str | None, int | None]:
    try:
        file, line, _ = frame.source()
    except LookupError:
        return None, None
    return file or None, line or None


def frames(plain: dict[int, list[Call]]) -> dict[int, list[NativeFrame]]:
    """The frames by thread, with names as one reads them."""
    return {
        tid: [
            NativeFrame(
                address=at,
                function=demangled(function) if function else None,
                library=library,
                offset=offset,
                file=file,
                line=line,
                inline=inline,
            )
            for at, function, library, offset, file, line, inline, _ in calls
        ]
        for tid, calls in plain.items()
    }
