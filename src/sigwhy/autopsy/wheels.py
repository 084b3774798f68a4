"""Which wheel each library came with: from the RECORD files where the dead process had its packages.

Only what is needed is read: the records of distributions that can own a mapped file, the likeliest
first, and of each no more than an honest one holds. Nothing of the environment is executed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sigwhy.autopsy import build_id
from sigwhy.autopsy.core import Core
from sigwhy.model.blame import file_name
from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sigwhy.model.incident import Incident, Module

SITE = re.compile(r"^(?P<folder>/.{0,2000}?/(?:site|dist)-packages)/(?P<inside>.+)$")
INFO = re.compile(r"^(?P<name>[A-Za-z0-9][\w.]{0,100})-(?P<version>[\w.!+]{1,60})\.dist-info$")
NAME = re.compile(r"^Name:[ \t]*([\w.-]{1,100})", re.MULTILINE)
MOST_FOLDERS, MOST_DISTRIBUTIONS = 16, 5000
MOST_RECORD_BYTES, MOST_BYTES = 16 << 20, 64 << 20
HEAD_BYTES = 4096
# Packages whose versions are asked for whenever something native died.
ASKED_FOR = frozenset(
    [
        "ai_edge_litert",
        "ai_edge_torch",
        "cupy",
        "cython",
        "grpcio",
        "h5py",
        "jax",
        "jaxlib",
        "keras",
        "lightgbm",
        "llvmlite",
        "ml_dtypes",
        "mkl",
        "nanobind",
        "numba",
        "numpy",
        "onnx",
        "onnxruntime",
        "opencv_python",
        "pandas",
        "pillow",
        "pip",
        "protobuf",
        "pyarrow",
        "pybind11",
        "ray",
        "scikit_learn",
        "scipy",
        "setuptools",
        "tensorflow",
        "tensorflow_cpu",
        "tensorflow_intel",
        "tensorflow_io",
        "tensorflow_text",
        "tf_keras",
        "tf_nightly",
        "tflite_runtime",
        "torch",
        "torchaudio",
        "torchvision",
        "transformers",
        "triton",
        "xgboost",
    ]
)
MOST_PACKAGES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Something that was installed: its folder of metadata, and its name and version by that."""

    info: Path
    name: str
    version: str


@dataclass(slots=True)
class _Site:
    """A folder of packages, and the files in it that were mapped."""

    folder: Path
    wanted: set[str] = field(default_factory=set)  # paths inside the folder
    distributions: list[Distribution] = field(default_factory=list)
    owners: dict[str, Distribution] = field(default_factory=dict)


def known(incident: Incident, build_ids: Callable[[str], str | None] = lambda _: None) -> Incident:
    """The Incident with distributions, versions and build ids of its modules, and packages.

    ``build_ids`` tells the build id that a file had in memory, where that is known.
    """
    sites = _sites(incident)
    left = MOST_BYTES
    for site in sites.values():
        site.distributions = _distributions(site.folder)
        left = _find_owners(site, left)
    modules = [_with_ids(_owned(module, sites), build_ids) for module in incident.modules]
    packages = dict(_packages(incident, sites.values()))
    return msgspec.structs.replace(incident, modules=modules, packages=packages)


def of_small_core(incident: Incident, core: Path | None) -> Incident:
    """The same, with the build ids that the core of the Incident holds; never an error."""
    try:
        memory = Core(core) if core else None
    except (UsageError, OSError):
        memory = None
    try:
        return known(incident, memory.build_id) if memory else known(incident)
    except Exception:  # noqa: BLE001 -- an Incident without the names of its wheels is better than none
        return incident
    finally:
        if memory:
            memory.close()


def by_library(modules: Sequence[Module]) -> Callable[[str | None], Module | None]:
    """Finds the module that a frame names: by its path, else by its name where that is one file's."""
    paths = {module.path: module for module in modules}
    names: dict[str, list[Module]] = {}
    for module in modules:
        names.setdefault(file_name(module.path), []).append(module)

    def find(library: str | None) -> Module | None:
        if not library:
            return None
        exact = paths.get(library) or paths.get(os.path.normpath(library))
        same = names.get(file_name(library), [])
        return exact or (same[0] if len(same) == 1 else None)

    return find


