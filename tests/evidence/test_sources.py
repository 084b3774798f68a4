"""Files of every packing and encoding are read; what cannot be read is refused in one clear line."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sigwhy import UsageError, explain
from sigwhy.evidence import gather

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = "step 1\nIllegal instruction (core dumped)\n"
PACKED = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstd.compress,
}
ENCODED = {
    "utf-8": TEXT.encode(),
    "utf-8 with mark": TEXT.encode("utf-8-sig"),
    "utf-8 with damage": b"caf\xe9 \xff\xfe\n" + TEXT.encode(),
    "utf-16 little": TEXT.encode("utf-16"),
    "utf-16 little without mark": TEXT.encode("utf-16-le"),
    "utf-16 big": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "utf-16 big without mark": TEXT.encode("utf-16-be"),
    "windows line ends": TEXT.replace("\n", "\r\n").encode(),
}


def file(folder, content, name="crash.log"):
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("content", ENCODED.values(), ids=ENCODED)
def test_every_packing_of_every_encoding_is_read(tmp_path, pack, content):
    lines = gather(file(tmp_path, pack(content))).evidence[0].lines
    assert "Illegal instruction (core dumped)" in lines


@pytest.mark.parametrize("packing", [name for name in PACKED if name != "plain"])
def test_a_torn_archive_is_read_as_far_as_it_goes(tmp_path, packing):
    noise = "".join(f"{n * 7919 % 10007} some step of it\n" for n in range(60_000))
    packed = PACKED[packing]((TEXT + noise).encode())
    evidence = gather(file(tmp_path, packed[: len(packed) * 3 // 4])).evidence
    assert "Illegal instruction (core dumped)" in evidence[0].lines


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh9", b"\x28\xb5\x2f\xfd"])
def test_an_archive_of_rubbish_is_refused(tmp_path, head):
    with pytest.raises(UsageError, match=r"cannot be unpacked|not a text"):
        gather(file(tmp_path, head + b"\x07rubbish" * 40))


@pytest.mark.parametrize("head", [b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh9", b"\x28\xb5\x2f\xfd"])
def test_an_archive_that_ends_before_its_first_word_is_refused(tmp_path, head):
    with pytest.raises(UsageError, match="too short to hold a word"):
        gather(file(tmp_path, head))


@pytest.mark.parametrize("packing", [name for name in PACKED if name not in ("plain", "bz2")])
def test_what_was_packed_twice_is_called_so(tmp_path, packing):
    with pytest.raises(UsageError, match="packed twice"):
        gather(file(tmp_path, gzip.compress(PACKED[packing](TEXT.encode()))))


@pytest.mark.parametrize("opener", [gzip.open, zstd.open], ids=["gz", "zst"])
def test_a_bomb_is_refused(tmp_path, opener):
    path = tmp_path / "bomb"
    with opener(path, "wb") as bomb:
        for _ in range(300):
            bomb.write(b"\n" * (1 << 20))
    with pytest.raises(UsageError, match="grows to more than"):
        gather(path)


def test_a_folder_is_one_case(tmp_path):
    file(tmp_path, b"import fastlib\n", "a.log")
    file(tmp_path, TEXT.encode(), "b.log")
    file(tmp_path, b"\x7fELF" + bytes(99), "core")
    gathered = gather(tmp_path)
    assert [Path(e.name).name for e in gathered.evidence] == ["a.log", "b.log"]
    assert "core" in gathered.notes[0]


def test_a_pattern_is_one_case(tmp_path):
    file(tmp_path, TEXT.encode(), "a.log")
    file(tmp_path, TEXT.encode(), "b.txt")
    assert [Path(e.name).name for e in gather(tmp_path / "*.log").evidence] == ["a.log"]


def test_a_stream_is_read(tmp_path):
    assert explain(io.BytesIO(TEXT.encode())).verdict


def test_a_name_of_a_file_is_read_as_the_file(tmp_path):
    assert explain(str(file(tmp_path, TEXT.encode()))).case.evidence[0].name.endswith("crash.log")


def test_a_file_given_twice_has_two_names(tmp_path):
    path = file(tmp_path, TEXT.encode())
    assert len({e.name for e in gather(path, path).evidence}) == 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda p: None, "does not exist"),
        (os.mkfifo, "is a pipe"),
        (lambda p: p.mkdir(), "holds no file"),
        (lambda p: p.write_bytes(bytes(range(256)) * 40), "not a text"),
        (lambda p: p.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(99)), "a core file or a program"),
        (lambda p: p.write_bytes(b"PK\x03\x04" + bytes(99)), "a zip archive"),
        (lambda p: p.symlink_to("/dev/zero"), "is a device"),
        (lambda p: p.symlink_to(p), "cannot be opened"),
    ],
    ids=["nothing", "pipe", "empty folder", "rubbish", "program", "zip", "device", "loop"],
)
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path, make, says):
    path = tmp_path / "given"
    make(path)
    with pytest.raises(UsageError, match=says) as refused:
        gather(path)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)


WITHOUT_RIGHTS = """
import os, sys
from pathlib import Path
from sigwhy import UsageError, explain
explain("Killed")  # everything is imported while we still may read it
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    explain(Path(sys.argv[1]))
except UsageError as error:
    print(error)
"""


@pytest.mark.parametrize("kind", ["file", "folder", "file in a folder"])
def test_what_may_not_be_read_is_said(tmp_path, kind):
    path = tmp_path / "secret"
    path.write_text("Killed") if kind == "file" else path.mkdir()
    path.chmod(0)
    path = path / "crash.log" if kind == "file in a folder" else path
    for folder in [tmp_path, *tmp_path.parents]:
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_RIGHTS, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "may not be read by you" in run.stdout, run
