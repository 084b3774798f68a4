"""A library has more thread variables than fit into the block that is made when the program starts.

What happens: a library that was compiled with ``-ftls-model=initial-exec`` wants its thread variables in that block. When
it is loaded later, as Python does, it gets what is left of a small reserve; where that is too little, the loader refuses
it: "cannot allocate memory in static TLS block". Which of several libraries fails depends on the order of the imports.

How to tell: the flag DF_STATIC_TLS, and the size of its thread variables against the reserve of glibc (1664 bytes, of which 512 are for all libraries together). Those
that are loaded when the program starts are not concerned.

Fix: compile without that model; import the library first; load it with LD_PRELOAD; or, since glibc 2.33, run with
``GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16384``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-static-tls",
    title="its thread variables do not fit into the static block",
    fix="compile it without -ftls-model=initial-exec, or import it before all others",
    severity="warning",
)
# What glibc keeps free for libraries that are loaded later: 1664 bytes in all, 512 of them for no purpose of its own.
RESERVE, OPTIONAL = 1664, 512


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield at most one."""
    elf = library.elf
    if not elf or not library.is_readable or not elf.static_tls or elf.tls_bytes <= OPTIONAL:
        return
    size = f"its {elf.tls_bytes:,} bytes of thread variables must lie in the static block"
    tunable = f"GLIBC_TUNABLES=glibc.rtld.optional_static_tls={elf.tls_bytes + 2048}"
    if elf.tls_bytes > RESERVE:
        yield CHECK.problem(
            f"{size}, which has {RESERVE} to spare: 'cannot allocate memory in static TLS block'",
            severity="error",
            fix=f"{CHECK.fix}; or run with {tunable}",
            place="PT_TLS",
        )
    else:
        yield CHECK.problem(
            f"{size}, where {OPTIONAL} are for all libraries together: it depends on the order of the imports",
            fix=f"{CHECK.fix}; or run with {tunable}",
            place="PT_TLS",
        )
