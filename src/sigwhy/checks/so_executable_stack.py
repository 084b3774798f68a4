"""A library asks for stacks whose bytes can be executed.

What happens: loading it makes the stack of every thread executable, which takes a protection away from the whole process. SELinux and hardened systems refuse
it, and since glibc 2.41 so does the loader: "cannot enable executable stack as shared object requires".

How to tell: the header PT_GNU_STACK has the flag X. Most often one assembler file without a ``.note.GNU-stack`` section, or a nested function of GNU C,
is the reason.

Fix: link with ``-Wl,-z,noexecstack``, add ``.section .note.GNU-stack,"",@progbits`` to assembler files; of somebody else's file
``patchelf --clear-execstack FILE``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.machine.releases import Release
from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.shared_object import SharedObject

CHECK = Check(
    id="so-executable-stack",
    title="it wants an executable stack",
    fix="link it with -Wl,-z,noexecstack, or patchelf --clear-execstack",
    severity="warning",
)
REFUSES = 41  # glibc 2.41


def look(library: SharedObject) -> Iterator[Problem]:
    """Yield at most one."""
    if not library.is_readable or not library.elf or not library.elf.executable_stack:
        return
    if _refuses(library):
        yield CHECK.problem(
            "it wants an executable stack, and the loader of glibc 2.41 and later refuses that",
            severity="error",
            place="PT_GNU_STACK",
        )
    else:
        yield CHECK.problem(
            "it wants an executable stack: loading it makes all stacks executable, and glibc 2.41 and later refuse it",
            place="PT_GNU_STACK",
        )


def _refuses(library: SharedObject) -> bool:
    if isinstance(library.release, Release):
        return bool(library.release.newest and library.release.newest[0] >= REFUSES)
    loaded = library.loaded.libraries
    libc = next((one for one in loaded if one.path.name == "libc.so.6"), None)
    return bool(libc and f"GLIBC_2.{REFUSES}" in libc.elf.versions)
