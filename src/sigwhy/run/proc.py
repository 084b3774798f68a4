"""What /proc tells of a process and its threads. Whoever is gone has told nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

LONGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Dispositions:
    """Which signals a process ignores, catches and blocks, as bits."""

    ignored: int = 0
    caught: int = 0
    blocked: int = 0

    def ignores(self, number: int) -> bool:
        """Whether a signal is ignored."""
        return bool(self.ignored >> number - 1 & 1)

    def catches(self, number: int) -> bool:
        """Whether a handler of the program's own gets a signal."""
        return bool(self.caught >> number - 1 & 1)


def bytes_of(path: str, most: int = LONGEST) -> bytes:
    """What a file of /proc holds."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts: list[bytes] = []
        left = most
        while left > 0 and (part := os.read(handle, min(left, 1 << 16))):
            parts.append(part)
            left -= len(part)
    except OSError:
        return b""
    else:
        return b"".join(parts)
    finally:
        os.close(handle)


def text(path: str, most: int = LONGEST) -> str:
    """The same as text."""
    return bytes_of(path, most).decode("utf-8", "replace")


def rows(path: str) -> dict[str, str]:
    """The lines ``Name: words`` of a file."""
    found = {}
    for line in text(path).splitlines():
        name, colon, words = line.partition(":")
        if colon:
            found[name.strip()] = words.strip()
    return found


def status(pid: int) -> dict[str, str]:
    """The rows of ``status``."""
    return rows(f"/proc/{pid}/status")


def stat(pid: int, tid: int | None = None) -> list[str]:
    """The fields of ``stat`` behind the name: state, parent, group, session, terminal ..."""
    path = f"/proc/{pid}/stat" if tid is None else f"/proc/{pid}/task/{tid}/stat"
    return text(path).rpartition(")")[2].split()


def dispositions(pid: int) -> Dispositions:
    """What a process does about signals."""
    told = status(pid)
    return Dispositions(*(int(told.get(name, "0"), 16) for name in ("SigIgn", "SigCgt", "SigBlk")))


def process_of(tid: int) -> int:
    """The process that a thread belongs to."""
    told = bytes_of(f"/proc/{tid}/status", 4096)
    at = told.find(b"\nTgid:")
    return int(told[at + 6 : at + 32].split(None, 1)[0]) if at >= 0 else tid


def is_first_of_namespace(pid: int) -> bool:
    """Whether a process is number 1 of a process id namespace below ours."""
    numbers = status(pid).get("NSpid", "").split()
    return len(numbers) > 1 and numbers[-1] == "1"


def parent(pid: int) -> int | None:
    """The process that started this one."""
    told = status(pid).get("PPid")
    return int(told) if told else None


def command(pid: int) -> tuple[str, ...]:
    """The words of the command line."""
    return words(bytes_of(f"/proc/{pid}/cmdline"))


def words(packed: bytes) -> tuple[str, ...]:
    """Words that end in a zero byte each."""
    parts = packed.split(b"\0")
    return tuple(part.decode("utf-8", "replace") for part in parts[: -1 if not parts[-1] else None])


def name(pid: int) -> str | None:
    """The name of a process while it lives: its program, and its script where it has one."""
    told = command(pid)
    short = text(f"/proc/{pid}/comm").strip()
    if not told:
        return short or None
    script = next((os.path.basename(word) for word in told[1:4] if word.endswith(".py")), None)  # noqa: PTH119 -- words of a command, not a path of ours
    return f"{short} {script}" if script else short or None


def threads(pid: int) -> list[int]:
    """The threads of a process, the first one first."""
    try:
        return sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))  # noqa: PTH208 -- names are all that is wanted
    except OSError:
        return []


def link(path: str) -> str | None:
    """What a link of /proc points to."""
    try:
        return os.readlink(path)  # noqa: PTH115 -- a link of the kernel's, not a path
    except OSError:
        return None
