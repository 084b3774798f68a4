"""ELF files as the loader reads them: this Python's own, and ones that somebody has spoilt."""

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.checks import looked
from sigwhy.machine.elf import Elf, NotElfError, Window, opened
from sigwhy.machine.elf_hash import gnu_hash, sysv_hash
from sigwhy.subjects.shared_object import SharedObject
from tools.fuzz_objects import spoilt

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"), reason="built with a C compiler of Linux"
)
SOURCE = """
#include <math.h>
#include <stdio.h>
static __thread int room[8];
int exported_one(int n) { return room[n] + printf("%f", cos(n)); }
int exported_two(void) { return 2; }
__attribute__((constructor)) static void begin(void) { room[1] = 1; }
"""
MUTATIONS = 2000
PATIENCE_SECONDS = 2.0


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("elf")
    (folder / "a.c").write_text(SOURCE)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,liba.so.1", "-o", "liba.so", "a.c", "-lm"],
        cwd=folder,
        check=True,
    )
    return folder / "liba.so"


def test_what_the_loader_needs_is_read(library):
    elf = opened(library)
    assert (elf.soname, elf.bits, elf.kind, elf.missing_bytes) == ("liba.so.1", 64, 3, 0)
    assert "libc.so.6" in elf.needed
    assert {s.name for s in elf.wanted} >= {b"cos", b"printf"}
    assert elf.exported(b"exported_one").size > 0
    assert elf.exported(b"exported_three") is None
    assert elf.tls_bytes == 32
    assert any(v.library == "libm.so.6" for v in elf.needed_versions)
    assert len(elf.initialisers) >= 2


def test_both_hash_tables_find_the_same(library):
    folder = library.parent
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,--hash-style=sysv", "-o", "libb.so", "a.c", "-lm"],
        cwd=folder,
        check=True,
    )
    old, new = opened(folder / "libb.so"), opened(library)
    for name in (b"exported_one", b"exported_two", b"begin", b"cos"):
        assert bool(old.exported(name)) == bool(new.exported(name)), name
    assert {s.name for s in old.wanted} >= {b"cos", b"printf"}


def test_the_hashes_are_those_of_the_standard():
    assert gnu_hash(b"printf") == 0x156B2BB8
    assert sysv_hash(b"printf") == 0x077905A6


def test_readelf_says_the_same_of_the_c_library(library):
    readelf = shutil.which("readelf")
    libc = Path("/lib/x86_64-linux-gnu/libc.so.6")
    if not readelf or not libc.exists():
        pytest.skip("no readelf, or another system")
    told = subprocess.run(
        [readelf, "--dyn-syms", "-W", libc], capture_output=True, text=True, check=True
    ).stdout
    elf = opened(libc)
    rows = [line.split() for line in told.splitlines() if len(line.split()) >= 8]
    names = {r[7].split("@")[0] for r in rows if r[6] not in {"UND", "ABS", "Ndx"}}
    assert all(elf.exported(name.encode()) for name in sorted(names)[:500])
    assert {s.name.decode() for s in elf.wanted} == {
        r[7].split("@")[0] for r in rows if r[6] == "UND" and r[7]
    }


@given(st.binary(max_size=400))
def test_bytes_that_are_no_elf_file_are_refused_or_read(data):
    for head in (b"", b"\x7fELF\x02\x01\x01"):
        try:
            elf = Elf.of(Window.of_bytes(head + data))
        except NotElfError:
            continue
        assert isinstance(elf.wanted, tuple)
        assert isinstance(elf.initialisers, tuple)


def test_spoilt_files_break_no_check(library, tmp_path):
    data, dice = library.read_bytes(), random.Random(7)  # noqa: S311 -- dice, no secret
    file = tmp_path / "spoilt.so"
    slowest = 0.0
    for n in range(MUTATIONS):
        file.write_bytes(spoilt(data, dice))
        began = time.process_time()
        found = looked(SharedObject.of(file), "so")
        slowest = max(slowest, time.process_time() - began)
        assert not found.notes, (n, found.notes)
    assert slowest < PATIENCE_SECONDS


def test_code_at_the_end_of_all_addresses_is_no_code(library, tmp_path):
    data = bytearray(library.read_bytes())
    for n in range(data[56]):  # the address of each segment
        at = 64 + 56 * n + 16
        data[at : at + 8] = ((1 << 64) - 8).to_bytes(8, "little")
    file = tmp_path / "high.so"
    file.write_bytes(data)
    assert not looked(SharedObject.of(file), "so").notes
