"""The command finds and leaves everything as if sigwhy were not there."""

import hashlib
import os
import resource
import shlex
import signal
import socket
import subprocess
import textwrap
import threading
import time
from pathlib import Path

import pytest

from tests.live.watched import PYTHON, SECONDS, fate, incidents, program, sigwhy, watched

pytestmark = pytest.mark.live

SURROUNDINGS = textwrap.dedent("""
    import os, resource, signal, sys
    def stands(n):
        try:
            s = os.fstat(n)
        except OSError:
            return None
        return oct(s.st_mode), os.isatty(n)
    ignored = {row.split()[0]: row.split()[1] for row in open("/proc/self/status") if row.startswith(("SigBlk", "SigIgn", "SigCgt"))}
    print(sorted(os.environb.items()))
    print([(n, stands(n)) for n in range(12)])
    print(ignored, os.getcwd(), oct(os.umask(0)), os.getpgrp() == os.getpid(), os.getsid(0), os.nice(0))
    print([resource.getrlimit(n) for n in range(16)])
    print(sys.argv)
""")


def bare_and_watched(*command, **how):
    return fate(*command, **how), fate(*sigwhy("--", *map(str, command)), **how)


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        (["no-such-command"], 127, b"command not found"),
        (["./no-such-file"], 127, b"no such file"),
        (["/etc"], 126, b"is a folder"),
        (["/etc/passwd"], 126, b"may not be executed"),
    ],
)
def test_a_command_that_cannot_start_fails_as_in_a_shell(command, status, says):
    bare, ended = fate("sh", "-c", shlex.join(command)), fate(*sigwhy("--", *command))
    assert (ended.status, ended.status) == (status, bare.status)
    assert says in ended.err
    assert ended.err.count(b"\n") == 1


def test_a_script_without_a_first_line_is_one_for_sh(tmp_path):
    script = tmp_path / "script"
    script.write_text("echo $0 $1; exit 4", encoding="utf-8")
    script.chmod(0o755)
    assert fate(*sigwhy("--", script, "a b"))[:2] == (4, f"{script} a b\n".encode())


@pytest.mark.parametrize("locale", [{}, {"LC_CTYPE": "C"}, {"LANG": "C.UTF-8", "LC_ALL": "C"}])
def test_surroundings_are_what_they_were(locale, tmp_path):
    environment = {
        b"PATH": os.environb[b"PATH"],
        b"NO_TEXT": b"\xff\xfe\n=",
        b"EMPTY": b"",
        **{k.encode(): v.encode() for k, v in locale.items()},
    }
    bare, ended = bare_and_watched(
        PYTHON, "-c", SURROUNDINGS, b"\xff".decode("utf-8", "surrogateescape"), env=environment
    )
    assert bare.status == 0
    # The first line of a bare one is that of a process that is no child of sigwhy's; all is the same.
    assert ended == bare


def test_the_environment_is_passed_on_byte_for_byte():
    environment = {b"A": b"\xff", b"LC_CTYPE": b"C", b"PATH": os.environb[b"PATH"]}
    bare, ended = bare_and_watched("cat", "/proc/self/environ", env=environment)
    assert ended == bare


@pytest.mark.parametrize("ignored", ["HUP", "INT", "CHLD", "TERM USR1"])
def test_ignored_signals_stay_ignored(ignored):
    command = ("grep", "^Sig[BIC]", "/proc/self/status")
    both = [
        fate("sh", "-c", f'trap "" {ignored}; exec "$@"', "sh", *words)
        for words in (command, sigwhy("--", *command))
    ]
    assert both[0].out == both[1].out


def test_blocked_signals_stay_blocked():
    def block():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR2})

    bare, ended = bare_and_watched("grep", "^Sig[BIC]", "/proc/self/status", preexec_fn=block)
    assert ended == bare


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
def test_closed_streams_stay_closed(closed, tmp_path):
    script = "ls /proc/self/fd | tr '\\n' ' ' > $0; ls -l /proc/self/fd >> /dev/null; exit 3"
    command = ("sh", "-c", script)
    told = []
    for n, words in enumerate((command, sigwhy("--", *command))):
        place = tmp_path / str(n)
        ended = fate("sh", "-c", f'exec "$@" {closed}', "sh", *words, place)
        told.append((ended, place.read_text(encoding="utf-8")))
    assert told[0] == told[1]


def test_descriptors_and_limits_are_handed_on(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (77, 99))
        resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, resource.RLIM_INFINITY))

    with (tmp_path / "file").open("wb") as file:
        bare, ended = bare_and_watched(
            PYTHON, "-c", SURROUNDINGS, pass_fds=[file.fileno()], preexec_fn=limit, cwd=tmp_path
        )
    assert ended == bare


