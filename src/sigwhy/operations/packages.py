"""The packages whose calls are named by Python frames and objects: whose file a library is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.operation import Framework

# The folders of a package and of the libraries that its wheel brings, and a library's own name.
NAMES: tuple[tuple[Framework, str, str], ...] = (
    ("scipy", r"scipy|scipy\.libs", r"scipy_openblas(?!64)"),
    ("numpy", r"numpy|numpy\.libs", r"scipy_openblas64"),
    ("pandas", r"pandas|pandas\.libs", r"pandas"),
    ("opencv", r"cv2|opencv_\w+\.libs", r"opencv_"),
    ("pyarrow", r"pyarrow|pyarrow\.libs", r"arrow|parquet"),
    ("h5py", r"h5py|h5py\.libs", r"hdf5"),
)
PACKAGES = tuple(
    (
        framework,
        re.compile(rf"/(?:site|dist)-packages/(?:{folders})/|/lib(?:{libraries})[\w.-]*\.so"),
    )
    for framework, folders, libraries in NAMES
)
FRAMEWORKS: frozenset[str] = frozenset(framework for framework, _ in PACKAGES)
# What every process has: it does as others tell it.
COMMON = re.compile(
    r"/(?:libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|ld-linux[\w-]*|ld-musl[\w-]*|libpython[\d.]+\w*)[-.][\w.-]*$|/python[\d.]*\w?$|^\["
)


def framework_of(path: str) -> Framework | None:
    """The framework that a library belongs to."""
    return next((framework for framework, form in PACKAGES if form.search(path)), None)


def is_common(path: str) -> bool:
    """Whether a file is of the C and C++ libraries or of the interpreter."""
    return not path or bool(COMMON.search(path))
