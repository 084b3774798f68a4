"""``sigwhy check`` as its user meets it: status, output, settings, excuses, fixes."""

import json

import pytest

import sigwhy
from sigwhy.inspection.fixes import edited
from sigwhy.model.error import UsageError
from sigwhy.model.problem import Area, Edit
from tests.cli.test_command import complaint
from tests.cli.test_command import sigwhy as command

BAD = "import multiprocessing\nimport tensorflow as tf\npool = multiprocessing.Pool(4)\n"
GOOD = "import multiprocessing\npool = multiprocessing.Pool(4)\n"
ID = "py-fork-with-tensorflow"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "good.py").write_text(GOOD)
    return tmp_path


def run(*args, cwd):
    return command("check", *args, cwd=cwd, env={"XDG_CACHE_HOME": str(cwd / ".kept")})


def found(*args, cwd):
    done = run("--format", "json", *args, cwd=cwd)
    assert done.returncode in (0, 1), done
    return [problem["id"] for problem in json.loads(done.stdout)["problems"]]


def test_a_problem_ends_with_1_and_shows_the_line(project):
    done = run(".", cwd=project)
    assert done.returncode == 1
    assert "bad.py:3:8: warning py-fork-with-tensorflow" in done.stdout
    assert "    3 | pool = multiprocessing.Pool(4)\n      |        ^^^" in done.stdout
    assert "1 warning in 1 of 2 files" in done.stdout


def test_nothing_found_ends_with_0(project):
    done = run("good.py", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("1 file checked, nothing found")


def test_what_was_found_once_is_found_again(project):
    first, second = run(".", cwd=project), run(".", cwd=project)
    assert list((project / ".kept" / "sigwhy" / "check").glob("??/*"))
    assert first.stdout.split(" s.")[0][:-3] == second.stdout.split(" s.")[0][:-3]


def test_nothing_is_kept_where_nobody_wants_it(project):
    run(".", "--no-cache", cwd=project)
    assert not (project / ".kept").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ([], "missing: PATH"),
        (["nowhere"], "there is no nowhere"),
        (["notes.txt"], "notes.txt is nothing that sigwhy checks"),
        (["empty"], "empty: nothing there that sigwhy checks"),
        (["torn.py"], "torn.py cannot be parsed"),
        (["good.py", "--select", "py-fork-with"], "did you mean py-fork-with-tensorflow"),
        (["good.py", "--target", "tensorflow=2"], "is no target; wanted is tensorflow==2.16.2"),
        (["good.py", "--memory-limit", "lots"], "is no size; wanted is a number such as 256MB"),
    ],
)
def test_wrong_use_is_said_in_one_line(project, args, says):
    (project / "notes.txt").write_text("some words\n")
    (project / "torn.py").write_text("import tensorflow\ndef (\n")
    (project / "empty").mkdir()
    assert says in complaint(run(*args, cwd=project))


def test_a_file_that_is_no_python_does_not_stop_the_others(project):
    (project / "torn.py").write_text("import tensorflow\ndef (\n")
    done = run(".", cwd=project)
    assert done.returncode == 1
    assert "note: torn.py cannot be parsed" in done.stdout


@pytest.mark.parametrize("words", [ID, "py_fork_with_tensorflow", f"py-x, {ID}"])
def test_a_comment_excuses_a_line(project, words):
    (project / "bad.py").write_text(BAD.replace("(4)", f"(4)  # sigwhy: ignore[{words}]"))
    assert found("bad.py", cwd=project) == []


def test_a_comment_excuses_only_what_it_names(project):
    (project / "bad.py").write_text(BAD.replace("(4)", "(4)  # sigwhy: ignore[py-x]"))
    assert found("bad.py", cwd=project) == [ID]


@pytest.mark.parametrize(
    ("settings", "ids"),
    [
        ("", [ID]),
        ('select = ["py"]', [ID]),
        ('ignore = ["py"]', []),
        (f'ignore = ["{ID}"]', []),
        ('per-file-ignores = { "ba*.py" = ["py"] }', []),
        ('per-file-ignores = { "tests/*" = ["py"] }', [ID]),
    ],
)
def test_the_project_says_what_it_wants(project, settings, ids):
    (project / "pyproject.toml").write_text(f"[tool.sigwhy.check]\n{settings}\n")
    assert found(".", cwd=project) == ids


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ("selct = []", "nothing is called 'selct'"),
        ('ignore = ["py-nonsense"]', "no check is called 'py-nonsense'"),
        ("ignore = 3", "ignore must be a list of words"),
        ("ignore = [", "cannot be read"),
    ],
)
def test_a_wrong_setting_is_said(project, settings, says):
    (project / "pyproject.toml").write_text(f"[tool.sigwhy.check]\n{settings}\n")
    assert says in complaint(run(".", cwd=project))


def test_many_processes_find_what_one_finds(project):
    for n in range(40):
        (project / f"long{n}.py").write_text(BAD + "# filler\n" * 10_000)
    one, many = (found(".", "--no-cache", "--jobs", str(jobs), cwd=project) for jobs in (1, 3))
    assert one == many == [ID] * 41


def test_the_library_gives_the_same(project):
    (problem,) = sigwhy.check(project)
    assert (problem.id, problem.line, problem.severity) == (ID, 3, "warning")
    assert sigwhy.check([project / "good.py"]) == []
    with pytest.raises(UsageError, match="there is no"):
        sigwhy.check(project / "none.py")


def edit(line, column, end_column, text):
    area = Area(line=line, column=column, end_line=line, end_column=end_column)
    return Edit(area=area, text=text, certain=True)


def test_edits_are_made_from_the_end_and_never_twice_in_one_place():
    edits = [edit(1, 1, 2, "xy"), edit(2, 2, 4, ""), edit(2, 3, 5, "!"), edit(2, 2, 4, "")]
    assert edited("abc\ndefgh", edits) == ("xybc\nde!h", 2)


def test_this_machine_is_checked(project):
    done = run("--host", "--format", "json", cwd=project)
    assert done.returncode in (0, 1), done
    kinds = {p["id"].split("-")[0] for p in json.loads(done.stdout)["problems"]}
    assert kinds <= {"host", "env"}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--env", "."], ". is no Python environment"),
        (["--host", "--target-cpu", "pentium"], "no CPU is called 'pentium'"),
        (["good.py", "--target-os", "debain12"], "did you mean debian12"),
    ],
)
def test_a_place_that_nobody_knows_is_said_in_one_line(project, args, says):
    assert says in complaint(run(*args, cwd=project))
