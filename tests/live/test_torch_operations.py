"""Programs that die inside of PyTorch, under watch: is the operator the right one, and who is guilty?

The table is ``torch_programs.py``. Of all its rows the share is measured, so that one bad day of a busy
machine is no failure; that nothing wrong is called a fact holds for every row.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sigwhy.autopsy.opened import opened
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Guilty
from tests.live.frameworks import python_of
from tests.live.torch_programs import FRESH
from tests.live.torch_programs import PROGRAMS as OLDER
from tests.live.watched import sigwhy

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="sigwhy run works on Linux"),
]
DEATHS = Path(__file__).with_name("torch_deaths.py")
AT_ONCE = 7  # of one run so many deaths are looked at
SECONDS = 300
PROGRAMS = {**OLDER, **FRESH}
RIGHT, GUILTY = 0.92, 0.85


def died(folder, names):
    """The Incident of each program, by its name."""
    python = python_of("arrays")
    files = {f"p{n:02d}": name for n, name in enumerate(names)}
    parts = [list(files)[n :: -(-len(files) // AT_ONCE)] for n in range(-(-len(files) // AT_ONCE))]

    def run(n):
        programs = folder / f"part{n}"
        programs.mkdir()
        for stem in parts[n]:
            (programs / f"{stem}.py").write_text(PROGRAMS[files[stem]].source)
        kept = ("--keep", "999", "--incidents", str(folder / "kept"))
        subprocess.run(
            [*sigwhy(*kept, "--", python, str(DEATHS), str(programs))],
            capture_output=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    with ThreadPoolExecutor(2) as both:
        list(both.map(run, range(len(parts))))
    seen = {}
    for path in sorted((folder / "kept").glob("*.sigwhy")):
        incident = opened(path)
        # The name of the process, or that of the file where somebody gave it another name.
        told = {Path(f.file).stem for t in incident.threads for f in t.python}
        told |= {thread.name for thread in incident.threads}
        stem = next(iter(told & set(files)), None)
        if stem:
            seen.setdefault(files[stem], incident)
    return seen


@pytest.fixture(scope="module")
def incidents(tmp_path_factory):
    return died(tmp_path_factory.mktemp("torch"), list(PROGRAMS))


def found(incident):
    """The operations of PyTorch; NumPy's are another table's."""
    return [one for one in incident.operations if one.framework == "torch"]


def operator(incident):
    first = next(iter(found(incident)), None)
    return {first.op.rpartition("::")[2], first.inner} if first else {""}


def test_every_program_died(incidents):
    assert set(incidents) == set(PROGRAMS)


def test_the_operator_is_the_right_one(incidents):
    wrong = {n: operator(i) for n, i in incidents.items() if PROGRAMS[n].op not in operator(i)}
    assert len(wrong) <= (1 - RIGHT) * len(PROGRAMS), wrong


def test_no_wrong_operator_is_called_a_fact(incidents):
    for name, incident in incidents.items():
        sure = [one for one in found(incident) if not one.is_hint]
        assert not sure or PROGRAMS[name].op in operator(incident), name


def test_nothing_is_named_where_no_operator_was_involved(incidents):
    for name, incident in incidents.items():
        assert PROGRAMS[name].op or not found(incident), name


def test_the_guilty_tensor_is_named_with_its_variable_and_the_cause_is_right(incidents):
    wrong = {}
    # On a busy machine the frames of Python may take too long, and with them go the names.
    seen = {name: incident for name, incident in incidents.items() if not incident.blind}
    for name, incident in seen.items():
        program = PROGRAMS[name]
        case = judge(Gathered(()), incident)
        named = {g.argument: g.variable or "" for g in case.case.all(Guilty)}
        cause = case.verdict.cause.id if case.verdict else None
        if program.guilty and named.get(program.guilty) != program.holder:
            wrong[name] = named
        if program.cause and cause != program.cause:
            wrong[name] = (named, cause)
    most = sum(bool(PROGRAMS[name].guilty) for name in seen)
    assert len(wrong) <= max((1 - GUILTY) * most, 1), wrong
