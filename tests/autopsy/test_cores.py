"""Core files of all kinds: what is read of them, and one line about those that cannot be read."""

import bz2
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import sys
import time

import pytest

from sigwhy import UsageError, explain
from sigwhy.autopsy.core import Core
from sigwhy.autopsy.opened import opened
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Fault, Instruction
from tests.autopsy.cores import PAGE, STACK, TEXT, core, files, program, siginfo, status

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="cores are Linux's")


@pytest.fixture
def kept(tmp_path):
    def keep(data, name="core"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return keep


def fact_of(path, kind):
    report = judge(Gathered(()), opened(path))
    return next(report.case.all(kind))


def test_a_core_tells_the_signal_the_command_and_the_registers(kept):
    found = opened(kept(core()))
    assert (found.signal.name, found.signal.code, found.signal.address) == (
        *("SIGSEGV", "SEGV_MAPERR"),
        0,
    )
    assert found.threads[0].registers["rip"] == TEXT
    assert found.pid == 71


def test_secrets_in_its_command_line_are_hidden(kept):
    assert opened(kept(core())).command == ["./train", "--token=[redacted]", "model.bin"]


def test_the_instruction_of_an_x86_core_is_decoded(kept):
    path = kept(core())
    assert fact_of(path, Instruction).text == "mov [rdi],eax"
    assert fact_of(path, Fault).access == "write"


def test_the_instruction_of_an_arm_core_is_decoded(kept):
    path = kept(core("aarch64"))
    found = opened(path)
    assert (found.machine, found.threads[0].registers["pc"]) == ("aarch64", TEXT)
    assert fact_of(path, Instruction).text == "str w0, [x0]"
    assert fact_of(path, Fault).access == "write"
    assert judge(Gathered(()), found).seen.mechanism.id == "null-pointer"


@pytest.mark.parametrize(
    ("pack", "name"),
    [(gzip.compress, "core.gz"), (lzma.compress, "core.xz"), (bz2.compress, "core.bz2")],
)
def test_a_packed_core_is_unpacked(kept, pack, name):
    assert opened(kept(pack(core()), name)).signal.name == "SIGSEGV"


def test_a_core_as_systemd_packs_it_is_unpacked(kept):
    zstd = pytest.importorskip(
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    )
    assert opened(kept(zstd.compress(core()), "core.python.0.zst")).signal.name == "SIGSEGV"


def test_a_core_packed_with_lz4_says_how_to_unpack_it(kept):
    data = b"\x04\x22\x4d\x18\x64\x40\xa7\x10\x00\x00\x00\xf0\x01" + core()[:100]
    with pytest.raises(UsageError, match=r"lz4 -d core\.lz4 core"):
        opened(kept(data, "core.lz4"))


def test_a_packed_log_is_no_core(kept):
    assert opened(kept(gzip.compress(b"Segmentation fault\n"), "log.gz")) is None


def test_of_a_torn_packing_the_part_that_is_there_is_read(kept):
    noise = os.urandom(PAGE)
    packed = lzma.compress(core(pages=[(TEXT, 5, noise), (STACK, 6, noise)]))
    found = opened(kept(packed[:-3000], "core.xz"))
    assert found.signal.name == "SIGSEGV"
    assert any("cut off" in what for what in found.blind)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x7fELF", "no ELF file"),
        (core()[:90], "damaged or cut off"),
        (core()[:18] + struct.pack("<H", 40) + core()[20:], "core of 32-bit ARM"),
        (core()[:18] + struct.pack("<H", 243) + core()[20:], "core of RISC-V"),
        (core()[:4] + b"\x01" + core()[5:], "32-bit or big-endian"),
        (core()[:16] + b"\x03" + core()[17:], "an ELF program or library"),
        (core()[:54] + struct.pack("<H", 7) + core()[56:], "damaged or cut off"),
    ],
)
def test_what_cannot_be_read_is_one_line(kept, data, says):
    with pytest.raises(UsageError, match=says) as caught:
        opened(kept(data))
    assert "\n" not in str(caught.value)


def test_a_core_that_was_cut_off_says_so_and_tells_the_rest(kept):
    found = opened(kept(core()[: -PAGE - 100]))
    assert found.signal.name == "SIGSEGV"
    assert any("cut off" in what for what in found.blind)


def test_a_core_of_64_gigabytes_of_holes_is_read_in_a_moment(kept):
    path = kept(core())
    with path.open("r+b") as file:
        file.truncate(64 << 30)
    began = time.monotonic()
    assert opened(path).signal.name == "SIGSEGV"
    assert time.monotonic() - began < 10


