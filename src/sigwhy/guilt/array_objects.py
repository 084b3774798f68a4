"""An array of Python objects that was laid over plain bytes: each element is taken for a pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

# Owners whose memory never holds references.
OBJECT_BYTES = 512
LEAST = 1 << 16
BYTES = ("bytes", "bytearray", "mmap", "memoryview", "c_")


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each array of objects whose memory is that of plain bytes."""
    for argument in trial.operation.inputs if trial.signal == "SIGSEGV" else ():
        whose = argument.note.rpartition(" ")[2]
        if argument.kind == "array" and argument.dtype == "object" and whose.startswith(BYTES):
            yield Charge(
                argument=argument,
                rule="objects",
                says=f"{argument.name} is an array of objects over the memory of a {whose}: its bytes are taken for pointers",
                value=whose,
                wanted="an array of numbers, or of real objects",
                fit="exact" if _led_there(trial, argument) else "likely",
                cause="interpreter-abuse",
            )


def _led_there(trial: Trial, argument: Argument) -> bool:
    """Whether a register holds the bytes of an element, or what lies a little behind as a pointer."""
    held = {*trial.registers.values(), trial.address or 0}
    pointers = [value for value in argument.values if isinstance(value, int) and value >= LEAST]
    return any(0 <= place - value < OBJECT_BYTES for place in held for value in pointers)
