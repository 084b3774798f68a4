"""What a stack shows by its shape alone: it goes in a circle, it only waits, it gave itself up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.model.cause import Culprit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.fact import Frame

LONGEST_CYCLE = 24
DEEP = 40  # frames of one cycle that no sane program has
TORN = 3  # times that a cycle must be seen whole where the stack was cut
TORN_ALONE = 6  # the same for one function that calls itself, and for code that nests by trade
LEAVES = 1  # frames above the cycle of a torn stack
INTERPRETER = re.compile(
    r"^(?:_?Py(?:Eval|Function|CFunction|Method|Vectorcall|Call)_?\w*|_?PyObject_\w*(?:Call|call)\w*|_PyEval\w+"
    r"|\w*[vV]ectorcall\w*|function_code_fastcall|fast_function|call_function|do_call_core|method_call"
    r"|slot_tp_\w+|slot_\w+|type_call|cfunction_\w+|partial_call\w*|property_descr_get|builtin_\w+"
    r"|PyEval_\w+|wrap_\w+|wrapper_call|gen_send_ex\w*|gen_iternext|object_vacall|_?PyGen_\w+)$"
)
NESTS = re.compile(
    r"^(?:__call__|_?call|forward|_(?:wrapped_)?call_impl|_slow_forward|error_handler|run|inner|wrapper|wrapped"
    r"|decorated?|_?deepcopy\w*|deepcopy|_reconstruct|save|save_\w+|_iterencode\w*|map_structure\w*|_map\w*"
    r"|_multicall|_hookexec|_inner_hookexec|<genexpr>|<listcomp>|<lambda>|visit|generic_visit|_load_unlocked"
    r"|_call_with_frames_removed|exec_module|_find_and_load\w*|_handle_fromlist)$"
)
BOTTOM = re.compile(
    r"^(?:<module>|_bootstrap|_bootstrap_inner|_?_?libc_start\w*|_start|start_thread|clone3?|main"
    r"|thread_start|_pthread_start|BaseThreadInitThunk|RtlUserThreadStart)$"
)
PLACE = re.compile(r"^(?P<file>.+?):(?P<line>\d+) (?:in )?(?P<function>[^()]+)(?:\(\))?$")
IN_LIBRARY = re.compile(r"^(?P<function>.+) of (?P<library>\S+)$")
ARGUMENTS = re.compile(r"[(<].*$")
WAITS = {
    "threading.py": "wait|join|acquire|_wait_for_tstate_lock|_shutdown|__enter__|wait_for|_join|join_thread",
    "queue.py": "get|put|join",
    "connection.py": "_recv|_recv_bytes|recv|recv_bytes|wait|_poll|poll|accept",
    "popen_fork.py": "poll|wait",
    "popen_forkserver.py": "poll|wait",
    "selectors.py": "select",
    "socket.py": "accept|readinto|recv|connect",
    "subprocess.py": "wait|_wait|_try_wait|communicate|_communicate",
    "synchronize.py": "__enter__|acquire|wait|wait_for",
    "queues.py": "get|put|_get|_put",
    "_base.py": "result|wait|as_completed",
    "thread.py": "_worker",
    "base_events.py": "_run_once|run_forever",
    "pool.py": "wait|get|worker|_handle_(?:results|tasks|workers)|_wait_for_updates",
    "filelock.py": "acquire",
    "distributed_c10d.py": "barrier|monitored_barrier|all_reduce|broadcast|all_gather|wait",
}
NATIVE_WAITS = re.compile(
    r"^(?:_*(?:futex_\w+|lll_lock_wait\w*|pthread_(?:cond_\w*wait\w*|mutex_lock\w*|join\w*|rwlock_\w+|barrier_wait)"
    r"|(?:GI_+)?(?:libc_)?(?:e?poll|ppoll|select|epoll_wait|nanosleep|clock_nanosleep\w*|read|wait4|waitpid|accept4?|recv\w*)"
    r"|new_sem_wait\w*|sem_wait\w*|do_futex_wait\w*|psynch_\w+|ulock_wait\w*|syscall|gthread_\w+)"
    r"|PyThread_acquire_lock\w*|take_gil\w*|acquire_timed|lock_PyThread_acquire_lock)$"
)
ENDS = re.compile(
    r"^(?:(?:__)?GI_+)?_*(?:raise|abort|kill|tgkill|pthread_kill\w*|gsignal|libc_signal_restore_set|abort_msg"
    r"|restore_rt|signal handler called|pthread_kill_(?:implementation|internal)|nptl_\w+|gettid)$"
)
ABORT = re.compile(r"^(?:(?:__)?GI_+)?_*abort$")
CHECKS = re.compile(
    r"assert|terminate|fatal|check|Crash|die\b|Die\b|Fail|fail|libc_message|malloc|free|fortify|chk|smash|panic|throw"
    r"|unwind|Unwind|Log|log|Error|error|err\b|rethrow|sanitizer|Abort|cxa_|handler|Handler|signal|gomp"
    r"|unreachable|BUG|bug|exit|Exit|__cxx|verbose|pure_virtual|personality|Tcl_|g_|q[A-Z]|Q[A-Z]|ucs_|MPI_|ompi_",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """Frames that call each other in a circle: the functions, how often, and the telling frame."""

    frames: tuple[Frame, ...]
    times: int
    deep: bool

    @property
    def telling(self) -> Frame:
        """The function of the circle that is most the user's own."""
        return min(
            self.frames,
            key=lambda f: (_is_interpreter(f), bool(NESTS.match(name(f))), f.file is None),
        )