def test_standard_input_is_the_programs_own():
    words = os.urandom(1 << 20)
    done = subprocess.run(
        sigwhy("--", "sh", "-c", "head -c 1000 >/dev/null; cat"),
        input=words, capture_output=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    assert len(done.stdout) <= len(words) - 1000
    assert words.endswith(done.stdout)


def test_standard_input_and_output_end_when_the_program_closes_them():
    script = "import os, sys; os.close(0); os.close(1); sys.stderr.write('closed'); sys.stderr.flush(); import time; time.sleep(30)"
    with subprocess.Popen(
        sigwhy("--", PYTHON, "-c", script),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stderr.read(6) == b"closed"
        assert running.stdout.read() == b""
        with pytest.raises(BrokenPipeError):
            os.write(running.stdin.fileno(), b"x" * (1 << 20))
        running.terminate()
        assert running.wait(SECONDS) == -signal.SIGTERM


@pytest.mark.parametrize("stream", ["stdout", "stderr", "both"])
def test_200_megabytes_arrive_whole(stream):
    to = {"stdout": "", "stderr": " >&2", "both": " 2>&1"}[stream]
    command = f"yes 0123456789abcdefghijklmnopqrstuvwxyz | head -c 200000000{to}"
    hashes = []
    for words in (("sh", "-c", command), sigwhy("--", "sh", "-c", command)):
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            told = hashlib.sha256()
            source = running.stderr if stream == "stderr" else running.stdout
            while part := source.read1(1 << 20):
                told.update(part)
            assert running.wait(SECONDS) == 0
        hashes.append(told.hexdigest())
    assert hashes[0] == hashes[1]


def test_both_streams_into_one_pipe_keep_their_order():
    script = "import os\nfor n in range(5000): os.write(1 + n % 2, b'%d\\n' % n)"
    with subprocess.Popen(
        sigwhy("--", PYTHON, "-c", script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as running:
        assert running.stdout.read() == b"".join(b"%d\n" % n for n in range(5000))


def test_standard_error_is_as_unbuffered_as_before():
    script = "import os, sys; os.write(2, b'now'); sys.stdin.read(1); os.write(2, b'then')"
    with subprocess.Popen(
        sigwhy("--", PYTHON, "-c", script), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stderr.read(3) == b"now"  # it waits for us, so this came by itself
        running.stdin.write(b"x")
        running.stdin.close()
        assert running.stderr.read() == b"then"


def test_a_reader_that_goes_away_ends_the_program_as_before():
    script = "import os, time\nimport signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\nos.write(2, b'first')\nos.read(0, 1)\nos.write(2, b'second')\ntime.sleep(30)"
    with subprocess.Popen(
        sigwhy("--", PYTHON, "-c", script), stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stderr.read(5) == b"first"
        running.stderr.close()
        between = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        waiting = time.monotonic() + 10  # the process between ends by itself; it is a child of ours
        while len(between.read_text(encoding="utf-8").split()) > 1 and time.monotonic() < waiting:
            time.sleep(0.01)
        running.stdin.write(b"x")
        running.stdin.close()
        assert running.wait(SECONDS) == -signal.SIGPIPE


def test_a_daemon_that_keeps_standard_error_does_not_keep_us(tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with subprocess.Popen(
        sigwhy("--", "sh", "-c", f"(cat {gate}; echo late >&2) & echo soon >&2; exit 3"),
        stderr=subprocess.PIPE,
    ) as running:
        assert running.wait(SECONDS) == 3  # the daemon waits at the gate
        gate.write_bytes(b"")
        assert running.stderr.read() == b"soon\nlate\n"


DYING = "import os, sys; sys.stderr.write('my last words\\n'); sys.stderr.flush(); os.abort()"


def test_the_last_words_are_kept_of_a_pipe_and_of_a_file(tmp_path):
    (tmp_path / "pipe").mkdir()
    (tmp_path / "file").mkdir()
    _, found = watched(tmp_path / "pipe", PYTHON, "-c", DYING)
    assert found[0]["stderr"] == "my last words\n"
    with (tmp_path / "log").open("ab") as log:
        log.write(b"of somebody else\n")
        log.flush()
        words = sigwhy("--incidents", str(tmp_path / "file"), "--", PYTHON, "-c", DYING)
        subprocess.run(words, stderr=log, timeout=SECONDS, check=False)
    assert incidents(tmp_path / "file")[0]["stderr"] == "my last words\n"


@pytest.mark.parametrize("kind", ["null", "socket"])
def test_what_is_no_file_and_no_pipe_is_left_alone_and_that_is_said(kind, tmp_path):
    ours, theirs = socket.socketpair()
    with ours, theirs, Path("/dev/null").open("wb") as null:
        place = null if kind == "null" else theirs
        words = sigwhy("--incidents", str(tmp_path), "--", PYTHON, "-c", DYING)
        done = subprocess.run(words, stderr=place, timeout=SECONDS, check=False)
    assert done.returncode == -signal.SIGABRT
    assert any("last words" in blind for blind in incidents(tmp_path)[0]["blind"])


def test_signals_to_us_alone_reach_the_command_once_and_from_their_sender():
    with subprocess.Popen(
        sigwhy("--", program(), "told"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout.readline() == b"ready\n"
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGWINCH, signal.SIGABRT):
            running.send_signal(number)
            # Its parent is sigwhy, so we are "other".
            assert running.stdout.readline() == f"{number} code 0 from other\n".encode()
        running.kill()


def test_signals_to_the_whole_group_arrive_once():
    with subprocess.Popen(
        sigwhy("--", program(), "told"), stdout=subprocess.PIPE, start_new_session=True
    ) as running:
        assert running.stdout.readline() == b"ready\n"
        for _ in range(3):
            os.killpg(running.pid, signal.SIGTERM)
            assert running.stdout.readline() == b"15 code 0 from other\n"
            time.sleep(0.1)  # longer than sigwhy waits for a second one: none may come
        os.killpg(running.pid, signal.SIGUSR2)
        assert running.stdout.readline() == b"12 code 0 from other\n"
        threading.Timer(0.1, os.killpg, (running.pid, signal.SIGKILL)).start()
        assert running.stdout.read() == b""
