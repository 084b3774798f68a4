"""``sigwhy.enable()``: for a process that sigwhy did not start, a Jupyter kernel or a server's worker.

Nothing is installed in the process. A watcher is started beside it, which belongs to nobody in the
program: no child, no descriptor, no signal handler. It stops the process with ptrace at the signal
that kills it, looks, and lets it die as it would have.

This file runs in the user's process: it loads nothing that Python has not loaded anyway, and works
from Python 3.8 on.
"""

from __future__ import annotations

import os
import sys

SHELL = "/bin/sh"
# A shell that leaves at once makes the watcher nobody's child of ours, and tells its process id.
START = '"$@" </dev/null >/dev/null 2>&1 & echo $!'
WATCHER = "import sys; sys.path[:0] = sys.argv[1:2]; from sigwhy.cli.beside import main; main(sys.argv[2:])"
SET_PTRACER = 0x59616D61
HIGH = 500  # descriptors that nobody closes in passing, and that open() does not give away
PTRACE_CAPABILITY = 19
_watched: dict[int, str] = {}


def enable(
    *,
    incidents: str | None = None,
    follow: bool = False,
    wait: float = 0.0,
    python: str | None = None,
) -> str:
    """Watch this process from now on; when it dies of a signal, say why.

    ``incidents`` is the folder for the Incident (the one you are in), ``follow`` watches processes
    that it starts, too. It returns at once, and the watcher needs a fraction of a second to begin:
    ``wait`` waits for that, so many seconds at most. ``python`` is the interpreter that runs the
    watcher, where sigwhy is not installed in this one.

    Returns the way: ``trace``, ``handler`` where ptrace is refused (then faulthandler writes the
    Python lines to a file beside the Incidents), ``watched`` where somebody watches already, or
    ``off`` where there is no such way.
    """
    if os.name != "posix" or sys.platform != "linux" or not os.access(SHELL, os.X_OK):
        return "off"
    told = _status()
    if int(told.get("TracerPid", "0")):
        return "watched"
    way = _watched.get(os.getpid())
    if way:
        return way
    folder = os.path.abspath(incidents or ".")
    way = "handler" if _is_refused(told) else "trace"
    words = ""
    if (
        way == "handler" or told.get("Seccomp", "0") != "0"
    ):  # a filter may refuse, and asking may kill
        words = _last_words(folder)
    program = python or sys.executable or "python3"
    task = [str(os.getpid()), _began(), folder, "follow" if follow else "alone", words]
    watcher = _start([program, "-I", "-c", WATCHER, _home(), *task])
    if watcher and way == "trace":
        _allow(watcher)
        _wait_for(wait)
    _watched[os.getpid()] = way
    return way


def _start(command: list[str]) -> int:
    """Run the watcher; gives its process id."""
    told, tell = os.pipe()
    # The pipe first: where the program has closed its standard streams it has their numbers.
    actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
        (os.POSIX_SPAWN_DUP2, tell, 1)
    ]
    actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 2)]
    actions += [(os.POSIX_SPAWN_CLOSE, number) for number in _inheritable()]
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ
    }
    try:
        shell = os.posix_spawn(
            SHELL, ["sh", "-c", START, "sh", *command], kept, file_actions=actions, setsigmask=()
        )
    except OSError:
        os.close(told)
        os.close(tell)
        return 0
    os.close(tell)
    try:
        word = os.read(told, 32)
    finally:
        os.close(told)
    _reap(shell)
    return int(word) if word.strip().isdigit() else 0


def _reap(shell: int) -> None:
    try:
        os.waitpid(shell, 0)
    except ChildProcessError:
        return  # a handler of the program, or the kernel, was faster


def _inheritable() -> list[int]:
    """Descriptors that a new program would get from us."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:
            continue
    return found


def _home() -> str:
    """The folder that holds the package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _status() -> dict[str, str]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as stream:
        return {line.partition(":")[0]: line.partition(":")[2].strip() for line in stream}


def _began() -> str:
    """When this process began: with its id, that names it for ever."""
    with open("/proc/self/stat", "rb") as stream:
        return stream.read().rpartition(b")")[2].split()[19].decode()


def _yama() -> int:
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope", encoding="ascii") as stream:
            return int(stream.read())
    except (OSError, ValueError):
        return 0


def _is_refused(told: dict[str, str]) -> bool:
    """Whether the kernel would not let the watcher look."""
    able = int(told.get("CapEff", "0"), 16) >> PTRACE_CAPABILITY & 1
    scope = _yama()
    return scope == 3 or (scope == 2 and not able)


def _allow(watcher: int) -> None:
    """Where the kernel lets only parents look, name the watcher as one who may."""
    if _yama() == 1:
        import ctypes

        ctypes.CDLL(None).prctl(SET_PTRACER, watcher, 0, 0, 0)


def _wait_for(seconds: float) -> None:
    if not seconds:
        return
    import time

    until = time.monotonic() + seconds
    while time.monotonic() < until and not int(_status().get("TracerPid", "0")):
        time.sleep(0.005)


def _last_words(folder: str) -> str:
    """Let faulthandler write into a file; gives its path, or nothing where that cannot be."""
    import faulthandler
    import fcntl

    if faulthandler.is_enabled():
        return ""  # the program has its own
    path = os.path.join(folder, f".sigwhy-{os.getpid()}.txt")
    try:
        low = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return ""
    try:
        high = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, HIGH)
    except OSError:
        os.close(low)
        os.unlink(path)
        return ""
    os.close(low)
    faulthandler.enable(high)
    return path
