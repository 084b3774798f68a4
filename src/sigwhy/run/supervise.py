"""The loop: hears whatever happens to a command and to all that it starts, and lets it go on.

Nothing is done that is not needed: a thread or process that begins, ends, execs or stops is noted
in a few microseconds. Only a signal that kills makes the loop look up: ``Watcher`` is told while the
dying process stands still at the very instruction, and again when it has ended.

The kernel sends SIGCHLD for every stop and every end, and it stays pending while we work, so no
event is missed: the loop answers all there are, and sleeps only when there is none.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sigwhy.run import debugger, masked, proc, ptrace, unwatched
from sigwhy.run.relay import FROM_THE_KERNEL, TAKEN, Relay, child_stirs, take

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.run.ptrace import SigInfo

__all__ = ["FAULTS", "TAKEN", "Loop", "Member", "Watcher"]

# The signals by which a CPU, the kernel or abort() ends a process that does not handle them.
FAULTS = frozenset(
    int(getattr(signal, f"SIG{name}"))
    for name in ("SEGV", "BUS", "ILL", "FPE", "ABRT", "TRAP", "SYS", "XCPU", "XFSZ")
)
# Those that come again when the instruction is run again.
REPEATED = frozenset(int(getattr(signal, f"SIG{n}")) for n in ("SEGV", "BUS", "ILL", "FPE"))
STOPS = frozenset(int(getattr(signal, f"SIG{name}")) for name in ("STOP", "TSTP", "TTIN", "TTOU"))
CHILD = int(signal.SIGCHLD)
OF_THE_LIBRARY = frozenset({CHILD, 32, 33})  # 32 and 33: how the C library cancels threads
STOPPED = 0x7F
INTERRUPTED = ptrace.EVENT_STOP << 16 | int(signal.SIGTRAP) << 8 | STOPPED
PATIENCE = 0.5
MOST_GONE = 4000
MOST_EARLY = 256
NAME_SECONDS = 1.0
LONGEST = 3600.0
SOON = 0.01  # seconds until a process that is new is looked at
MOST_OFTEN = 0.003  # seconds between two calls of the watcher for what may be due
LAST_LOOKS = 5


class Watcher(Protocol):
    """Whom the loop tells."""

    def dying(self, process: Member, tid: int, info: SigInfo) -> None:
        """A thread of ``process`` is about to die of a signal; nothing runs until this returns."""

    def ended(self, process: Member) -> None:
        """A process has ended."""

    def asked(self, number: int, sender: int | None) -> None:
        """Somebody asks sigwhy to end the command; it will be told after this returns."""

    def tick(self) -> float | None:
        """Something may be due; returns in how many seconds it wants to be called again."""


@dataclass(slots=True)
class Member:
    """A process of the tree, as far as it is known now."""

    pid: int
    parent: int | None = None
    command: tuple[str, ...] = ()
    began: float = field(default_factory=time.monotonic)
    status: int | None = None
    caught: dict[int, tuple[SigInfo, bytes]] = field(default_factory=dict)  # by thread
    heard: dict[int, tuple[SigInfo, str | None]] = field(default_factory=dict)  # by signal
    looked_at: bool = False


class Loop:
    """The tree of one command, and the answers to its stops."""

    def __init__(
        self, root: int, watcher: Watcher, *, command: tuple[str, ...] = (), traced: bool = True
    ) -> None:
        self.root = root
        self.watcher = watcher
        self.traced = traced
        self.relay = Relay(root)
        self.members: dict[int, Member] = {root: Member(root, os.getpid(), command)}
        self.threads: dict[int, int] = {}  # of threads that had signals: their process
        self.gone: list[Member] = []
        self.early: dict[int, int] = {}  # ended before we heard of their fork
        self.waiting: deque[tuple[int, int]] = deque()
        self.wanted = ptrace.FOLLOW
        self.root_is_free = False  # it is a debugger, or a debugger has it
        self.broke: str | None = None
        self.remarks: list[str] = []
        self._answering = (0, 0)
        self._due = 0.0  # when the watcher is to be called next
        self._names: dict[int, tuple[float, str | None]] = {}
        self._answers: dict[int, Callable[[int, int], None]] = {
            0: self._signalled,
            ptrace.EVENT_FORK: self._forked,
            ptrace.EVENT_VFORK: self._forked,
            ptrace.EVENT_EXEC: self._became_another,
            ptrace.EVENT_EXIT: self._is_about_to_exit,
            ptrace.EVENT_STOP: self._stopped,
        }

    # ---- the loop ---------------------------------------------------------------------------

    def run(self) -> int:
        """Until the command itself has ended; returns its wait status.

        Whatever fails in here, the command goes on to its end, and ``broke`` says what failed.
        """
        root = self.members[self.root]
        try:
            if self.traced:
                self._watch(root)
                self.let_all_go()
        except Exception as error:  # noqa: BLE001 -- our failure must not be the program's
            self._failed(error)
            self._give_up(root)
        if root.status is None:
            root.status = unwatched.wait(self.relay, self._sleep)
        if root not in self.gone:
            self.gone.append(root)
        self.gone += [m for m in self.members.values() if m.status is None and m.looked_at]
        return root.status or 0

    def _give_up(self, root: Member) -> None:
        """Our watching broke: whoever stands for us is let go, and the command waited for."""
        tid, status = self._answering
        if status & 0xFF == STOPPED:
            _freed(tid, status)
        elif tid == root.pid:
            root.status = status
        try:
            self.let_all_go()
        except Exception as error:  # noqa: BLE001 -- the kernel lets them go when we end
            self._failed(error)

    def _watch(self, root: Member) -> None:
        while root.status is None:
            tid, status = self._answering = self._next()
            if not tid:
                self.relay.stop_ourselves()
                self._sleep()
            elif status & 0xFF != STOPPED:
                self._ended(tid, status)
            elif self.root_is_free and tid == self.root:
                unwatched.stands(self.relay, tid, status)
            else:
                try:
                    answer = self._answers.get(status >> 16)
                    if answer:
                        answer(tid, status >> 8 & 0xFF)
                    else:
                        ptrace.go_on(tid)
                except ProcessLookupError:
                    pass  # killed while it stood: its end is told next

    def _next(self) -> tuple[int, int]:
        if self.waiting:
            return self.waiting.popleft()
        try:
            return os.waitpid(-1, ptrace.ALL_THREADS | os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            return 0, 0

    def _sleep(self) -> SigInfo | None:
        """Until something happens, or is due."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + self._tick()
        wanted, due = self._due - now, self.relay.due()
        told = take(max(min(wanted, LONGEST if due is None else due), 0))
        if told:
            asked = self.relay.taken(told)
            if asked is not None:
                self._tell(self.watcher.asked, asked, told.sender[0] if told.is_sent else None)
        if self.relay.waiting:
            self.relay.hand_on()
        return told

    def _tick(self) -> float:
        try:
            seconds = self.watcher.tick()
        except Exception as error:  # noqa: BLE001 -- a failure of ours must not end the watching
            self._failed(error)
            return float("inf")
        return float("inf") if seconds is None else max(seconds, MOST_OFTEN)

    def _soon(self) -> None:
        """The watcher is to be called, but not for each of many that live for a moment only."""
        self._due = min(self._due, time.monotonic() + SOON)

    def _tell(self, whom: Callable[..., None], *what: object) -> None:
        try:
            whom(*what)
        except Exception as error:  # noqa: BLE001 -- whatever fails here, the program goes on
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self.broke = self.broke or f"{type(error).__name__}: {error}"

    # ---- processes begin, change and end ----------------------------------------------------

    def _forked(self, tid: int, _: int) -> None:
        new, parent = ptrace.message(tid), self.pid_of(tid)
        if new not in self.members:
            known = self.members.get(parent)
            self.members[new] = Member(new, parent, known.command if known else ())
            self._soon()  # somebody new to watch
            early = self.early.pop(new, None)
            if early is not None and proc.stat(new)[:1] in ([], ["Z"], ["X"]):
                self._ended(new, early)
        ptrace.go_on(tid)

    def _became_another(self, tid: int, _: int) -> None:
        """An exec: all other threads are gone, and the one that is left is the first."""
        member = self.member(tid)
        if self.threads:
            self.threads = {t: p for t, p in self.threads.items() if p != tid}
        member.command = proc.command(tid)
        self._soon()
        member.caught.clear()
        if debugger.is_one(member.command):
            self._make_room(member)
            return
        if _lost_its_rights(tid):
            self.remarks.append(
                f"{member.command[0]} is a set-user-id program, and a watched one gets no rights of its file; put sigwhy inside: {member.command[0]} ... sigwhy run -- ..."
            )
        ptrace.go_on(tid)

    def _make_room(self, member: Member) -> None:
        """A debugger begins: it goes free, and so do those whom it names."""
        ptrace.let_go(member.pid)
        self._is_free(member)
        for pid in debugger.targets(member.command, self.members):
            self.let_go(pid)
        name = member.command[0]
        self.remarks.append(
            f"{name} ran inside (process {member.pid}): neither it nor what it watched was watched by sigwhy"
        )

    def _is_free(self, member: Member) -> None:
        if member.pid == self.root:
            self.root_is_free = True
        else:
            self.members.pop(member.pid, None)
            self.gone.append(member)

    def _ended(self, tid: int, status: int) -> None:
        self.threads.pop(tid, None)
        member = self.members.get(tid)
        if member is None or member.status is not None:
            self._ended_early(tid, status)
            return
        member.status = status
        if tid != self.root:
            del self.members[tid]
        if len(self.gone) >= MOST_GONE:  # of those who ended well, only the last are kept
            self.gone = [m for m in self.gone[: MOST_GONE // 2] if m.status or m.looked_at] + (
                self.gone[MOST_GONE // 2 :]
            )
        self.gone.append(member)
        self._tell(self.watcher.ended, member)

    def _ended_early(self, tid: int, status: int) -> None:
        """A thread, or a process whose fork we shall hear of in a moment."""
        if len(self.early) >= MOST_EARLY:
            self.early.clear()
        self.early[tid] = status

    # ---- signals ----------------------------------------------------------------------------

    def _signalled(self, tid: int, number: int) -> None:
        """A signal is on its way to a thread."""
        if number in OF_THE_LIBRARY:
            ptrace.go_on(tid, number)
            return
        info, member = ptrace.siginfo(tid), self.member(tid)
        if member.pid == self.root:
            true = self.relay.root_got(info)
            if true:
                ptrace.set_siginfo(tid, true)
                info = true
        sender = info.sender[0] if info.is_sent else 0
        member.heard[number] = (info, self._name(sender) if sender != member.pid else None)
        if number in FAULTS and self._faulted(member, tid, info):
            return
        ptrace.go_on(tid, number)

    def _faulted(self, member: Member, tid: int, info: SigInfo) -> bool:
        """What kills, unless the program handles it. True where the thread has been answered."""
        dispositions = proc.dispositions(member.pid)
        if dispositions.ignores(info.number) and info.is_sent:
            return False
        if dispositions.catches(info.number):
            if tid not in member.caught:
                ptrace.options(tid, self.wanted | ptrace.EXIT)
            member.caught[tid] = (info, ptrace.register_bytes(tid))
            return False
        first = proc.is_first_of_namespace(member.pid)
        if first and info.is_sent:
            return False  # the kernel spares the first of a namespace from such signals
        self._tell_dying(member, tid, info)
        if first:
            # The kernel lets a fault end the first process of a namespace only where nobody traces
            # it; else it would fault for ever. Free, it faults once more, and dies of it.
            ptrace.let_go(tid)
        return first

    def _is_about_to_exit(self, tid: int, _: int) -> None:
        """A thread whose fault was caught ends: it may be the handler that ends the process."""
        member = self.member(tid)
        caught = member.caught.get(tid)
        if caught and not member.looked_at and not caught[0].is_sent:
            ends_well = os.WIFEXITED(ptrace.message(tid))
            if ends_well and masked.is_in_handler(member.pid, tid, caught[1]):
                self._tell_dying(member, tid, caught[0])
        ptrace.go_on(tid)

    def _tell_dying(self, member: Member, tid: int, info: SigInfo) -> None:
        if member.looked_at:
            return
        member.looked_at = True
        if info.is_sent or info.number not in REPEATED:
            # Were we killed during the look, the kernel would drop the signal: it is gone from the
            # queue, and nobody has answered yet. So another one lies ready; it is never delivered
            # where we live on.
            ptrace.send(member.pid, tid, info.number)
        self._tell(self.watcher.dying, member, tid, info)

    def _stopped(self, tid: int, number: int) -> None:
        """A thread that begins, a stop that we asked for, or one that the terminal wants."""
        if number not in STOPS:
            if tid == self.root:
                self.relay.stop_wanted = None
            ptrace.go_on(tid)
            return
        ptrace.listen(tid)
        if tid == self.root and self._stops_us_too(number):
            self.relay.stop_wanted = number

    def _stops_us_too(self, number: int) -> bool:
        """Not where a stranger stopped the command alone: he would continue it alone, too."""
        heard = self.members[self.root].heard.get(number)
        if heard is None or heard[0].code == FROM_THE_KERNEL:
            return True
        sender = heard[0].sender[0]
        return sender == 0 or sender in self.members or self.relay.came_lately(number)

    # ---- who is who -------------------------------------------------------------------------

    def pid_of(self, tid: int) -> int:
        """The process of a thread."""
        if tid in self.members:
            return tid
        pid = self.threads.get(tid)
        if pid is None:
            pid = self.threads[tid] = proc.process_of(tid)
        return pid

    def member(self, tid: int) -> Member:
        """The process of a thread, which may be one that began before we heard of its fork."""
        pid = self.pid_of(tid)
        if pid not in self.members:
            self.members[pid] = Member(pid, proc.parent(pid), proc.command(pid))
        return self.members[pid]

    def _name(self, pid: int) -> str | None:
        """The name of a sender, who may be gone in a moment; asked once for a row of signals."""
        now = time.monotonic()
        at, name = self._names.get(pid, (-NAME_SECONDS, None))
        if pid and now - at >= NAME_SECONDS:
            name = proc.name(pid)
            self._names = {pid: (now, name)}
        return name

    # ---- holding and letting go -------------------------------------------------------------

    def hold(self, pid: int, but: int | None = None) -> dict[int, int]:
        """Stop all threads of a process; gives each the wait status of its stop, for ``release``.

        ``but`` is a thread that stands still already. A thread that sleeps where the kernel cannot
        wake it is waited for a moment, and left out.
        """
        wanted = {tid for tid in proc.threads(pid) if tid != but and _interrupted(tid)}
        standing: dict[int, int] = {}
        before, self.waiting = self.waiting, deque()
        for tid, status in before:
            self._came(tid, status, wanted, standing)
        until = time.monotonic() + PATIENCE
        while wanted:
            try:
                tid, status = os.waitpid(-1, ptrace.ALL_THREADS | os.WNOHANG)
            except ChildProcessError:
                break
            if tid:
                self._came(tid, status, wanted, standing)
            elif not self._more_will_stop(wanted, until):
                break
        return standing

    def _came(self, tid: int, status: int, wanted: set[int], standing: dict[int, int]) -> None:
        """An event while we hold: a thread that was to stop stands now; all else is for later."""
        if tid in wanted and status & 0xFF == STOPPED:
            standing[tid] = status
        else:
            self.waiting.append((tid, status))
        wanted.discard(tid)

    def _more_will_stop(self, wanted: set[int], until: float) -> bool:
        left = until - time.monotonic()
        if left <= 0:
            return False
        if not child_stirs(min(left, PATIENCE / 10)):  # dead ones, whose first thread is kept
            wanted -= {tid for tid in wanted if proc.stat(tid)[:1] in ([], ["Z"], ["X"])}
        return True

    def release(self, standing: dict[int, int]) -> None:
        """Let held threads go on; what had stopped one for a reason of its own is answered next."""
        for tid, status in standing.items():
            if status == INTERRUPTED:
                ptrace.go_on(tid)
            else:
                self.waiting.append((tid, status))

    def let_go(self, pid: int) -> None:
        """Watch a process no more."""
        for _ in range(LAST_LOOKS):
            standing = self.hold(pid)
            for tid, status in standing.items():
                _freed(tid, status)
            if not standing:  # else a thread may have begun meanwhile
                break
        if pid in self.members:
            self._is_free(self.members[pid])

    def let_all_go(self) -> None:
        """Watch nobody any more: the command has ended, or we failed; what lives must run on."""
        for pid in [m.pid for m in self.members.values() if m.status is None]:
            try:
                self.let_go(pid)
            except Exception as error:  # noqa: BLE001 -- the others are to be let go too
                self._failed(error)
        while self.members and (stop := self._next())[0]:
            tid, status = stop
            if status & 0xFF == STOPPED:
                _freed(tid, status)
            else:
                self._ended(tid, status)


def _freed(tid: int, status: int) -> None:
    ptrace.let_go(tid, 0 if status >> 16 else status >> 8 & 0xFF)


def _interrupted(tid: int) -> bool:
    """Ask a thread to stop; False where it is gone, or is not ours."""
    try:
        ptrace.interrupt(tid)
    except OSError:
        return False
    return True


def _lost_its_rights(pid: int) -> bool:
    """Whether a program has the set-user-id bit, and yet runs as who started it."""
    if os.geteuid() == 0:
        return False
    try:
        program, process = os.stat(f"/proc/{pid}/exe"), os.stat(f"/proc/{pid}")  # noqa: PTH116 -- once for each exec
    except OSError:
        return False
    return bool(program.st_mode & 0o4000) and program.st_uid != process.st_uid
