"""Strings of PyTorch: its wheels before 2.7 have those of an older C++ library.

A string takes 32 bytes there or 8, and so what stands behind it stands elsewhere. Which of the two it is
shows with the first structure that fits together; after that the other form is not tried any more.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from sigwhy.machine.memory import UnreadableError
from sigwhy.operations import cpp

if TYPE_CHECKING:
    from collections.abc import Callable

    from sigwhy.machine.memory import Memory

LONGEST = 120
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Form:
    """How strings look: their bytes, and how one is read."""

    size: int
    read: Callable[[Memory, int, int], bytes]

    def text(self, memory: Memory, at: int) -> str:
        """The string at an address."""
        return self.read(memory, at, LONGEST).decode()


NEW, OLD = Form(32, cpp.string), Form(8, cpp.shared_string)


@dataclass(slots=True)
class Strings:
    """The form of the strings of one process, as soon as it is known."""

    forms: list[Form] = field(default_factory=lambda: [NEW, OLD])

    def tried(
        self, read: Callable[[Form], Found | None], is_sure: Callable[[Found], bool]
    ) -> Found | None:
        """What is read with the one form or the other; where it is surely that, the form is known."""
        for form in self.forms:
            try:
                found = read(form)
            except (UnreadableError, UnicodeDecodeError, struct.error):
                continue
            if found is not None:
                self.forms = [form] if is_sure(found) else self.forms
                return found
        return None
