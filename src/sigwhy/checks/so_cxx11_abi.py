"""A library was built with the other kind of std::string than the framework that it calls.

What happens: since GCC 5 there are two kinds of std::string, and functions that take one have different names for each. A library that was built with
``_GLIBCXX_USE_CXX11_ABI=0`` does not find those of a framework built with 1: "undefined symbol", ending in
``B5cxx11`` or with ``__cxx11`` in it. Where the names match by chance, a string is read as if it were the
other kind, and the process dies with SIGSEGV or "free(): invalid pointer".

How to tell: the framework of the environment has the same function with the same scopes, and the two names differ in
``__cxx11``.

Fix: compile with the flag of the framework: ``tf.sysconfig.get_compile_flags()`` for TensorFlow,
``torch._C._GLIBCXX_USE_CXX11_ABI`` for PyTorch. TensorFlow 2.9 and PyTorch 2.6 and later use 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.demangle import demangled
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-cxx11-abi",
    title="it was built with the other kind of std::string",
    fix="compile it anew with the framework's flags",
)
NEW = b"cxx11"


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield one problem for the file: the flag holds for all of it."""
    wrong = [one for one in library.missing if one.because == "strings"]
    if not wrong:
        return
    first = wrong[0]
    own = 1 if NEW in first.name else 0
    function = demangled(first.name.decode("utf-8", "replace")).partition("(")[0]
    yield CHECK.problem(
        f"it was built with _GLIBCXX_USE_CXX11_ABI={own} and {first.library} with {1 - own}: {function}() is not found"
        + (f", nor {len(wrong) - 1} others" if len(wrong) > 1 else ""),
        fix=f"compile it anew with -D_GLIBCXX_USE_CXX11_ABI={1 - own}",
        place=first.name.decode("utf-8", "replace")[:100],
    )
