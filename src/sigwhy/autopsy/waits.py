"""Who waits for what, and who would have to let it go on: the story of a hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.standing import Standing, standing
from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Notice, Ran, Stuck, Waits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.incident import Incident, Process, PythonFrame, Turning

MOST_TOLD = 40
FORKERS = {"popen_fork.py": "_launch"}
WORKERS = {
    "multiprocessing/pool.py": "multiprocessing.Pool",
    "concurrent/futures/": "concurrent.futures",
    "torch/utils/data/": "torch.utils.data.DataLoader",
    "joblib/": "joblib",
    "multiprocessing/": "multiprocessing",
}


def tell(incident: Incident) -> Iterator[Told]:
    """Nothing of a death by a fault; of all that hung, or that somebody attached to, everything."""
    if incident.hang_seconds is None and incident.turning is None and incident.way != "attach":
        return
    yield _who(incident)
    found = [standing(incident, thread) for thread in incident.threads]
    turning = _turning(incident, incident.turning)
    yield from turning
    yield from _stuck(incident, found, turns=incident.turning is not None)
    yield from _each(found)
    yield from _others(incident)
    if incident.turning or not found:
        return
    circle = _circle(found)
    if circle:
        yield from _told_circle(circle)
    else:
        yield from _left_behind(incident, found)
    yield from _lost_workers(incident)


def _who(incident: Incident) -> Told:
    command = " ".join(incident.command)
    fact = Ran(span=NO_SPAN, command=command) if command else None
    return Told.of(f"process {incident.pid} ({command}) was looked at while it lived", fact)


def _turning(incident: Incident, turning: Turning | None) -> list[Told]:
    """A thread that computes, and whether it turns on the spot."""
    if turning is None:
        return []
    thread = next((t for t in incident.threads if t.tid == turning.tid), None)
    name = f" ({thread.name})" if thread and thread.name else ""
    words = f"thread {turning.tid}{name} used {turning.share:.0%} of a CPU; {turning.looks} looks found it "
    if not turning.on_the_spot:
        return [Told.of(f"{words}in {turning.stacks} different places: it computes")]
    same = "with the same registers again and again" if turning.repeats else "with the same stack"
    words += f"within {turning.span_bytes} bytes of code, {same}: it turns in a loop of native code"
    fact = Stuck(span=NO_SPAN, spinning=True, seconds=incident.hang_seconds)
    return [Told.of(words, fact, words="turns in a loop")]


def _stuck(incident: Incident, found: Sequence[Standing], *, turns: bool) -> Iterator[Told]:
    seconds = incident.hang_seconds
    if turns or not found or seconds is None or any(one.what == "runs" for one in found):
        return
    span = f" for {seconds:.0f} s" if seconds >= 1 else ""
    yield Told.of(
        f"nothing moved{span}: no thread of process {incident.pid} used the CPU",
        Stuck(span=NO_SPAN, spinning=False, seconds=seconds),
        words="nothing moved",
    )


def _each(found: Sequence[Standing]) -> Iterator[Told]:
    """One line for each thread; those of a pool that wait alike share one."""
    alike: dict[tuple[object, ...], list[Standing]] = {}
    for one in found:
        key = (one.what, one.holder, one.child, one.descriptor, one.place, one.by)
        alike.setdefault(key, []).append(one)
    for group in list(alike.values())[:MOST_TOLD]:
        one = group[0]
        more = f", and {len(group) - 1} more alike" if len(group) > 1 else ""
        fact = Waits(
            span=NO_SPAN,
            what=one.what,
            thread=str(one.thread.tid),
            holder=str(one.holder) if one.holder else None,
            process=one.child,
            place=one.place or one.by,
        )
        yield Told.of(one.words + more, None if one.what == "runs" else fact)


def _others(incident: Incident) -> Iterator[Told]:
    for process in incident.processes:
        if process.stands and process.pid != incident.pid:
            command = " ".join(process.command)
            yield Told.of(f"process {process.pid} ({command}) {process.stands}")


# ---- who waits for whom ---------------------------------------------------------------------


def _circle(found: Sequence[Standing]) -> list[Standing]:
    """Threads that wait for each other in a circle."""
    by = {one.thread.tid: one for one in found}
    for one in found:
        way: list[Standing] = []
        here: Standing | None = one
        while here and here.holder and here not in way:
            way.append(here)
            here = by.get(here.holder)
        if here and here in way:
            return way[way.index(here) :]
    return []


def _told_circle(circle: list[Standing]) -> Iterator[Told]:
    says = "; ".join(one.words for one in circle)
    native = next((one for one in circle if one.what != "gil" and one.by), None)
    if any(one.what == "gil" for one in circle):
        yield Told.of(
            f"native code keeps the GIL while it waits for a thread that wants it: {says}",
            Notice(
                span=NO_SPAN,
                topic="gil-kept-while-waiting",
                text=says,
                subject=native.by if native else None,
                mechanism="deadlock",
            ),
        )
        return
    place = next((one.place or one.by for one in circle if one.place or one.by), None)
    yield Told.of(
        f"threads wait for each other in a circle: {says}",
        Notice(
            span=NO_SPAN,
            topic="waits-in-a-circle",
            text=says,
            subject=place,
            mechanism="deadlock",
        ),
    )


def _left_behind(incident: Incident, found: Sequence[Standing]) -> Iterator[Told]:
    """Locks whose holder is not here, and threads that only each other could wake."""
    tids = {thread.tid for thread in incident.threads}
    forked = _is_forked(incident)
    lost = next((o for o in found if o.holder and o.what == "lock" and o.holder not in tids), None)
    if lost:
        yield _told(
            "lock-of-the-parent" if forked else "holder-is-gone",
            f"thread {lost.holder} holds the lock, and no such thread is in this process",
            lost,
            incident,
        )
    elif _no_python_is_left(found):
        words = "all threads of Python wait for each other; native ones that wake up now and then hold none of their locks"
        yield _told("python-waits-for-itself", words, _main(found), incident)
    elif all(one.inside for one in found):
        count = len(found)
        if count == 1 and forked:
            yield _told(
                "alone-after-fork",
                "the only thread of this forked process waits for another thread, and there is none",
                found[0],
                incident,
            )
        elif count == 1:
            words = "the only thread of this process waits for a lock, and nobody else is there to give it"
            yield _told("nobody-lets-go", words, found[0], incident)
        else:
            words = (
                f"all {count} threads wait for each other: nobody is left who could let one go on"
            )
            yield _told("nobody-lets-go", words, _main(found), incident)


def _no_python_is_left(found: Sequence[Standing]) -> bool:
    """Whether only native threads that sleep for a while are left beside Python's that wait."""
    python = [one for one in found if one.thread.python]
    others = [one for one in found if not one.thread.python and not one.inside]
    waits = all(one.inside and one.is_in_python for one in python)
    return bool(python and others) and waits and all(o.what == "sleep" or o.limited for o in others)


