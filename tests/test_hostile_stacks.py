"""Crash reports made to break a reader: endless lines, deep nesting, ten thousand frames."""

import time

import pytest

from sigwhy.model.case import Evidence
from sigwhy.model.fact import Stack
from sigwhy.read import (
    android,
    assertion,
    backtrace,
    coredumpctl,
    cxx,
    fortify,
    gdb,
    heap,
    hs_err,
    ips,
    julia,
    lldb,
    macos_report,
    openmpi,
    ucx,
    windows_event,
)

FORMS = (
    android, assertion, backtrace, coredumpctl, cxx, fortify, gdb, heap, hs_err, ips, julia, lldb,
    macos_report, openmpi, ucx, windows_event,
)  # fmt: skip
LONG = 64 * 1024
# What a regular expression could trip over: the beginnings of its parts, again and again.
PIECES = (
    "(", "[0x", "#0  ", " at ", " in ", " from ", "::", "<", "`", "'", " (", "a", " ", "0", "-",
    "=", ": ", "Assertion `", "/lib(", "frame #0: ", "+0x1)", "signal 11 (SIGSEGV), code 1 ",
    "Exception thrown at 0x00007FF9 ", "terminate called ", "malloc(): invalid", " + 1", "\t", ",",
    "#1 0x00007f00 x (", "lib.so`", "\u3000", "at x.c:1 ", "Thread 1 ", "00000000 ", "'x' ",
)  # fmt: skip
TRICKS = tuple(piece * (LONG // len(piece)) for piece in PIECES)
FRAME = {
    gdb: "#{n}  0x00007f00 in f{n} (x=1) at f.c:{n}",
    lldb: "  frame #{n}: 0x00007f00 lib.dylib`f{n} + 4",
    openmpi: "[host:1] [{n}] /lib/libx.so(f+0x1)[0x7f00]",
    ucx: " {n} 0x0000000000043090 f()  /home/f.c:{n}",
    coredumpctl: "#{n}  0x000070ddfaf0e32c f{n} (libx.so + 0x1)",
    backtrace: "/lib/libx.so(f+0x1)[0x7f00]",
    android: "      #{n} pc 000000000001b2c4  /lib/libx.so (f+44)",
    macos_report: "{n}   libx.dylib  0x0000000105cdb0a4 f + 12",
}


def read(form, text):
    return list(form.read(Evidence.of("e", text)))


@pytest.mark.parametrize("form", FORMS, ids=lambda f: f.__name__.rpartition(".")[2])
def test_endless_lines_are_read_in_time(form):
    started = time.process_time()
    for trick in TRICKS:
        read(form, trick)
        read(form, form.MARKERS[0] + trick)
        some = trick[: LONG // 4]
        read(form, f"#0  {some}\n{some}\nThread 0 Crashed:\n0   a  0x0000000100000000 {some}")
    assert time.process_time() - started < 0.25 * len(TRICKS)


@pytest.mark.parametrize("form", FRAME, ids=lambda f: f.__name__.rpartition(".")[2])
def test_ten_thousand_frames_are_one_stack_of_bounded_size(form):
    text = "\n".join(FRAME[form].format(n=n) for n in range(9999))
    started = time.process_time()
    (stack,) = [fact for fact in read(form, text) if isinstance(fact, Stack)]
    assert 1000 <= len(stack.frames) <= 2000
    assert time.process_time() - started < 5


def test_a_frame_that_never_closes_its_brackets_does_not_eat_the_text():
    text = "#0  0x00007f00 in f (x=(((\n" + "(\n" * 20_000 + "#1  0x00007f00 in g () at g.c:1\n"
    started = time.process_time()
    stacks = [fact for fact in read(gdb, text) if isinstance(fact, Stack)]
    assert stacks[-1].frames[-1].function == "g"
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "body",
    [
        '"threads" : ' + "[" * 200_000,
        '"threads" : ' + '{"frames":[' * 50_000,
        '"exception" : {"signal":' * 40_000,
        '"pid" : ' + "9" * 100_000,
        '"threads" : [{"frames":[{"imageIndex":-1},{"imageIndex":1e99},{"imageIndex":"x"},7]}]',
        '"threads" : [{"frames":7},[],null,{"frames":[null]}]',
        '"exception" : {"signal":7,"type":[],"subtype":{}}, "termination" : [], "asi" : {"a":[7]}',
        '"usedImages" : [7,null,{"path":7}], "threads" : [{"frames":[{"imageIndex":0,"symbol":[]}]}]',
        '"faultingThread" : true, "threads" : [{"triggered":"yes","frames":[{"symbol":"f"}]}]',
    ],
    ids=range(9),
)
def test_a_report_in_json_may_hold_anything(body):
    started = time.process_time()
    for fact in read(ips, '{"bug_type":"309"}\n{\n' + body + "\n}"):
        assert fact.span.last <= 3
    assert time.process_time() - started < 5


def test_numbers_without_end_are_no_numbers():
    digits = "9" * 6000
    for form in FORMS:
        read(form, f"Signal: Segmentation fault ({digits})\nsi_addr: 0x{digits}\nthread #{digits}")
        read(
            form, f"a.c:{digits}: f: Assertion `x' failed.\n#{digits}  0x1 in f () at f.c:{digits}"
        )
