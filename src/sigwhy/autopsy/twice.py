"""Libraries that are in the process twice, and files that changed while they were in use.

That a library is loaded twice is not yet the cause of anything: two wheels that each bring their own
OpenBLAS are ordinary. So it weighs little by itself, and nothing where it is ordinary.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.model.blame import file_name
from sigwhy.model.fact import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident, Module

# What there should be one of: topic, what it is called, and the files that are it. Wheels put a
# hash into the name of a library that they bring along: libgomp-a34b3233.so.1.0.0.
FAMILIES = tuple(
    (topic, name, re.compile(rf"^(?:{form})(?:[-.][\w.+-]*)?\.(?:so|dylib)(?:\.[\d.]+)?$"))
    for topic, name, form in (
        ("openmp-loaded-twice", "OpenMP", r"libgomp|libomp|libiomp5|libompstub"),
        ("protobuf-loaded-twice", "protobuf", r"libprotobuf(?:-lite)?"),
        ("library-loaded-twice", "libstdc++", r"libstdc\+\+"),
        ("library-loaded-twice", "the allocator", r"libtcmalloc(?:_minimal)?|libjemalloc|libmimalloc"),
        ("library-loaded-twice", "HDF5", r"libhdf5"),
        ("library-loaded-twice", "TensorFlow", r"libtensorflow_framework"),
        ("library-loaded-twice", "CUDA's run time", r"libcudart"),
        ("library-loaded-twice", "cuDNN", r"libcudnn"),
        ("library-loaded-twice", "MPI", r"libmpi"),
        ("library-loaded-twice", "the Python library", r"libpython3\.\d+t?"),
        ("ordinary", "OpenBLAS", r"lib(?:scipy_)?openblas\w*"),
    )
)  # fmt: skip
MOST_CHANGED = 3


def tell(incident: Incident) -> Iterator[Told]:
    """Each family with more than one member; then what was replaced."""
    for topic, name, form in FAMILIES:
        members = _different([m for m in incident.modules if form.match(file_name(m.path))])
        if len(members) > 1:
            told = " and ".join(map(_named, members[:3]))
            line = f"{name} is in the process {_times(len(members))}: {told}"
            if topic == "ordinary":
                yield Told.of(line)
                continue
            fact = Notice(span=NO_SPAN, topic=topic, text=line, subject=file_name(members[0].path))
            yield Told.of(line, fact, words=name)
    for module in [m for m in incident.modules if m.changed][:MOST_CHANGED]:
        line = f"{_named(module)} was replaced by another build while the process used it"
        name = file_name(module.path)
        yield Told.of(
            line,
            Notice(span=NO_SPAN, topic="library-replaced", text=line, subject=name),
            words=name,
        )


def _different(modules: list[Module]) -> list[Module]:
    """Files that are not the same build, or lie in different places."""
    return list({module.build_id or module.path: module for module in reversed(modules)}.values())[
        ::-1
    ]


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _named(module: Module) -> str:
    name = file_name(module.path)
    if not module.distribution:
        return f"{name} ({module.path.rpartition('/')[0] or '/'})"
    return f"{name} of {module.distribution} {module.version or ''}".rstrip()
