"""The file ``*.sigwhy``: a zip of ``incident.json`` and, where memory was kept, ``core`` and ``inputs/*.npy``.

Whoever sends one may be hostile: sizes are bounded before anything is unpacked, members are found by
their exact names and never extracted by them, and JSON that does not fit is refused in one line.
"""

from __future__ import annotations

import os
import re
import struct
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from sigwhy.autopsy.bounded import bounded
from sigwhy.autopsy.redact import whole
from sigwhy.model.error import UsageError
from sigwhy.model.incident import SCHEMA, Incident

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".sigwhy"
ASK_FOR_OURS = "pass a file that sigwhy run wrote"
RECORD, CORE = "incident.json", "core"
MOST_RECORD_BYTES = 8 << 20  # one of a TensorFlow process has 0.2 MiB
MOST_CORE_BYTES = 256 << 20
MOST_MEMBERS = 80
INPUTS = "inputs/"
MOST_INPUT_BYTES = 256 << 20  # all of them together
MOST_LIST_BYTES = 1 << 16  # of the zip's own list of members
TAIL_BYTES = (1 << 16) + 22
END_MARK = b"PK\5\6"
END = struct.Struct("<4s4H2IH")
CHUNK = 1 << 20
DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError),
    *(struct.error, OverflowError, OSError, KeyError),
)
OF_INPUT = re.compile(r"[0-9]{1,3}\.npy")
ENCRYPTED, LINK = 1, 0o120000
OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)")


def write(path: Path, incident: Incident, core: Path | None = None) -> None:
    """Write the file beside its place and swap it in whole; only its owner may read it.

    Secrets are taken out here, whoever writes.
    """
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=".writing-", suffix=SUFFIX)
    try:
        with os.fdopen(handle, "wb") as out:
            with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
                packed.writestr(RECORD, msgspec.json.encode(whole(incident)))
                if core and core.exists():
                    packed.write(core, CORE)
                for one in sorted(inputs_beside(core).glob("*.npy")) if core else ():
                    packed.write(one, INPUTS + one.name)
            out.flush()
            os.fsync(out.fileno())
        Path(beside).replace(path)
    finally:
        Path(beside).unlink(missing_ok=True)


def inputs_beside(core: Path) -> Path:
    """The folder beside a core in which whole inputs of operations wait to be packed."""
    return core.with_name(f"{core.name}.inputs")


def inputs_of(path: Path) -> dict[str, bytes]:
    """The whole inputs that an Incident holds, as ``.npy``, by the name that arguments give them."""
    found, left = dict[str, bytes](), MOST_INPUT_BYTES
    with _opened(path) as packed:
        for member in packed.infolist():
            name = member.filename.removeprefix(INPUTS)
            if member.filename == name or not OF_INPUT.fullmatch(name):
                continue
            with packed.open(member) as stream:
                data = stream.read(left + 1)
            left -= len(data)
            if left < 0:
                raise UsageError(
                    f"{path} holds inputs of more than {MOST_INPUT_BYTES >> 20} MiB; {ASK_FOR_OURS}"
                )
            found[name] = data
    return found


def read(path: Path) -> Incident:
    """The record of an Incident file."""
    with _opened(path) as packed:
        return _record(packed, path)


@contextmanager
def core_of(path: Path) -> Iterator[Path | None]:
    """The core inside, as a file of its own for as long as the context lasts."""
    with _opened(path) as packed, tempfile.TemporaryDirectory(prefix="sigwhy-") as folder:
        member = _member(packed, CORE)
        if member is None:
            yield None
            return
        place = Path(folder, CORE)
        with packed.open(member) as stream, place.open("wb") as out:
            _copy(stream, out, MOST_CORE_BYTES, path)
        yield place


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        _refuse_long_list(path)
        with zipfile.ZipFile(path) as packed:
            _refuse_odd_members(packed, path)
            yield packed
    except UsageError:
        raise
    except DAMAGED as error:
        raise UsageError(
            f"{path} is a damaged Incident ({error}); copy it once more from where it was written"
        ) from None


def _refuse_long_list(path: Path) -> None:
    """Before zipfile reads the list of members: it would take all of it into memory."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - TAIL_BYTES))
        tail = file.read(TAIL_BYTES)
    for at in {len(tail) - END.size, tail.rfind(END_MARK)}:  # zipfile takes one of these
        if 0 <= at <= len(tail) - END.size and tail.startswith(END_MARK, at):
            _, _, _, _, count, size, _, _ = END.unpack_from(tail, at)
            if size > MOST_LIST_BYTES:
                raise UsageError(
                    f"{path} holds {count} members, an Incident has fewer; {ASK_FOR_OURS}"
                )


def _refuse_odd_members(packed: zipfile.ZipFile, path: Path) -> None:
    """Nothing is ever unpacked by its name; a file with such names is hostile all the same."""
    members = packed.infolist()
    names = [member.filename for member in members]
    if len(members) > MOST_MEMBERS:
        raise UsageError(
            f"{path} holds {len(members)} members, an Incident has fewer; {ASK_FOR_OURS}"
        )
    for member in members:
        if member.flag_bits & ENCRYPTED:
            raise UsageError(f"{path} is encrypted, as no Incident is; {ASK_FOR_OURS}")
        if OUTSIDE.search(member.filename) or member.external_attr >> 16 & 0o170000 == LINK:
            raise UsageError(
                f"{path} holds {member.filename!r}, which leads out of it, as no Incident does; {ASK_FOR_OURS}"
            )
    if len(set(names)) < len(names):
        raise UsageError(
            f"{path} holds two members of one name, as no Incident does; {ASK_FOR_OURS}"
        )


def _member(packed: zipfile.ZipFile, name: str) -> zipfile.ZipInfo | None:
    return next((m for m in packed.infolist() if m.filename == name and not m.is_dir()), None)


def _record(packed: zipfile.ZipFile, path: Path) -> Incident:
    member = _member(packed, RECORD)
    if member is None:
        raise UsageError(
            f"{path} is a zip file without {RECORD}, so it is no Incident; pass a file that sigwhy run wrote"
        )
    with packed.open(member) as stream:
        text = stream.read(MOST_RECORD_BYTES + 1)
    if len(text) > MOST_RECORD_BYTES:
        raise UsageError(
            f"{path} has a record of more than {MOST_RECORD_BYTES >> 20} MiB; that is no Incident"
        )
    try:
        incident = msgspec.json.decode(text, type=Incident)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"{path} is no Incident of this format ({error}); it was written by schema {SCHEMA}, or is damaged"
        ) from None
    if incident.schema > SCHEMA:
        raise UsageError(
            f"{path} was written by a newer sigwhy (schema {incident.schema}, here {SCHEMA}); upgrade with pip install -U sigwhy"
        )
    return bounded(incident)


def _copy(stream: IO[bytes], out: IO[bytes], most: int, path: Path) -> None:
    left = most
    while part := stream.read(min(CHUNK, left + 1)):
        left -= len(part)
        if left < 0:
            raise UsageError(
                f"{path} holds a core of more than {most >> 20} MiB; that is no Incident"
            )
        out.write(part)
