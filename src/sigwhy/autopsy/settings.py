"""Variables of the environment that change how native code behaves, where one was set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident

TELLING = re.compile(
    r"^(?:OMP_STACKSIZE|GOMP_STACKSIZE|KMP_STACKSIZE|KMP_DUPLICATE_LIB_OK|LD_PRELOAD|LD_LIBRARY_PATH|PYTHONMALLOC|PYTHONHOME|PYTHONPATH"
    r"|MALLOC_\w+|GLIBC_TUNABLES|TF_\w+|XLA_FLAGS|CUDA_VISIBLE_DEVICES|OMP_NUM_THREADS|OPENBLAS_NUM_THREADS)$"
)


def tell(incident: Incident) -> Iterator[Told]:
    """Each as a line of its own."""
    for name, value in incident.environment.items():
        if TELLING.match(name):
            fact = Notice(span=NO_SPAN, topic="setting", text=f"{name}={value}", subject=name)
            yield Told.of(f"{name}={value}", fact, words=name)
