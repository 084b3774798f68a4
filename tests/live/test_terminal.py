"""In a terminal, a watched program is what it would be: Ctrl-C, Ctrl-Z, fg, size and raw mode."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pytest

from tests.live.watched import PYTHON, SECONDS, sigwhy

pytestmark = pytest.mark.live

INTERRUPT, SUSPEND = b"\x03", b"\x1a"
WATCHED = " ".join(sigwhy("--"))


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self):
        self.pid, self.handle = pty.fork()
        if self.pid == 0:
            os.environ["PS1"] = "PROMPT>"
            os.environ["TERM"] = "dumb"
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"])  # noqa: S606 -- a shell is wanted
        self.seen = b""
        self.until("PROMPT>")

    def type(self, words):
        os.write(self.handle, words if isinstance(words, bytes) else words.encode() + b"\n")

    def until(self, pattern):
        """Read until a pattern comes; gives what came until then, and forgets it."""
        deadline = time.monotonic() + SECONDS / 2
        while not (found := re.search(pattern.encode(), self.seen)):
            left = deadline - time.monotonic()
            assert left > 0, f"{pattern!r} never came; there was {self.seen!r}"
            if select.select([self.handle], [], [], left)[0]:
                self.seen += os.read(self.handle, 1 << 16)
        told, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return told.decode()

    def size(self, rows, columns):
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self):
        os.close(self.handle)
        os.waitpid(self.pid, 0)


@pytest.fixture
def terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell = Terminal()
    yield shell
    shell.close()


def start(terminal, tmp_path, program):
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    terminal.type(f"{WATCHED} {PYTHON} program.py")


COUNTS = """
import os, signal, time
times = [0]
def heard(number, frame):
    times[0] += 1
    os.write(1, b"heard %d\\n" % times[0])  # print() may be at work when the signal comes
signal.signal(signal.SIGINT, heard)
print("rea" + "dy", flush=True)
end = time.monotonic() + 20
while times[0] < 2 and time.monotonic() < end: time.sleep(0.01)
time.sleep(0.2)
print("all", times[0], flush=True)
"""


def test_each_ctrl_c_is_heard_once(terminal, tmp_path):
    start(terminal, tmp_path, COUNTS)
    terminal.until("ready")
    terminal.type(INTERRUPT)
    terminal.until("heard 1")
    terminal.type(INTERRUPT)
    assert "heard 3" not in terminal.until("all 2")


def test_ctrl_c_ends_a_program_and_the_shell_sees_it(terminal):
    terminal.type(f"{WATCHED} sh -c 'echo rea''dy; exec sleep 20'; echo status $?")
    terminal.until("ready")
    terminal.type(INTERRUPT)
    terminal.until("PROMPT>")
    terminal.type("echo status $?")
    terminal.until("status 130")


STOPS = """
import signal
signal.signal(signal.SIGCONT, lambda *_: print("went" + " on", flush=True))
print("rea" + "dy", flush=True)
print("got", input(), flush=True)
"""


def test_ctrl_z_stops_and_fg_goes_on(terminal, tmp_path):
    start(terminal, tmp_path, STOPS)
    terminal.until("ready")
    for _ in range(3):
        terminal.type(SUSPEND)
        terminal.until("Stopped")
        terminal.until("PROMPT>")
        terminal.type("jobs")
        terminal.until("Stopped")
        terminal.until("PROMPT>")
        terminal.type("fg")
        terminal.until("went on")
    terminal.type("words")
    terminal.until("got words")
    terminal.until("PROMPT>")


def test_a_pipeline_stops_and_goes_on_as_a_whole(terminal):
    terminal.type(f"{WATCHED} sh -c 'echo rea''dy; cat | cat'")
    terminal.until("ready")
    terminal.type(SUSPEND)
    terminal.until("Stopped")
    terminal.until("PROMPT>")
    terminal.type("fg")
    terminal.until("cat")
    terminal.type("through")
    terminal.until("through")
    terminal.until("through")
    terminal.type(b"\x04")
    terminal.until("PROMPT>")


def test_a_program_that_stops_itself_stops_the_job(terminal):
    terminal.type(f"{WATCHED} sh -c 'kill -STOP $$; echo went on'")
    terminal.until("Stopped")
    terminal.until("PROMPT>")
    terminal.type("fg")
    terminal.until("went on\r")


def test_a_job_in_the_background_that_reads_is_stopped(terminal):
    terminal.type(f"{WATCHED} sh -c 'read word; echo got $word' &")
    terminal.until("PROMPT>")
    for _ in range(100):
        terminal.type("jobs")
        if "Stopped" in terminal.until("PROMPT>"):
            break
        time.sleep(0.05)
    terminal.type("fg")
    terminal.until("got")
    terminal.type("it")
    terminal.until("got it")


SIZES = """
import os, signal, sys, termios, time, tty
def told(*_): print("size", *os.get_terminal_size(), flush=True)
signal.signal(signal.SIGWINCH, told)
before = termios.tcgetattr(0)
tty.setraw(0)
print("raw", [os.isatty(n) for n in range(3)], flush=True)
print("key", sys.stdin.buffer.raw.read(1)[0], flush=True)
termios.tcsetattr(0, termios.TCSADRAIN, before)
"""


def test_size_and_raw_mode_are_the_programs(terminal, tmp_path):
    start(terminal, tmp_path, SIZES)
    terminal.until(re.escape("raw [True, True, True]"))
    terminal.size(41, 123)
    terminal.until("size 123 41")
    terminal.type(INTERRUPT)
    terminal.until("key 3")
    terminal.until("PROMPT>")
    terminal.type("echo still $((40+2))")
    terminal.until("still 42")


def test_a_shell_inside_has_job_control_of_its_own(terminal):
    terminal.type(f"PS1='INNER>' {WATCHED} bash --norc --noprofile --noediting -i")
    terminal.until("INNER>.*INNER>|INNER>")
    terminal.type("sleep 20")
    time.sleep(0.2)
    terminal.type(SUSPEND)
    terminal.until("Stopped")
    terminal.type("kill %1; exit 7")
    terminal.until("exit")
    terminal.type("exit 7")
    terminal.until("PROMPT>")


def test_a_stop_for_us_alone_stops_the_command_too(tmp_path):
    child = os.fork()
    if child == 0:
        os.setsid()
        words = sigwhy("--", PYTHON, "-c", "print(1)")
        os.execv(  # noqa: S606 -- it becomes sigwhy
            words[0],
            [
                *words[:-1],
                f"import time; open({str(tmp_path / 'on')!r}, 'w').close(); time.sleep(0.5)",
            ],
        )
    waiting = time.monotonic() + 20
    while not (tmp_path / "on").exists() and time.monotonic() < waiting:
        time.sleep(0.02)
    # In a group without a parent in the session the kernel ignores SIGTSTP; SIGSTOP always stops.
    os.kill(child, signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    os.kill(child, signal.SIGCONT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
