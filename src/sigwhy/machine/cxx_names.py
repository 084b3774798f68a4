"""What the names of C++ functions tell without taking them apart wholly."""

from __future__ import annotations

import re

# The name of a function with its scopes, before its arguments: _ZN10tensorflow12OpDefBuilder4AttrE
PARTS = re.compile(rb"_ZN[VK]*(?:St)?")
SIZE = re.compile(rb"\d{1,4}")
SPECIAL = re.compile(rb"[CD][0-9]")
TAG = b"B5cxx11"  # of a function that returns a new string
NEW_STRINGS = (b"__cxx11", TAG)
# std::string of the old kind: Ss, alone or as an argument.
OLD_STRINGS = re.compile(rb"Ss|RKSs|PSs|RSs")


def qualified(name: bytes) -> bytes:
    """The name up to the end of its scopes; empty where it has templates or none."""
    head = PARTS.match(name)
    if not head:
        return b""
    at = head.end()
    while told := SIZE.match(name, at):
        at = told.end() + int(told[0])
        if name.startswith(TAG, at):
            at += len(TAG)
        if at > len(name):
            return b""
    if special := SPECIAL.match(name, at):
        at = special.end()
    return name[: at + 1] if name[at : at + 1] == b"E" else b""


def spellings(name: bytes) -> tuple[bytes, ...]:
    """The qualified name as it is, and as it is where the function returns the other kind of string."""
    scopes = qualified(name)
    if not scopes:
        return ()
    other = scopes.replace(TAG, b"") if TAG in scopes else scopes[:-1] + TAG + b"E"
    return scopes, other


def other_strings(one: bytes, other: bytes) -> bool:
    """Whether two names of the same function differ in the kind of std::string."""
    if one.replace(TAG, b"") == other.replace(TAG, b""):  # only what it returns differs
        return one != other
    return _has_new(one) != _has_new(other) and (_has_old(one) or _has_old(other))


def _has_new(name: bytes) -> bool:
    return any(sign in name for sign in NEW_STRINGS)


def _has_old(name: bytes) -> bool:
    return bool(OLD_STRINGS.search(name[len(qualified(name)) :]))
