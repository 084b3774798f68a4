"""A place in a file of this machine gets the name of its function, and no other place does."""

import ctypes
import re
import shutil
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.machine.library import function_at, named
from sigwhy.model.case import Case, Evidence
from sigwhy.model.fact import Frame, Stack
from sigwhy.read import kernel

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kernel logs are Linux"),
    pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc"),
]

SOURCE = """
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
static unsigned long at, sp, address;
static int die(int how) { exit(how); return how; }
static void told(int number, siginfo_t *info, void *context) {
  ucontext_t *c = context;
  ip_and_sp(c);
  address = (unsigned long)info->si_addr;
  char line[512], code[256] = "";
  FILE *maps = fopen("/proc/self/maps", "r");
  for (int n = -16; n < 24; n++)
    sprintf(code + strlen(code), n ? "%02x " : "<%02x> ", ((unsigned char *)at)[n]);
  while (fgets(line, sizeof line, maps)) {
    unsigned long from, to, offset; char mode[8], path[256] = "";
    sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &from, &to, mode, &offset, path);
    if (at >= from && at < to)
      printf("%d %lx %lx %lx %lx %lx %lx %s\\n%s\\n", number, address, at, sp, from, to - from,
             offset + at - from, strrchr(path, '/') + 1, code);
  }
  fflush(stdout);
  _exit(0);
}
__attribute__((noinline)) int innocent(int x) { return x * 3 + 1; }
__attribute__((noinline)) int reads_a_field(int *row) { return row[2] + 1; }
__attribute__((noinline)) static int hidden_division(int a, int b) { return a / b; }
int main(int count, char **words) {
  struct sigaction action = {.sa_sigaction = told, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0); sigaction(SIGFPE, &action, 0);
  if (count > 1) return hidden_division(count, count - 2);
  return innocent(1) + reads_a_field((int *)0);
}
""".replace(
    "ip_and_sp(c);", "at = c->uc_mcontext.gregs[REG_RIP]; sp = c->uc_mcontext.gregs[REG_RSP];"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        pytest.skip("written for 64 bits")
    folder = tmp_path_factory.mktemp("crash")
    (folder / "crash.c").write_text(SOURCE)
    build = ["gcc", "-O1", "-o", str(folder / "crash-me"), str(folder / "crash.c")]
    if subprocess.run(build, capture_output=True, timeout=60, check=False).returncode:
        pytest.skip("written for x86-64")
    return folder / "crash-me"


def crash(program, *words):
    """The lines that the kernel writes, old and new, from what the dying child saw of itself."""
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=20, check=True)
    first, code = done.stdout.splitlines()
    number, address, at, sp, base, size, offset, name = first.split()
    head = (
        f"crash-me[7]: segfault at {address} ip {at} sp {sp} error 4 in {name}"
        if number == "11"
        else f"traps: crash-me[7] trap divide error ip:{at} sp:{sp} error:0 in {name}"
    )
    return f"{head}[{base}+{size}]", f"{head}[{offset},{base}+{size}]", f"Code: {code}"


def judged(program, *lines):
    evidence = Evidence.of("e", "\n".join(lines))
    case = Case((evidence,), tuple(kernel.read(evidence)))
    return next(named(case, [program.parent]).all(Stack)).frames[0].function


@pytest.mark.live
@pytest.mark.parametrize(
    ("words", "function"), [((), "reads_a_field"), (("/",), "hidden_division")]
)
def test_a_crashed_child_is_named_from_either_form_of_the_line(program, words, function):
    old, new, code = crash(program, *words)
    assert judged(program, old, code) == function
    assert judged(program, new, code) == function
    assert judged(program, old) == function
    assert judged(program, new) == function


@pytest.mark.live
def test_another_build_of_the_file_gets_no_name(program):
    old, new, code = crash(program)
    other = re.sub(r"<..> .. ..", "<90> 90 90", code)
    assert judged(program, old, other) is None
    assert judged(program, new, other) is None
    assert judged(program, re.sub(r"\+\w+\]", "+99000]", old)) is None
    assert (
        judged(program, old.replace("crash-me[", "other[").replace(" in crash-me", " in no"))
        is None
    )


@pytest.mark.live
def test_a_damaged_file_names_nothing_and_breaks_nothing(program, tmp_path):
    old, _, _ = crash(program)
    frame = next(f for f in kernel.read(Evidence.of("e", old)) if isinstance(f, Stack)).frames[0]
    whole = program.read_bytes()

    @given(
        st.lists(
            st.tuples(st.integers(0, len(whole) - 1), st.binary(min_size=1, max_size=8)), max_size=9
        )
    )
    def survives(patches):
        data = bytearray(whole)
        for at, patch in patches:
            place = at % 64 if at % 3 == 0 else at
            data[place : place + len(patch)] = patch
        path = tmp_path / "damaged"
        path.write_bytes(data)
        function_at(path, frame)

    survives()
    for cut in range(0, 4096, 97):
        (tmp_path / "cut").write_bytes(whole[:cut])
        assert function_at(tmp_path / "cut", frame) is None


def test_nothing_is_looked_for_where_no_kernel_spoke(monkeypatch):
    frame = Frame(library="libc.so.6", offset=1)
    case = Case((), (Stack(span=None, thread=None, crashed=True, frames=(frame,)),))
    monkeypatch.setattr("sigwhy.machine.library._folders", lambda: pytest.fail("it looked"))
    assert named(case) is case


def test_a_log_that_repeats_itself_is_looked_up_once(monkeypatch, tmp_path):
    line = "python[7]: segfault at 0 ip 00007f0000000139 sp 00007ffe error 4 in libk.so[7f0000000000+1000]"
    evidence = Evidence.of("e", "\n".join([line] * 300))
    case = Case((evidence,), tuple(kernel.read(evidence)))
    walks = []
    monkeypatch.setattr("os.walk", lambda folder: walks.append(folder) or ())
    named(case, [tmp_path / "site-packages"])
    assert len(walks) == 1
