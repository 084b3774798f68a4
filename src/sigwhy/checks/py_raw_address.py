"""Memory is read or written by its bare address.

What happens: ``from_address``, ``string_at``, ``memmove`` and ``memset`` of ctypes believe the address and the length. Where the owner is gone, or the length is that of something
else, it is SIGSEGV, or damage that shows later.

How to tell: a call of one of them whose address is a constant, or comes from ``id()`` or ``addressof`` of something that nobody holds.
Addresses of names that live on are left alone.

Fix: ``from_buffer`` or ``np.frombuffer``, which hold their owner, or an array that you keep.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_source import PythonSource

CHECK = Check(
    id="py-raw-address",
    title="memory is used by its bare address",
    fix="from_buffer or np.frombuffer, which hold their owner",
    severity="warning",
    words=("ctypes",),
)
CALLS = {"ctypes.string_at", "ctypes.wstring_at", "ctypes.memmove", "ctypes.memset"}
METHOD = "from_address"
ADDRESS_OF = "ctypes.addressof"
LOWEST = 1 << 16


def look(source: PythonSource) -> Iterator[Problem]:
    """Yield uses of addresses that belong to nobody."""
    if not source.imports("ctypes"):
        return
    for call in source.calls:
        method = isinstance(call.func, ast.Attribute) and call.func.attr == METHOD
        if not call.args or not (method or source.name(call.func) in CALLS):
            continue
        address = source.values.constant(call.args[0])
        if isinstance(address, int) and not isinstance(address, bool):
            null = 0 <= address < LOWEST
            says = f"nothing of ours lies at {address:#x}"
            yield CHECK.problem_in(source.area(call), says, severity="error" if null else "warning")
        elif _of_nobody(source, call.args[0]):
            says = "the object at this address is gone when the call runs"
            yield CHECK.problem_in(source.area(call), says)


def _of_nobody(source: PythonSource, node: ast.expr) -> bool:
    """Whether the address is that of something which was made for the call alone."""
    match source.scopes.origin(node):
        case ast.Call(func=func, args=[ast.Call()]):
            named = isinstance(func, ast.Name) and func.id == "id" and "id" not in source.names
            return named or source.name(func) == ADDRESS_OF
        case _:
            return False
