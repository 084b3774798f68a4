"""Services, hooks, the shelf and secrets, with real processes."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import zipfile

import pytest

from tests.kinds_of_secrets import SECRETS

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
CRASH = "import ctypes; ctypes.string_at(0)"


def _run(tmp_path, code, *options, words=(), environment=None, **how):
    script = tmp_path / "job.py"
    script.write_text(textwrap.dedent(code))
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "sigwhy",
            "run",
            *options,
            "--",
            sys.executable,
            str(script),
            *words,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={**os.environ, **(environment or {})},
        **how,
    )


def _incidents(tmp_path, folder="kept"):
    return sorted((tmp_path / folder).glob("*.sigwhy"))


def test_no_secret_of_thirty_kinds_reaches_the_file(tmp_path):
    code = """
    import ctypes, sys
    def load(texts, password, **named):
        first, second = texts[0], texts[-1]
        ctypes.string_at(0)
    texts = sys.argv[1:]
    for text in texts:
        print(text, file=sys.stderr)
    password = "swordfish10"
    load(texts, password, api_key="swordfish11")
    """
    texts = [text for text, _ in SECRETS.values()]
    told = {f"TF_TEST_{n}": text for n, text in enumerate(texts)}
    told |= {"TF_API_KEY": "swordfish12", "MY_SECRET": "swordfish13"}
    done = _run(
        tmp_path,
        code,
        *("--incidents", "kept", "--json", "told.json", "--redact", "ACME-[0-9]+"),
        words=[*texts, "ACME-4711"],
        environment=told,
    )
    assert done.returncode == -signal.SIGSEGV
    (path,) = _incidents(tmp_path)
    record = zipfile.ZipFile(path).read("incident.json").decode()
    record += json.dumps(json.loads(record), ensure_ascii=False)
    record += (tmp_path / "told.json").read_text()
    assert "TF_TEST_0" in record
    secrets = [
        *(s for _, s in SECRETS.values()),
        *(f"swordfish{n}" for n in range(10, 14)),
        "ACME-4711",
    ]
    assert [secret for secret in secrets if secret in record] == []


def test_without_core_no_memory_is_kept(tmp_path):
    _run(tmp_path, CRASH, "--incidents", "kept", "--no-core")
    (path,) = _incidents(tmp_path)
    assert zipfile.ZipFile(path).namelist() == ["incident.json"]


def test_a_service_is_started_again_and_each_death_is_kept(tmp_path):
    done = _run(tmp_path, CRASH, "--incidents", "kept", "--restart", "2", "--backoff", "0.1")
    assert done.returncode == -signal.SIGSEGV
    assert len(_incidents(tmp_path)) == 3
    assert done.stderr.count("Why ") == 1
    assert "the same again, 3 times by now" in done.stderr


def test_a_service_that_comes_to_its_end_is_not_started_again(tmp_path):
    code = """
    import os
    open("count", "a").write("x")
    if os.path.getsize("count") < 2:
        os.abort()
    """
    done = _run(tmp_path, code, "--restart", "5", "--backoff", "0.1", "--quiet")
    assert done.returncode == 0
    assert (tmp_path / "count").read_text() == "xx"
    assert done.stderr == ""


def test_a_service_that_is_asked_to_end_stays_ended(tmp_path):
    code = """
    import os, signal
    open("count", "a").write("x")
    os.kill(os.getppid(), signal.SIGTERM)
    signal.pause()
    """
    done = _run(tmp_path, code, "--restart", "5", "--backoff", "0.1")
    assert done.returncode == -signal.SIGTERM
    assert (tmp_path / "count").read_text() == "x"


def test_a_hook_is_told_and_its_failure_changes_nothing(tmp_path):
    hook = 'echo "hook $SIGWHY_INCIDENT $SIGWHY_SIGNATURE"; exit 9'
    done = _run(tmp_path, CRASH, "--incidents", "kept", "--on-death", hook)
    assert done.returncode == -signal.SIGSEGV
    assert f"hook {_incidents(tmp_path)[0]} " in done.stderr
    assert "ended with status 9" in done.stderr
    assert done.stdout == ""


def test_a_folder_that_cannot_be_written_costs_one_line(tmp_path):
    done = _run(tmp_path, CRASH, "--incidents", "/proc/1/nowhere")
    assert done.returncode == -signal.SIGSEGV
    assert done.stderr.count("could not be kept") == 1
    assert "died of SIGSEGV" in done.stderr


def test_only_the_newest_stay(tmp_path):
    for _ in range(3):
        _run(tmp_path, CRASH, "--incidents", "kept", "--keep", "2", "--quiet", "--no-core")
    assert len(_incidents(tmp_path)) == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--keep", "x"),
        ("--keep-bytes", "9q"),
        ("--redact", "("),
        ("--restart", "-1"),
        ("--backoff", "x"),
    ],
)
def test_an_option_that_cannot_be_is_one_line_and_nothing_runs(tmp_path, options):
    done = _run(tmp_path, "open('ran', 'w')", *options)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "ran").exists()
