"""What protobuf, and the abseil that travels with it, say when two copies of them meet.

Looks like::

    [libprotobuf ERROR google/protobuf/descriptor_database.cc:57] File already exists in database: job.proto
    E0000 00:00:1703612509.1 1 descriptor_database.cc:656] File already exists in database: a/job.proto
    This program was compiled against version 3.9.2 of the Protocol Buffer runtime library, which is …
    TypeError: Descriptors cannot be created directly.
    [mutex.cc : 452] RAW: Lock blocking 0x600000df9138   @
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

CHECK = "check-failed"
LOAD = "load-failure"
NAME = r"[^\s'\":,;()]{1,300}"

# (words that must stand in the line, pattern with the subject if any, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ("already exists in database", rf"(?:File|Symbol|Extension) (?:name )?already exists in database: *[\"']?(?P<subject>{NAME})", "protobuf-twice", CHECK),
        ("enerated", r"[Gg]enerated_?[Dd]atabase_?(?:\(\))?->Add\(", "protobuf-twice", CHECK),
        ("this name is already in the pool", rf"(?P<subject>{NAME}): A file with this name is already in the pool", "protobuf-twice", CHECK),
        ("is already defined in file", rf"[\"'](?P<subject>{NAME})[\"'] is already defined in file", "protobuf-twice", CHECK),
        ("into descriptor pool", r"Couldn't build proto file into descriptor pool", "protobuf-twice", None),
        ("duplicate file name", rf"duplicate file name \(?(?P<subject>{NAME})", "protobuf-twice", None),
        ("duplicate symbol", rf"duplicate symbol '(?P<subject>{NAME})'", "protobuf-twice", None),
        ("xtension", rf"[Mm]ultiple extension registrations for type \"(?P<subject>{NAME})\"", "protobuf-twice", CHECK),
        ("compiled against version", r"program was compiled against version (?P<subject>[\d.]{1,12}) of the Protocol Buffer runtime", "protobuf-version", CHECK),
        ("program requires version", r"program requires version (?P<subject>[\d.]{1,12}) of the Protocol Buffer runtime", "protobuf-version", CHECK),
        ("Version verification failed", r"Version verification failed in \"(?P<subject>[^\"\n]{1,300})\"", "protobuf-version", CHECK),
        ("created directly", r"Descriptors (?:cannot(?: not)?|should not) be created directly", "protobuf-gencode", None),
        ("regenerated with protoc", r"must be regenerated with protoc", "protobuf-gencode", None),
        ("Gencode/Runtime", r"Detected (?:incompatible|mismatched) Protobuf Gencode/Runtime (?:major )?versions", "protobuf-gencode", None),
        ("google.protobuf", r"cannot import name '?(?P<subject>runtime_version|builder|_message|symbol_database|reflection|enum_type_wrapper)'?\b[^\n]{0,40}google\.protobuf", "protobuf-gencode", LOAD),
        ("_internal_create_key", r"has no attribute '(?P<subject>_internal_create_key)'", "protobuf-gencode", None),
        ("GetPrototype", r"MessageFactory' object has no attribute '(?P<subject>GetPrototype)'", "protobuf-gencode", None),
        ("serialized_pb", r"__(?:new|init)__\(\) got an unexpected keyword argument '(?P<subject>serialized_pb|serialized_options|file|create_key)'", "protobuf-gencode", None),
        ("create_key", r"got an unexpected keyword argument '(?P<subject>create_key)'", "protobuf-gencode", None),
        ("Couldn't parse file content", r"Couldn't parse file content", "protobuf-gencode", None),
        ("mutex lock failed", r"mutex lock failed: Invalid argument", "mutex-dead", None),
        ("RAW: Lock blocking", r"mutex\.cc ?: ?\d{1,6}\] RAW: Lock blocking", "mutex-blocks", "deadlock"),
        ("mutex.cc", r"mutex\.cc ?: ?\d{1,6}\] RAW: (?:Check [^\n]{1,200} failed|Unlocking|thread should hold|Mutex corrupt)[^\n]{0,200}", "mutex-corrupt", CHECK),
        ("was modified by another thread", r"modified by another thread during serialization", "protobuf-raced", CHECK),
        ("inconsistent", r"Byte size calculation and serialization were inconsistent", "protobuf-raced", CHECK),
        ("during serialization", r"modified (?:by another thread|concurrently) during serialization", "protobuf-raced", CHECK),
    )
)  # fmt: skip
MARKERS = (
    "requires version", "unexpected keyword", "atabase->Add", "atabase()->Add", "atabase_->Add", "atabase_()->Add",
    *sorted({row[0] for row in SENTENCES} - {"enerated", "xtension"}),
    "enerated_database_->Add",
    "eneratedDatabase()->Add",
    "ultiple extension registrations",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what two copies, or two versions, of protobuf said of each other."""
    for n, line in enumerate(evidence.lines):
        for hint, pattern, topic, mechanism in SENTENCES:
            if hint not in line or not (found := pattern.search(line)):
                continue
            yield Notice(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
                topic=topic,
                text=found[0],
                subject=found.groupdict().get("subject"),
                mechanism=mechanism,
            )
            break
