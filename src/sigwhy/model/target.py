"""The runtime that a program or a model is meant for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sigwhy.model.error import UsageError

RUNTIMES = ("tensorflow", "litert", "tflite-micro")
# tensorflow==2.16.2, litert==2.3.0, tflite-micro
TARGET = re.compile(r"([a-z-]+)(?:==(\d{1,4}(?:\.\d{1,4}){1,3}))?")


@dataclass(frozen=True, slots=True)
class Target:
    """A runtime, and its version where one was named."""

    runtime: str
    version: tuple[int, ...] = ()

    @classmethod
    def of(cls, words: str) -> Target:
        """Read ``tensorflow==2.16.2``, ``litert==2.3.0`` or ``tflite-micro``."""
        found = TARGET.fullmatch(words.strip().lower())
        if not found or found[1] not in RUNTIMES:
            raise UsageError(
                f"{words[:80]!r} is no target; wanted is tensorflow==2.16.2, litert==2.3.0 or tflite-micro"
            )
        return cls(found[1], tuple(int(n) for n in (found[2] or "").split(".") if n))

    def __str__(self) -> str:
        version = ".".join(str(n) for n in self.version)
        return f"{self.runtime}=={version}" if version else self.runtime
