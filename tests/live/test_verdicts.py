"""Small programs that die in one known way each, under watch: is the verdict the truth?"""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from sigwhy import explain
from sigwhy.autopsy.opened import opened
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.report import json as forms
from tests.live.watched import PYTHON, SECONDS

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
SOURCE = Path(__file__).parent / "own.c"
SEGV, ABRT, FPE, BUS = (
    -int(s) for s in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS)
)
# Words that take risks, and do no harm.
RISKY = """
import ctypes, mmap
room = mmap.mmap(-1, 4096)
view = (ctypes.c_char * 16).from_buffer(room)
libc = ctypes.CDLL(None)
libc.getpid()
print("munmap, Py_DecRef and frombuffer are only words here")
"""


class Truth(NamedTuple):
    """What the program does, and what is to be said of it; ``name`` stands in what is to blame."""

    code: str
    status: int
    mechanism: str
    cause: str
    name: str = ""


TRUTHS = {
    "null pointer in a library of your own": Truth("own.null_write()  # dies", SEGV, "null-pointer", "custom-op-bug", "null_write"),
    "past the end": Truth("own.past_end()  # dies", SEGV, "out-of-bounds-write", "custom-op-bug", "past_end"),
    "free twice": Truth("own.twice()  # dies", ABRT, "heap-corruption", "custom-op-bug", "twice"),
    "recursion in C": Truth("own.deep(1)  # dies", SEGV, "stack-overflow", "deep-recursion", "deep"),
    "division by zero": Truth("own.divide(1, 0)  # dies", FPE, "integer-division", "custom-op-bug", "divide"),
    "assertion in your own": Truth("own.insist(0)  # dies", ABRT, "check-failed", "custom-op-bug", "insist"),
    "smashed stack": Truth("own.smash()  # dies", ABRT, "stack-smashing", "custom-op-bug", "smash"),
    "a thread of your own": Truth("own.in_thread()  # dies", SEGV, "null-pointer", "custom-op-bug", "null_write"),
    "write to what is read only": Truth(
        """
        import mmap, os
        file = os.open(__file__, os.O_RDONLY)
        libc.mmap.restype = ctypes.c_void_p
        at = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file, ctypes.c_long(0))
        own.write_first(ctypes.c_void_p(at))  # dies
        """, SEGV, "write-to-readonly", "custom-op-bug", "write_first"),
    "string at null": Truth("ctypes.string_at(0)  # dies", SEGV, "null-pointer", "interpreter-abuse", "string_at"),
    "a function at no address": Truth("ctypes.CFUNCTYPE(None)(0x1234)()  # dies", SEGV, "bad-jump", "interpreter-abuse", "CFUNCTYPE"),
    "memcpy to nowhere": Truth("libc.memcpy(8, b'x' * 64, 64)  # dies", SEGV, "null-pointer", "interpreter-abuse", "memcpy"),
    "free of half a block": Truth(
        """
        libc.calloc.restype = ctypes.c_void_p
        libc.free.argtypes = [ctypes.c_void_p]
        block = libc.calloc(1, 256)
        libc.free(block + 8)  # dies
        """, ABRT, "heap-corruption", "interpreter-abuse", "free"),
    "the interpreter without its lock": Truth("ctypes.CDLL(None).PyList_New(3)  # dies", SEGV, "null-pointer", "gil-misuse", "CDLL"),
    "counts of references": Truth(
        """
        thing = ["a", "b"] * 9
        for n in range(9):
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(thing))  # dies
        held = [object() for n in range(9)]
        del thing
        """, SEGV, "*", "interpreter-abuse", "Py_DecRef"),
    "recursion in Python": Truth(
        """
        import sys, threading
        sys.setrecursionlimit(10**7)
        threading.stack_size(1 << 18)
        class Deep:
            def __repr__(self):
                return repr([self])  # dies
        thread = threading.Thread(target=repr, args=(Deep(),))
        thread.start()
        thread.join()
        """, SEGV, "stack-overflow", "deep-recursion", "__repr__"),
    "abort": Truth("import os; os.abort()  # dies", ABRT, "self-abort", "self-abort", "abort"),
    "a file that was cut": Truth(
        """
        import mmap, os, tempfile
        file = tempfile.TemporaryFile()
        file.truncate(8192)
        room = mmap.mmap(file.fileno(), 8192)
        os.truncate(file.fileno(), 0)
        room[5000]  # dies
        """, BUS, "bus-error", "file-truncated"),
    "a package": Truth("fastpack.touch(4096)  # dies", SEGV, "null-pointer", "*", "fastpack"),
    "under a handler": Truth("import faulthandler; faulthandler.enable()\nown.null_write()  # dies", SEGV, "null-pointer", "custom-op-bug", "null_write"),
}  # fmt: skip
# Programs with risky words, which die of something else: never of these causes.
INNOCENT = ("buffer-aliasing", "interpreter-abuse", "api-lifecycle", "file-truncated")
ALARMS = {
    "an assertion of a package": ("fastpack.insist(0)", ABRT),
    "a package that follows a null pointer": ("fastpack.touch(4096)", SEGV),
    "terminated": ("import os; os.kill(os.getpid(), 15)", -15),
    "killed": ("import os; os.kill(os.getpid(), 9)", -9),
    "recursion": (TRUTHS["recursion in Python"].code, SEGV),
}


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """A library of the user's own, and a package with a compiled module, compiled once."""
    folder = tmp_path_factory.mktemp("built")
    package = folder / "lib" / "site-packages" / "fastpack"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from fastpack._core import *\n")
    flags = ["-g", "-O1", "-w", "-shared", "-fPIC", "-fstack-protector-all", "-pthread"]
    include = sysconfig.get_path("include")
    for target, more in (
        (folder / "libown.so", ()),
        (package / "_core.so", ("-DMODULE", f"-I{include}")),
    ):
        subprocess.run(["gcc", *flags, *more, "-o", target, SOURCE], check=True, timeout=SECONDS)
    return folder


