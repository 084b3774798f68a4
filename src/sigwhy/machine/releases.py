"""Which versions of the C and C++ libraries the releases of Linux have.

The numbers are those of the packages that a release ships today: Ubuntu gives older releases the C++ library of a
newer compiler. ``manylinux`` names what a wheel of that tag may ask for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from sigwhy.model.error import UsageError

# Release, GLIBC_2.x, GLIBCXX_3.4.x, CXXABI_1.3.x. musl has no versions at all.
RELEASES = {
    "debian9": (24, 22, 10),
    "debian10": (28, 25, 11),
    "debian11": (31, 28, 12),
    "debian12": (36, 30, 13),
    "debian13": (41, 33, 15),
    "ubuntu16.04": (23, 21, 9),
    "ubuntu18.04": (27, 25, 11),
    "ubuntu20.04": (31, 28, 12),
    "ubuntu22.04": (35, 30, 13),
    "ubuntu24.04": (39, 33, 15),
    "rhel7": (17, 19, 7),
    "rhel8": (28, 25, 11),
    "rhel9": (34, 29, 13),
    "rhel10": (39, 33, 15),
    "amazonlinux2": (26, 24, 11),
    "amazonlinux2023": (34, 29, 13),
    "fedora40": (39, 33, 15),
    "fedora41": (40, 33, 15),
    "fedora42": (41, 34, 16),
    "manylinux2010": (12, 13, 3),
    "manylinux2014": (17, 19, 7),
    "manylinux_2_24": (24, 22, 10),
    "manylinux_2_27": (27, 24, 11),
    "manylinux_2_28": (28, 24, 11),
    "manylinux_2_31": (31, 28, 12),
    "manylinux_2_34": (34, 29, 13),
    "manylinux_2_35": (35, 30, 13),
    "manylinux_2_39": (39, 33, 15),
}  # fmt: skip
MUSL = ("alpine", "musllinux")
SAME = {
    "manylinux_2_12": "manylinux2010", "manylinux_2_17": "manylinux2014", "centos7": "rhel7", "centos8": "rhel8",
    "rocky8": "rhel8", "rocky9": "rhel9", "almalinux8": "rhel8", "almalinux9": "rhel9", "rocky10": "rhel10",
    "almalinux10": "rhel10", "bullseye": "debian11", "bookworm": "debian12", "trixie": "debian13",
    "focal": "ubuntu20.04", "jammy": "ubuntu22.04", "noble": "ubuntu24.04",
}  # fmt: skip
FAMILIES = (("GLIBC_2.", 0), ("GLIBCXX_3.4.", 1), ("CXXABI_1.3.", 2))
NUMBER = re.compile(r"(\d{1,3})(?:\.\d{1,3})?")
# What every Linux with glibc has without asking, as the manylinux policies count it.
EVERYWHERE = frozenset({
    "libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1", "libresolv.so.2",
    "libnsl.so.1", "libcrypt.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libatomic.so.1", "libanl.so.1",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libX11.so.6", "libXext.so.6", "libXrender.so.1",
    "libICE.so.6", "libSM.so.6", "libGL.so.1", "libgobject-2.0.so.0", "libgthread-2.0.so.0",
    "libglib-2.0.so.0", "libz.so.1", "libexpat.so.1",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Release:
    """A release: the newest minor number that each family of versions has, or none with musl."""

    name: str
    newest: tuple[int, int, int] | None

    @classmethod
    def of(cls, words: str) -> Release:
        """Read ``debian12``, ``ubuntu:22.04`` or ``manylinux_2_28_x86_64``. Raises ``UsageError``."""
        name = words.strip().lower().replace(":", "").replace("-", "").replace(" ", "")
        name = name.removesuffix("_x86_64").removesuffix("_aarch64")
        if name.startswith(MUSL):
            return cls(name, None)
        name = SAME.get(name, name)
        if name not in RELEASES:
            near = get_close_matches(name, [*RELEASES, *SAME, *MUSL], n=3)
            hint = (
                f"did you mean {' or '.join(near)}" if near else f"there are {', '.join(RELEASES)}"
            )
            raise UsageError(f"no system is called {words[:40]!r}; {hint}")
        return cls(name, RELEASES[name])

    def lacks(self, version: str) -> bool:
        """Whether a version such as ``GLIBC_2.38`` is newer than those of this release."""
        for family, place in FAMILIES:
            if version.startswith(family) and (told := NUMBER.fullmatch(version[len(family) :])):
                return self.newest is None or int(told[1]) > self.newest[place]
        return False
