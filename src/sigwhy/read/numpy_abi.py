"""What modules say that were built for another NumPy, Python, HDF5 or class layout.

Looks like::

    A module that was compiled using NumPy 1.x cannot be run in
    NumPy 2.0.0 as it may crash.
    AttributeError: _ARRAY_API not found
    ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from …
    Headers are 1.10.4, library is 1.10.5
    Module use of python37.dll conflicts with this version of Python.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

LOAD = "load-failure"
CHECK = "check-failed"

# (words that must stand in the line, pattern with the subject if any, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ("compiled using NumPy 1", r"module that was compiled using NumPy 1\.x cannot be run in(?: NumPy (?P<subject>[\w.]{1,20}))?", "numpy-abi", LOAD),
        ("modules must be compiled with NumPy 2", r"modules must be compiled with NumPy 2", "numpy-abi", LOAD),
        ("as it may crash. To support both", r"NumPy (?P<subject>[\w.]{1,20}) as it may crash\. To support both", "numpy-abi", LOAD),
        ("_ARRAY_API not found", r"_ARRAY_API not found", "numpy-abi", LOAD),
        ("compiled against", r"module (?:was )?compiled against (?:NumPy )?(?:C-)?(?:API|ABI) version (?P<subject>0x[0-9a-fA-F]{1,9})", "numpy-abi", LOAD),
        ("failed to import", r"numpy\._?core\.(?P<subject>multiarray|umath|_multiarray_umath) failed to import", "numpy-abi", LOAD),
        ("C-extensions failed", r"[Ii]mporting the numpy (?:C-extensions|c-extensions|core) failed", "numpy-broken", LOAD),
        ("umpy", r"No module named ['\"]?(?P<subject>numpy\._?core\._(?:multiarray_umath|multiarray_tests|umath_tests))\b", "numpy-other-python", LOAD),
        ("may indicate binary incompatibility", r"(?P<subject>[\w.]{1,120}) size changed, may indicate binary incompatibility", "struct-size", LOAD),
        ("try recompiling", r"(?P<subject>[\w.]{1,120}) (?:has the wrong size|does not appear to be the correct type object), try recompiling", "struct-size", LOAD),
        ("has the wrong size", r"(?P<subject>[\w.]{1,120}) has the wrong size, try recompiling", "struct-size", LOAD),
        ("has wrong signature", r"C (?:function|variable) (?P<subject>[\w.]{1,120}) has wrong signature", "c-signature", LOAD),
        ("does not export expected C", r"(?P<subject>[\w.]{1,120}) does not export expected C (?:function|variable)", "c-signature", LOAD),
        ("failed without raising an exception", r"initialization of (?P<subject>[\w.]{1,80}) failed without raising an exception", "init-without-error", LOAD),
        ("conflicts with this version of Python", r"Module use of (?P<subject>python\d{2,3}(?:_d)?\.dll) conflicts with this version of Python", "python-abi", LOAD),
        ("Python version mismatch", r"Python version mismatch: module was compiled for (?:version|Python) (?P<subject>[\d.]{1,10})", "python-abi", LOAD),
        ("does not match runtime version", r"compiletime version (?P<subject>[\d.]{1,10}) of module \S{1,200} does not match runtime version", "python-abi-warned", None),
        ("compiled for Python", r"module was compiled for Python (?P<subject>[\d.]{1,10})", "python-abi", LOAD),
        ("bad magic number in", r"bad magic number in '(?P<subject>[\w.]{1,100})'", "python-abi", LOAD),
        ("HDF5 header files used to compile", r"The (?P<subject>HDF5) header files used to compile this application do not match", "hdf5-abi", CHECK),
        ("HDF5 library version mismatched error", r"(?P<subject>HDF5) library version mismatched error", "hdf5-abi", CHECK),
        ("HDF5_DISABLE_VERSION_CHECK", r"(?P<subject>HDF5)_DISABLE_VERSION_CHECK'? environment variable", "hdf5-abi", CHECK),
        ("Headers are", r"Headers are (?P<subject>\d[\d.]{1,12}), library is \d", "hdf5-abi", CHECK),
        ("is running against HDF5", r"is running against (?P<subject>HDF5) [\d.]{1,12} when it was built against", "hdf5-abi-warned", None),
        ("torchvision::nms", r"operator (?P<subject>torchvision)::nms does not exist", "torch-abi", LOAD),
        ("Couldn't load custom C++ ops", r"Couldn't load custom C\+\+ ops", "torch-abi", LOAD),
        ("was built against TensorFlow", r"(?P<subject>\w{1,40}) was built against TensorFlow [\w.]{1,20}", "framework-abi", LOAD),
        ("has not been built", r"Extension (?P<subject>horovod\.\w{1,20}) has not been built", "framework-abi", LOAD),
        ("version mismatch", r"TensorFlow (?P<subject>API|ABI|custom op) version mismatch", "framework-abi", LOAD),
        ("might be ABI-incompatible", r"(?P<subject>\w{1,60}) might be ABI-incompatible", "framework-abi", None),
    )
)  # fmt: skip
# "size changed" and "compiled against" as a mere warning: the module goes on.
WARNED = re.compile(r"\b(?:RuntimeWarning|UserWarning|ImportWarning|FutureWarning)\b")
ONLY_A_WARNING = {"struct-size", "c-signature", "numpy-abi"}
MARKERS = tuple(sorted({row[0] for row in SENTENCES}))


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what was built for something else."""
    for n, line in enumerate(evidence.lines):
        for hint, pattern, topic, mechanism in SENTENCES:
            if hint not in line or not (found := pattern.search(line)):
                continue
            if topic in ONLY_A_WARNING and WARNED.search(line):
                continue
            yield Notice(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
                topic=topic,
                text=found[0],
                subject=found.groupdict().get("subject"),
                mechanism=mechanism,
            )
            break
