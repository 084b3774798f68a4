"""What the smaller topics tell, and what holds for every topic and any Incident."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.autopsy import TOPICS, autopsy, ending, open_files, other_python, settings, user_sources
from sigwhy.model.fact import Caught, Death, Exit, Notice, Opened, Sent, Wrote
from sigwhy.model.incident import (
    Buffer,
    Incident,
    Mapping,
    Module,
    NativeFrame,
    Process,
    PythonFrame,
    Signal,
    Thread,
    Wait,
)
from tests.autopsy.made import OWN, SCRIPT, quotes, told


@pytest.mark.parametrize(
    ("ran", "wanted", "fits"),
    [
        ("3.11", "3.11", True),
        ("3.11.7", "3.11", True),
        ("3.12", "3.11", False),
        ("3.1", "3.11", False),
        (None, "3.11", True),
    ],
)
def test_a_library_for_another_python_is_told(ran, wanted, fits):
    of = Incident(python_version=ran, built_for={OWN: wanted})
    found = told(other_python, of, Notice)
    assert (found is None) is fits
    assert fits or (found.topic, found.subject) == ("python-abi", OWN)


def test_files_of_data_are_told_and_everyday_files_are_not():
    everyday = [
        "/dev/null",
        "pipe:[3]",
        "socket:[4]",
        "/memfd:x (deleted)",
        "anon_inode:[eventpoll]",
        "/proc/self/maps",
        "/usr/lib/libx.so.3",
        "/a/run.log",
        "/a/b.py",
        "/a/x.log (deleted)",
    ]
    files = {str(n): path for n, path in enumerate(everyday, 3)}
    assert told(open_files, Incident(files=files), Opened) is None
    of = Incident(
        files={"0": "/srv/in.npy", "1": "/srv/out", "2": "/srv/err"}, sizes={"/srv/in.npy": 3}
    )
    (found,) = [one.fact for one in open_files.tell(of)]
    assert (found.path, found.size) == ("/srv/in.npy", 3)
    assert told(open_files, Incident(files={"4": "/dev/shm/x"}), Opened).path == "/dev/shm/x"  # noqa: S108 -- a name


def test_variables_that_change_native_code_are_told():
    of = Incident(environment={"OMP_STACKSIZE": "16k", "PATH": "/bin", "TF_CPP_MIN_LOG_LEVEL": "2"})
    assert [one.fact.subject for one in settings.tell(of)] == [
        "OMP_STACKSIZE",
        "TF_CPP_MIN_LOG_LEVEL",
    ]


@pytest.mark.parametrize(
    ("sender", "relation"),
    [(7, "self"), (0, "kernel"), (6, "parent"), (9, "child"), (5, "relative"), (77, "outside")],
)
def test_who_sent_a_signal_and_how_the_two_are_related(sender, relation):
    tree = [
        Process(pid=5),
        Process(pid=6, parent=5),
        Process(pid=7, parent=6),
        Process(pid=9, parent=7),
    ]
    signal = Signal(name="SIGTERM", number=15, code_number=0, sender_pid=sender)
    found = told(ending, Incident(pid=7, signal=signal, processes=tree), Sent)
    assert found.relation == relation


def test_a_handler_that_made_an_exit_of_it():
    signal = Signal(name="SIGSEGV", number=11, code_number=1)
    of = Incident(pid=7, signal=signal, masked=True, exit_status=3)
    assert told(ending, of, Caught).status == 3
    assert told(ending, of, Death).signal == "SIGSEGV"


def test_an_end_without_a_signal():
    assert told(ending, Incident(exit_status=3), Exit).status == 3
    assert list(ending.tell(Incident())) == []


def test_a_line_of_your_source_is_quoted_by_its_number():
    of = Incident(sources={SCRIPT: {40: "x = 1", 7: "os.fork()"}})
    ((fact, quote),) = [(f, q) for f, q in quotes(of) if isinstance(f, Wrote)]
    assert (fact.topic, fact.line, quote.first, quote.text) == ("forks", 7, 7, "os.fork()")


def test_a_source_can_not_take_the_name_of_other_evidence():
    ((piece, _),) = user_sources.pieces(Incident(sources={"incident": {1: "os.fork()"}}))
    assert piece.name != "incident"


WORDS = st.text(max_size=12) | st.sampled_from(
    [
        "_PyEval_EvalFrameDefault",
        "ffi_call",
        "string_at",
        "free",
        "Py_RunMain",
        "tensorflow::A::B()",
    ]
)
PATHS = st.text(max_size=12) | st.sampled_from(
    [
        OWN,
        SCRIPT,
        "",
        "<string>",
        "/",
        "/usr/lib/libffi.so.8",
        "/usr/bin/python3.11",
        "/lib/libc.so.6",
        "[stack]",
        "/x/site-packages/",
    ]
)
ADDRESSES = st.integers(-(2**70), 2**70) | st.sampled_from(
    [0, 8, 2**47, 2**64 - 1, 0x7F00_0000_0000]
)
LINES = st.text(max_size=60) | st.sampled_from(["lib.go(8)", "libc.munmap(p)", "f(", "x[0]", "\n"])
NATIVE = st.builds(
    NativeFrame,
    address=ADDRESSES,
    function=st.none() | WORDS,
    library=st.none() | PATHS,
    offset=st.none() | ADDRESSES,
    line=st.none() | st.integers(),
)
CALLED = st.builds(
    PythonFrame,
    function=WORDS,
    file=PATHS,
    line=st.none() | st.integers(-2, 3),
    column=st.none() | st.integers(-9, 99),
    end_column=st.none() | st.integers(-9, 99),
    locals=st.dictionaries(WORDS, WORDS, max_size=2),
)
THREADS = st.builds(
    Thread,
    tid=st.integers(0, 3),
    name=WORDS,
    crashed=st.booleans(),
    state=st.sampled_from(["", "S", "R", "?"]),
    wait=st.none() | st.builds(Wait, call=WORDS | st.sampled_from(["futex", "202"]), arguments=st.lists(ADDRESSES, max_size=3), owner=st.none() | st.integers(0, 3), descriptors=st.lists(st.integers(-2, 5), max_size=2)),
    registers=st.dictionaries(WORDS | st.sampled_from(["rip", "rsp", "rdi", "pc", "sp", "(", "x0"]), ADDRESSES, max_size=4),
    python=st.lists(CALLED, max_size=3),
    native=st.lists(NATIVE, max_size=5),
    holds_gil=st.none() | st.booleans(),
)  # fmt: skip
INCIDENTS = st.builds(
    Incident,
    pid=st.none() | st.integers(0, 3),
    tid=st.none() | st.integers(0, 3),
    command=st.lists(WORDS, max_size=2),
    signal=st.none() | st.builds(Signal, name=st.sampled_from(["SIGSEGV", "SIGBUS", "SIGFPE", "SIGABRT", "SIGKILL", "", "SIG99"]), number=st.integers(-1, 99), code=st.none() | st.sampled_from(["SEGV_MAPERR", "SEGV_ACCERR", "?"]), code_number=st.integers(-9, 200), address=st.none() | ADDRESSES, sender_pid=st.none() | st.integers(0, 3)),
    exit_status=st.none() | st.integers(-99, 999),
    masked=st.booleans(),
    hang_seconds=st.none() | st.floats(),
    spinning=st.none() | st.booleans(),
    machine=st.sampled_from(["x86_64", "aarch64", "riscv64", ""]),
    threads=st.lists(THREADS, max_size=3),
    mappings=st.lists(st.builds(Mapping, ADDRESSES, ADDRESSES, st.sampled_from(["rw-p", "---p", "r-xp", "", "rwxs"]), ADDRESSES, PATHS), max_size=4),
    code=st.binary(max_size=16) | st.sampled_from([b"\x8b\x07" + b"\x90" * 9]),
    python_version=st.none() | WORDS,
    processes=st.lists(st.builds(Process, pid=st.integers(0, 3), parent=st.none() | st.integers(0, 3), status=st.none() | st.integers(), signal=st.none() | WORDS), max_size=3),
    modules=st.lists(st.builds(Module, path=PATHS, build_id=st.none() | WORDS, base=st.none() | ADDRESSES), max_size=3),
    environment=st.dictionaries(WORDS | st.sampled_from(["TF_X", "LD_PRELOAD"]), LINES, max_size=2),
    limits=st.dictionaries(WORDS | st.sampled_from(["stack size", "open files"]), WORDS, max_size=2),
    files=st.dictionaries(WORDS | st.sampled_from(["0", "3"]), PATHS, max_size=3),
    sizes=st.dictionaries(PATHS, st.integers(-1, 2**70), max_size=2),
    built_for=st.dictionaries(PATHS, WORDS, max_size=2),
    buffers=st.lists(st.builds(Buffer, name=WORDS, address=ADDRESSES, size=ADDRESSES, shape=st.lists(st.integers(), max_size=2), dtype=WORDS, start=ADDRESSES), max_size=2),
    sources=st.dictionaries(PATHS, st.dictionaries(st.integers(-2, 3), LINES, max_size=3), max_size=2),
    blind=st.lists(WORDS, max_size=2),
)  # fmt: skip


@given(INCIDENTS)
def test_no_incident_makes_a_topic_raise(of):
    for topic in TOPICS:
        list(topic.tell(of))


@given(INCIDENTS)
def test_all_that_is_told_can_be_quoted(of):
    found = autopsy(of)
    assert not [note for note in found.notes if "please report" in note]
    for piece in found.evidence:
        assert len(piece.lines) == len(piece.raw) == len(piece.places)
        assert not any("\n" in line for line in piece.lines)
    for fact, quote in quotes(of):
        assert quote.words.replace("\n", " ") in quote.text, fact


@given(INCIDENTS)
def test_the_same_incident_tells_the_same_again(of):
    again = msgspec.structs.replace(of)
    assert autopsy(of) == autopsy(again)