class Told(NamedTuple):
    """How the command ended, and what was said of it."""

    status: int
    report: dict
    script: Path
    incident: Path | None


def died(libraries, folder, code):
    """A watched program, and its report, which goes into a file."""
    folder.mkdir()
    script = folder / "train.py"
    head = f"import ctypes, fastpack\nlibc = ctypes.CDLL(None)\nown = ctypes.CDLL('{libraries}/libown.so')\n"
    script.write_text(head + textwrap.dedent(code))
    said = folder / "told.json"
    done = subprocess.run(
        [PYTHON, "-m", "sigwhy", "run", "--quiet", "--incidents", folder, "--json", said, "--", PYTHON, script],
        env={**os.environ, "PYTHONPATH": str(libraries / "lib" / "site-packages")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )  # fmt: skip
    incident = next(iter(sorted(folder.glob("*.sigwhy"))), None)
    report = json.loads(said.read_text()) if said.exists() else {}
    return Told(done.returncode, report, script, incident)


@pytest.fixture(scope="session")
def deaths(libraries, tmp_path_factory, request):
    """What was told of each program that a test of this session wants; three run at a time."""
    folder = tmp_path_factory.mktemp("deaths")
    codes = {f"truth {name}": truth.code for name, truth in TRUTHS.items()}
    codes |= {f"alarm {name}": RISKY + textwrap.dedent(code) for name, (code, _) in ALARMS.items()}
    params = [i.callspec.params for i in request.session.items if hasattr(i, "callspec")]
    wanted = dict.fromkeys(p["program"] for p in params if p.get("program") in codes)
    with ThreadPoolExecutor(3) as pool:
        yield {
            name: pool.submit(
                died, libraries, folder / name.replace(" ", "-"), textwrap.dedent(codes[name])
            )
            for name in wanted
        }


@pytest.mark.parametrize("program", [f"truth {name}" for name in TRUTHS])
def test_the_verdict_is_the_truth(deaths, program):
    truth = TRUTHS[program.removeprefix("truth ")]
    told = deaths[program].result()
    assert told.status == truth.status
    verdict = told.report["verdict"]
    assert verdict, told.report["headline"]
    assert truth.mechanism in {"*", verdict["mechanism"]}
    assert truth.cause in {"*", verdict["cause"]}
    blamed = verdict["culprit"]
    assert truth.name in f"{blamed['name']} {blamed['function']} {blamed['argument']}"
    assert where(blamed) in {
        None,
        lines(told.script, "# dies"),
        lines(SOURCE, f"/* here: {blamed['function']} */"),
    }


def where(blamed):
    """File and line; of what lies elsewhere (a file of data, the C library) there is none."""
    known = blamed["file"] and blamed["line"] and Path(blamed["file"]).suffix in {".py", ".c"}
    return (Path(blamed["file"]).name, blamed["line"]) if known else None


def lines(file, mark):
    found = [n for n, line in enumerate(file.read_text().splitlines(), 1) if mark in line]
    return (file.name, found[0]) if found else None


@pytest.mark.parametrize("program", [f"alarm {name}" for name in ALARMS])
def test_risky_words_are_not_to_blame_for_another_death(deaths, program):
    told = deaths[program].result()
    assert told.status == ALARMS[program.removeprefix("alarm ")][1]
    verdict = told.report["verdict"] or {}
    assert verdict.get("cause") not in INNOCENT


@pytest.mark.parametrize(
    "program", ["truth free twice", "truth a file that was cut", "truth a package"]
)
def test_an_incident_says_the_same_each_time(deaths, program):
    told = deaths[program].result()
    reports = [json.loads(forms.render(explain(told.incident))) for _ in range(2)]
    assert reports[0] == reports[1]
    assert reports[0]["verdict"] == told.report["verdict"]


@pytest.mark.parametrize("program", ["truth free twice", "truth string at null"])
def test_less_of_an_incident_is_explained_as_well(deaths, program):
    whole = opened(deaths[program].result().incident)
    for less in (
        {"threads": []},
        {"mappings": [], "code": b""},
        {"machine": "aarch64"},
        {"machine": "s390x", "cpu": "", "system": ""},
        {"sources": {}, "modules": []},
        {"signal": None, "pid": None, "tid": None},
    ):
        report = judge(Gathered(()), msgspec.structs.replace(whole, **less))
        assert not [note for note in report.notes if "please report" in note]
        assert forms.render(report)


def test_two_incidents_of_one_script_are_one_case(deaths):
    """Each keeps other lines of it, and each is quoted from its own."""
    first = opened(deaths["truth free twice"].result().incident)
    second = msgspec.structs.replace(
        first,
        sources={
            path: {90 + n: line for n, line in kept.items()} for path, kept in first.sources.items()
        },
    )
    report = judge(Gathered(()), first, second)
    assert [report.case.quote(fact.span) for fact in report.case.facts]
    names = [piece.name for piece in report.case.evidence]
    assert len(names) == len(set(names))