def test_libraries_that_are_gone_are_named(kept):
    mapped = [(TEXT, TEXT + PAGE, 0, "/nowhere/libgone.so.3")]
    found = opened(kept(core(mapped=mapped)))
    assert any("libgone.so.3: not on this machine" in what for what in found.blind)
    frame = found.threads[0].native[0]
    assert (frame.library, frame.offset) == ("/nowhere/libgone.so.3", 0)


def built_with(build_id):
    """The head of a library with this build id."""
    told = struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id
    rows = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, PAGE, PAGE, PAGE)
    rows += struct.pack("<IIQQQQQQ", 4, 4, 176, 176, 0, len(told), len(told), 4)
    head = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 0, 0, 3, 62, 1, 0, 64),
        *(0, 0, 64, 56, 2, 0, 0, 0),
    )
    return (head + rows + told).ljust(PAGE, b"\0")


@pytest.mark.parametrize(("now", "differs"), [(b"\xaa" * 20, False), (b"\xbb" * 20, True)])
def test_a_library_of_another_build_is_told_by_its_build_id(kept, now, differs):
    library = kept(built_with(now), "libmine.so")
    pages = [(TEXT, 5, built_with(b"\xaa" * 20)), (STACK, 6, b"")]
    path = kept(core(pages=pages, mapped=[(TEXT, TEXT + PAGE, 0, str(library))]))
    found = opened(path)
    assert found.modules[0].build_id == "aa" * 20
    assert any("another build" in what for what in found.blind) is differs


def test_pages_are_never_taken_from_a_library_of_another_build(kept):
    library = kept(built_with(b"\xbb" * 20) + b"other" * 900, "libmine.so")
    pages = [(TEXT, 5, built_with(b"\xaa" * 20)), (STACK, 6, b"")]
    mapped = [(TEXT, TEXT + PAGE, 0, str(library)), (TEXT + PAGE, TEXT + 2 * PAGE, 1, str(library))]
    memory = Core(kept(core(pages=pages, mapped=mapped)))
    assert memory.page(TEXT + PAGE) == b""
    memory.close()


def test_a_mapped_file_that_is_a_pipe_by_now_does_not_hang(kept, tmp_path):
    os.mkfifo(tmp_path / "lib.so")
    mapped = [(TEXT + PAGE, TEXT + 2 * PAGE, 0, str(tmp_path / "lib.so"))]
    memory = Core(kept(core(mapped=mapped)))
    assert memory.page(TEXT + PAGE) == b""
    memory.close()


def test_a_core_of_a_process_that_lived_tells_of_no_death(kept):
    stop = 19
    notes = status("x86_64", 71, {"rip": TEXT}, stop) + program(71) + files([])
    found = opened(kept(core(notes=notes)))
    assert found.signal is None
    assert "lived" in found.notes[0]


def test_a_signal_that_was_sent_has_a_sender_and_no_address(kept):
    notes = status("x86_64", 71, {"rip": TEXT}) + siginfo(code=0, address=0x3E80000007B)
    signal = opened(kept(core(notes=notes))).signal
    assert (signal.address, signal.sender_pid, signal.sender_uid) == (None, 123, 1000)


def test_cores_and_logs_in_a_folder_are_one_case(tmp_path):
    (tmp_path / "core.71").write_bytes(core())
    (tmp_path / "train.log").write_text("step 3\nSegmentation fault (core dumped)\n")
    report = explain(tmp_path)
    assert len(report.incidents) == 1
    assert {e.name.rpartition("/")[2] for e in report.case.evidence} == {"incident", "train.log"}


def test_a_damaged_core_in_a_folder_is_a_note_and_the_logs_are_read(tmp_path):
    (tmp_path / "core.71").write_bytes(core()[:90])
    (tmp_path / "train.log").write_text("Segmentation fault (core dumped)\n")
    report = explain(tmp_path)
    assert not report.incidents
    assert len(report.case.evidence) == 1
    assert sum("core.71" in note for note in report.notes) == 1


@pytest.mark.live
@pytest.mark.skipif(not shutil.which("gcore"), reason="gdb is not installed")
def test_gcore_of_this_machine_gives_python_and_native_frames(tmp_path):
    script = (
        "import sys, time\ndef wait():\n    print('.', flush=True)\n    time.sleep(60)\nwait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as child:
        child.stdout.read(1)
        subprocess.run(
            ["gcore", "-o", str(tmp_path / "core"), str(child.pid)],
            check=True,
            capture_output=True,
            timeout=60,
        )
        child.kill()
    found = opened(next(tmp_path.glob("core.*")))
    assert found.signal is None
    assert [frame.function for frame in found.threads[0].python] == ["wait", "<module>"]
    assert any("PyEval" in (f.function or "") for f in found.threads[0].native)