def _sites(incident: Incident) -> dict[str, _Site]:
    sites: dict[str, _Site] = {}
    files = (frame.file for thread in incident.threads for frame in thread.python)
    for path in (*(module.path for module in incident.modules), *files):
        found = SITE.match(path)
        if found and (found["folder"] in sites or len(sites) < MOST_FOLDERS):
            site = sites.setdefault(found["folder"], _Site(Path(found["folder"])))
            site.wanted.add(found["inside"])
    return sites


def _distributions(folder: Path) -> list[Distribution]:
    found: list[Distribution] = []
    try:
        with os.scandir(folder) as entries:
            for entry, _ in zip(entries, range(4 * MOST_DISTRIBUTIONS), strict=False):
                if told := INFO.match(entry.name):
                    found.append(
                        Distribution(
                            info=folder / entry.name, name=told["name"], version=told["version"]
                        )
                    )
    except OSError:
        return []
    return found[:MOST_DISTRIBUTIONS]


def _find_owners(site: _Site, left: int) -> int:
    """Read records, the likeliest first, until every mapped file has an owner or enough was read."""
    wanted = set(site.wanted)
    tops = {re.split(r"[/.]", inside)[0].strip("_").lower() for inside in wanted}
    likely = sorted(site.distributions, key=lambda d: (not _is_like(d.name, tops), d.name))
    for distribution in likely:
        if not wanted or left <= 0:
            break
        record = _read(distribution.info / "RECORD", min(left, MOST_RECORD_BYTES))
        left -= len(record)
        lines = b"\n" + record
        own = {inside for inside in wanted if _holds(lines, inside)}
        site.owners.update(dict.fromkeys(own, distribution))
        wanted -= own
    return left


def _is_like(name: str, tops: set[str]) -> bool:
    return any(name.lower().startswith(top) or top.startswith(name.lower()) for top in tops)


def _holds(lines: bytes, inside: str) -> bool:
    packed = os.fsencode(inside)
    return b"\n" + packed + b"," in lines or b'\n"' + packed + b'",' in lines


def _read(path: Path, most: int) -> bytes:
    """A regular file, up to so many bytes; nothing where it is something else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    with os.fdopen(handle, "rb") as stream:
        try:
            return stream.read(most)
        except OSError:
            return b""


def _owned(module: Module, sites: dict[str, _Site]) -> Module:
    found = SITE.match(module.path)
    owner = sites[found["folder"]].owners.get(found["inside"]) if found else None
    if found is None or owner is None:
        return module
    return msgspec.structs.replace(module, distribution=_as_published(owner), version=owner.version)


def _as_published(distribution: Distribution) -> str:
    """The name as its authors write it: folders have ``tensorflow_cpu`` for ``tensorflow-cpu``."""
    head = _read(distribution.info / "METADATA", HEAD_BYTES).decode("utf-8", "replace")
    told = NAME.search(head)
    return told[1] if told else distribution.name


def _with_ids(module: Module, build_ids: Callable[[str], str | None]) -> Module:
    was, now = module.build_id or build_ids(module.path), build_id.of_file(module.path)
    return msgspec.structs.replace(
        module,
        build_id=was or now,
        deleted=module.deleted or not os.path.exists(module.path),  # noqa: PTH110 -- a path of the dead process, told as text
        changed=bool(was and now and was != now),
    )


def _packages(incident: Incident, sites: Iterable[_Site]) -> Iterator[tuple[str, str]]:
    """Those whose files were mapped or on a stack, and those that are always asked for."""
    yield from list(incident.packages.items())[:MOST_PACKAGES]
    left = MOST_PACKAGES
    for site in sites:
        used = {id(owner) for owner in site.owners.values()}
        for distribution in sorted(site.distributions, key=lambda d: d.name.lower()):
            asked = distribution.name.lower() in ASKED_FOR
            if left > 0 and (asked or id(distribution) in used):
                left -= 1
                yield _as_published(distribution), distribution.version