def _told(topic: str, words: str, one: Standing, incident: Incident) -> Told:
    place = forked_at(incident) if "fork" in topic or "parent" in topic else None
    if place:
        words += f"; it was forked at {place}"
    fact = Notice(
        span=NO_SPAN,
        topic=topic,
        text=words,
        subject=place or one.place or one.by,
        mechanism="deadlock",
    )
    return Told.of(words, fact)


def _main(found: Sequence[Standing]) -> Standing:
    """The thread with the user's own line, the first one if it has one."""
    return next((one for one in found if one.place), found[0])


def _lost_workers(incident: Incident) -> Iterator[Told]:
    """A worker that died while this process waits for its answer."""
    pooled = _pool(incident)
    for process in incident.processes:
        if process.pid == incident.pid or not process.signal or not _is_below(process, incident):
            continue
        command = " ".join(process.command)
        words = (
            f"process {process.pid} ({command}) died of {process.signal} while this one waits on"
        )
        fact = Notice(
            span=NO_SPAN,
            topic="worker-died-of-signal",
            text=words,
            subject=pooled,
            mechanism="killed" if process.signal in ("SIGKILL", "SIGTERM") else None,
        )
        yield Told.of(words, fact, words=process.signal)


def _is_below(process: Process, incident: Incident) -> bool:
    return process.parent == incident.pid


def _pool(incident: Incident) -> str | None:
    files = [frame.file for thread in incident.threads for frame in thread.python]
    return next(
        (name for part, name in WORKERS.items() if any(part in file for file in files)), None
    )


# ---- forks ----------------------------------------------------------------------------------


def _is_forked(incident: Incident) -> bool:
    own = next((p for p in incident.processes if p.pid == incident.pid), None)
    return bool(own and own.forked) or forked_at(incident) is not None


def forked_at(incident: Incident) -> str | None:
    """The line that forked this process: its stack still holds who called multiprocessing."""
    for process in incident.processes:
        if process.pid == incident.pid and process.forked_from:
            return process.forked_from
    for thread in incident.threads:
        frames = thread.python
        for n, frame in enumerate(frames):
            file = frame.file.replace("\\", "/").rpartition("/")[2]
            if FORKERS.get(file) == frame.function.rpartition(".")[2]:
                return _caller(frames[n + 1 :])
    return None


def _caller(frames: Sequence[PythonFrame]) -> str | None:
    """The first frame below those of multiprocessing."""
    for frame in frames:
        path = frame.file.replace("\\", "/")
        if not any(part in path for part in WORKERS):
            return f"{frame.file}:{frame.line} in {frame.function}()"
    return None
