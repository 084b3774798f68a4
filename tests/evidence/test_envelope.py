"""Whatever other programs put around a crash text comes off, and the raw words stay beside it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.evidence import numbered
from sigwhy.evidence.envelope import peel

CRASH = (
    "Fatal Python error: Segmentation fault",
    "",
    "Current thread 0x00007f2e150dc740 (most recent call first):",
    '  File "train.py", line 7 in step',
    "Segmentation fault (core dumped)",
)
AROUND = {
    "compose": "trainer-1  | {}",
    "compose of old": "web_1       | {}",
    "github actions": "2026-01-07T09:12:05.1234567Z {}",
    "kubectl with offset": "2026-01-07T09:12:05.12+01:00 stderr F {}",
    "jenkins": "22:57:04 {}",
    "brackets": "[2026-01-07 22:57:04] {}",
    "journald": "Mar  1 12:00:00 node7 train.sh[812]: {}",
    "syslog": "2026-01-07T09:12:05.123+00:00 node7 python[812]: {}",
    "mail": "> {}",
    "mail twice": "> > {}",
    "mail without spaces": ">> {}",
    "mpirun": "[1,0]<stderr>:{}",
    "ray": "(train pid=812, ip=10.0.0.1) {}",
    "raylet": "(raylet) {}",
    "torchrun": "[rank0]: {}",
    "logcat": "12-15 17:22:46.719 17395 17450 F libc    : {}",
    "android studio": "2020-12-15 17:22:46.719 17395-17450/org.app A/libc: {}",
    "colour": "\x1b[31m{}\x1b[0m",
    "several at once": "trainer-1  | 2026-01-07T09:12:05.1234567Z > \x1b[1m{}\x1b[0m",
    "srun -l": "12: {}",
    "docker compose without number": "trainer | {}",
    "a byte order mark": "\ufeff{}",
}


def peeled(text):
    return peel("e", numbered(text)).lines


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_a_prefix_comes_off(around):
    assert peeled("\n".join(around.format(line) for line in CRASH)) == CRASH


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_the_raw_line_stays(around):
    raw = [around.format(line) for line in CRASH]
    assert peel("e", numbered("\n".join(raw))).raw == tuple(raw)


@pytest.mark.parametrize(
    "line",
    [
        ">>> import tensorflow as tf",
        "2023-09-14 08:17:07.669125: F tensorflow/core/platform/env.cc:73] Check failed",
        "(tensorflow) user@host ~ % python train.py",
        "[ 7128.415134] python[812]: segfault at 8 ip 7f sp 7f error 4",
        "[New LWP 25245]",
        "#0  0x00007ffff7e237b8 in raise () from /lib/libc.so.6",
        "F0000 00:00:1703612509.198269       1 descriptor.cc:2160] Check failed: x",
        "[libprotobuf FATAL google/protobuf/stubs/common.cc:87] text",
        "==31517==ERROR: LeakSanitizer: detected memory leaks",
        "[1]    3989205 abort (core dumped)  python train.py",
        "[node0:00019] *** Process received signal ***",
        '*** Aborted at 1703612509 (unix time) try "date -d @1703612509" ***',
    ],
)
def test_what_belongs_to_the_crash_stays(line):
    assert peeled(line) == (line,)


def test_a_fence_of_markdown_is_blank():
    assert peeled("```text\nKilled\n```") == ("", "Killed", "")


def test_an_escaped_paste_is_plain_again():
    assert peeled("&gt;&gt;&gt; import x\n  File &quot;a.py&quot;, line 1 in &lt;module&gt;") == (
        ">>> import x",
        '  File "a.py", line 1 in <module>',
    )


def test_markup_around_a_paste_comes_off():
    assert peeled("<pre><code>Killed\n</code></pre>") == ("Killed", "")


def test_rsyslog_newlines_are_lines():
    evidence = peel("e", numbered("Mar  1 12:00:00 node7 python[8]: Killed#012  sub line"))
    assert evidence.lines == ("Killed", "  sub line")
    assert evidence.places == ((1, 1), (1, 1))


def test_docker_json_is_unpacked():
    assert peeled(json.dumps({"log": "Killed\n", "stream": "stderr"})) == ("Killed",)


def test_pieces_of_a_progress_bar_are_lines_of_one_number():
    evidence = peel("e", numbered("10%|#\r20%|##\rKilled\nnext"))
    assert evidence.lines == ("10%|#", "20%|##", "Killed", "next")
    assert evidence.places == ((1, 1), (1, 1), (1, 1), (2, 2))


LONG = (
    "2023-09-14 08:17:07.669125: F tensorflow/core/framework/tensor_shape.cc:186] Non-OK-status: "
    "InitDims(dim_sizes) status: INVALID_ARGUMENT: Expected shape dimensions to be non-negative"
)


def wrapped(text, width):
    return "\n".join(
        line[n : n + width]
        for line in text.splitlines()
        for n in range(0, max(len(line), 1), width)
    )


@pytest.mark.parametrize("width", [72, 80, 100, 120])
def test_lines_that_a_terminal_broke_are_whole_again(width):
    text = f"Epoch 1\n{LONG}\nAborted (core dumped)"
    assert peeled(wrapped(text, width)) == tuple(text.splitlines())


def test_a_joined_line_stands_on_all_its_lines():
    evidence = peel("e", numbered(wrapped(LONG, 80)))
    assert evidence.places == ((1, 3),)
    assert evidence.raw == (wrapped(LONG, 80),)


def test_frames_as_wide_as_each_other_are_not_joined():
    frames = "\n".join(
        f"#{n}  0x00007ffff7e237b{n} in some_function_of_this_length_{n} () from /lib/a.so"
        for n in range(9)
    )
    assert peeled(frames) == tuple(frames.splitlines())


def test_a_rule_is_not_joined_with_what_follows():
    text = "=" * 80 + "\nERROR: AddressSanitizer: SEGV"
    assert peeled(text) == tuple(text.splitlines())


def test_messages_that_repeat_are_not_joined():
    text = "\n".join(
        f"OpenBLAS blas_thread_init: pthread_create failed for thread {n} of 64: Resource temporarily unavailable"
        for n in range(1, 9)
    )
    assert peeled(text) == tuple(text.splitlines())


@given(text=st.text())
def test_any_text_can_be_peeled_and_keeps_its_order(text):
    evidence = peel("e", numbered(text))
    firsts = [first for first, _ in evidence.places]
    assert firsts == sorted(firsts)
    assert len(evidence.lines) == len(evidence.raw) == len(evidence.places)