def placed(words: str) -> Culprit:
    """Whom a place names: ``train.py:7 in risky()``, ``spin of libspin.so``, or a bare name."""
    if found := PLACE.match(words):
        name, line = found["function"], int(found["line"])
        return Culprit(kind="api", name=name, function=name, file=found["file"], line=line)
    if found := IN_LIBRARY.match(words):
        name, library = found["function"], found["library"]
        return Culprit(kind="library", name=name, function=name, library=library)
    return Culprit(kind="api", name=words)


def name(frame: Frame) -> str:
    """The bare name of a frame's function, without its arguments and template parameters."""
    whole = frame.function or ""
    return whole if whole.startswith("<") else ARGUMENTS.sub("", whole).strip()


def cycle(frames: Sequence[Frame], *, overflowed: bool = False) -> Cycle | None:
    """The circle in which a stack goes, if it is one that no working program has.

    A stack which is whole must go round many times. One that was cut may show few rounds, if they
    begin at its top and reach to the cut. Where it is known that the stack ``overflowed``, two
    rounds tell which functions did it.
    """
    keys = [_key(frame) for frame in frames]
    best: tuple[int, int, int] = (0, 0, 1)  # frames in the run, where it starts, period
    for period in range(1, min(LONGEST_CYCLE, len(keys) // 2) + 1):
        length, start = _longest_run(keys, period)
        if length > best[0]:
            best = (length, start, period)
    length, start, period = best
    times = length // period
    found = Cycle(
        frames=tuple(frames[start : start + period]), times=times, deep=_is_deep(frames, best)
    )
    if times >= 2 and (found.deep or overflowed or _is_torn(frames, best, found)):
        return found
    return _crowd(frames)


def _key(frame: Frame) -> tuple[object, ...]:
    if frame.function:
        return (name(frame), frame.file or frame.library)
    return (frame.library, frame.offset, frame.file, frame.line, id(frame) if _blank(frame) else 0)


def _blank(frame: Frame) -> bool:
    return frame.offset is None and frame.line is None


def _longest_run(keys: Sequence[tuple[object, ...]], period: int) -> tuple[int, int]:
    """Length and start of the longest stretch that repeats itself after ``period`` frames."""
    best, start, same = 0, 0, 0
    for n in range(period, len(keys)):
        same = same + 1 if keys[n] == keys[n - period] else 0
        if same > best:
            best, start = same, n - same - period + 1
    return (best + period if best else 0), start


def _is_deep(frames: Sequence[Frame], run: tuple[int, int, int]) -> bool:
    length, start, period = run
    circle = frames[start : start + period]
    enough = DEEP * 25 if all(_is_interpreter(f) for f in circle) else DEEP
    return length >= max(enough, period * TORN)


def _is_torn(frames: Sequence[Frame], run: tuple[int, int, int], found: Cycle) -> bool:
    length, start, period = run
    by_trade = all(NESTS.match(name(f)) or _is_interpreter(f) for f in found.frames)
    enough = TORN_ALONE if period == 1 or by_trade else TORN
    whole = bool(BOTTOM.match(name(frames[-1]))) or start + length < len(frames)
    return (
        not whole
        and start <= LEAVES
        and found.times >= enough
        and not all(_is_interpreter(f) for f in found.frames)
    )


def _crowd(frames: Sequence[Frame]) -> Cycle | None:
    """One function that fills a stack though the way round differs from time to time."""
    times: dict[tuple[object, ...], int] = {}
    for frame in frames:
        if frame.function and not _is_interpreter(frame) and not NESTS.match(name(frame)):
            times[_key(frame)] = times.get(_key(frame), 0) + 1
    key, count = max(times.items(), key=lambda item: item[1], default=((), 0))
    if count < DEEP or count * 4 < len(frames):
        return None
    first = next(f for f in frames if _key(f) == key)
    return Cycle(frames=(first,), times=count, deep=True)


def _is_interpreter(frame: Frame) -> bool:
    return frame.language == "native" and bool(INTERPRETER.match(name(frame)))


def waits(frame: Frame) -> bool:
    """Whether a thread whose innermost frame is this one only waits for another."""
    if frame.language == "native":
        return bool(NATIVE_WAITS.match(name(frame)))
    file = re.split(r"[/\\]", frame.file or "")[-1]
    return bool(re.fullmatch(WAITS.get(file, "(?!)"), name(frame).rpartition(".")[2]))


def blame(frame: Frame) -> Culprit:
    """The culprit that a frame stands for: its function, or its file where that is the script."""
    script = frame.function == "<module>" and frame.file
    return Culprit(
        kind="file" if script else "api" if frame.function else "library",
        name=re.split(r"[/\\]", script)[-1] if script else frame.function or frame.library,
        function=frame.function,
        file=frame.file,
        line=frame.line,
        library=frame.library,
    )


def aborter(frames: Sequence[Frame]) -> Frame | None:
    """Who called abort() in this stack, if it was not a check, an allocator or an exception."""
    called = False
    for frame in frames:
        if not frame.function or not ENDS.match(name(frame)):
            tells = called and frame.function and not CHECKS.search(name(frame))
            return frame if tells else None
        called = called or bool(ABORT.match(name(frame)))
    return None
