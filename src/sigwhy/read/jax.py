"""What JAX and jaxlib say about themselves.

Looks like::

    RuntimeError: This version of jaxlib was built using AVX instructions, which your CPU and/or operating system do not support.
    RuntimeWarning: os.fork() was called. os.fork() is incompatible with multithreaded code, and JAX is multithreaded, so this will likely lead to a deadlock.
    RuntimeError: jaxlib version 0.4.20 is newer than and incompatible with jax version 0.4.14.
    RuntimeError: Unable to initialize backend 'cuda': FAILED_PRECONDITION: No visible GPU devices.
    XlaRuntimeError: INVALID_ARGUMENT: Executable expected parameter 0 of size 4 but got buffer with incompatible size 8
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

MARKERS = (
    "has been deleted",
    "initialize backend",
    "os.fork() was called",
    "incompatible size",
    "deleted or donated",
    "jax",
    "JAX",
    "libtpu",
    "TPU",
    "XlaRuntimeError",
)
ROWS = (
    (re.compile(r"jaxlib was built using (?P<about>[\w. ]{2,40}) instructions, which your CPU"), "cpu-feature-missing"),
    (re.compile(r"os\.fork\(\) was called\. os\.fork\(\) is incompatible with multithreaded code"), "fork-with-threads"),
    (re.compile(r"jaxlib (?:version )?[\w.]{1,30} is newer than and incompatible with jax"), "jax-versions-differ"),
    (re.compile(r"jax requires jaxlib(?: version)? >= ?[\w.]{1,30}|jaxlib is version [\w.]{1,30}, but this version of jax"), "jax-versions-differ"),
    (re.compile(r"The TPU is already in use by (?:process with pid|another process)|libtpu\.so (?:is )?already in use"), "tpu-in-use"),
    (re.compile(r"Unable to initialize backend '(?P<about>\w{2,20})'"), "backend-unavailable"),
    (re.compile(r"CUDA-enabled jaxlib is not installed"), "gpu-build-missing"),
    (re.compile(r"Array has been deleted with shape|Buffer has been deleted or donated"), "used-after-donate"),
    (re.compile(r"Executable expected parameter \d+ of size \d+ but got buffer with incompatible size"), "tensor-size-wrong"),
)  # fmt: skip
INSTALLED = re.compile(
    r"\b(?P<package>jax|jaxlib)(?:: ?|==| version )(?P<version>\d+\.\d[\w.]{0,12})"
)


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the sentences that are known, and the versions."""
    for n, line in enumerate(evidence.lines):
        for pattern, topic in ROWS:
            if found := pattern.search(line):
                span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
                subject = found.groupdict().get("about") or "jaxlib"
                yield Notice(span=span, topic=topic, text=found[0], subject=subject)
        for found in INSTALLED.finditer(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
            yield Version(span=span, package=found["package"], version=found["version"])
