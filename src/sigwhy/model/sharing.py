"""The ways in which Python programs share memory without a copy, as they stand on stacks and in sources."""

from __future__ import annotations

import re

SHARING = (
    (re.compile(r"from_dlpack|to_dlpack|fromDLPack|toDLPack|DLManagedTensor\w*|[Dd][Ll][Pp]ack"), "DLPack"),
    (re.compile(r"multiprocessing[/\\]shared_memory\.py|SharedMemory"), "shared_memory"),
    (re.compile(r"numpy[/\\]_?core[/\\]memmap\.py|\bmemmap\b"), "memmap"),
    (re.compile(r"\bfrombuffer\b|__array_interface__|from_address|as_array\b|array_interface"), "frombuffer"),
    (re.compile(r"numpy_function|EagerPyFunc|NumpyBackedTensor|AcceptTensorBuffer|DelayedNumpyDecref"), "numpy_function"),
)  # fmt: skip
NUMPY_BLOCK = re.compile(
    r"npy_alloc|PyDataMem|PyArray_NewFromDescr|array_dealloc|_npy_\w+|default_(?:malloc|free|realloc)"
)
CLOSES = re.compile(r"\.(?:close|release|resize|unlink)\(|^del \w")
REFUSALS = re.compile(
    r"cannot resize an array that references or is referenced|cannot close exported pointers exist|Existing exports of data: object cannot be re-sized"
)
