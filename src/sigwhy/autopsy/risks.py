"""Words in a user's source by which Python reaches past what it protects.

None of them is wrong by itself. Beside a fault of memory they say where to look first.
"""

from __future__ import annotations

import re

LONGEST = 2000
MODE = 4  # characters of a word like 'fork' or 'r+b'; what is longer is text, and does nothing
# Topic, and what is called; of several rows of one topic the first that fits names it.
RISKS = tuple(
    (topic, re.compile(pattern))
    for topic, pattern in (
        ("frees", r"\b(?P<call>munmap|(?:\w+\.)?untyped_storage\(\)\.resize_|storage\(\)\.resize_|\w+\.resize\([^)]*refcheck\s*=\s*False|VirtualFree|cudaFree)"),
        ("borrows", r"\b(?P<call>from_address|from_buffer|frombuffer|foreign_buffer|from_blob|from_dlpack|to_dlpack|__dlpack__|as_strided|as_array|__array_interface__|__cuda_array_interface__|SharedMemory|from_numpy|from_memory|addressof|memmap|from_file|mmap\.mmap|ffi\.(?:new|from_buffer|buffer)|asarray_chkfinite|set_array)\b"),
        ("borrows", r"(?P<call>np\.ndarray|numpy\.ndarray)\([^#]*\bbuffer\s*="),
        ("borrows", r"\.(?P<call>ctypes\.data(?:_as)?)\b"),
        ("counts", r"\b(?P<call>Py_DecRef|Py_IncRef|_Py_DecRef|PyCapsule_New|Py_XDECREF)\b"),
        ("pokes", r"\b(?P<call>CFUNCTYPE|PYFUNCTYPE|WINFUNCTYPE|pythonapi|string_at|wstring_at|memmove|memset|CodeType|marshal\.loads?|CDLL|LoadLibrary|c_\w+\.from_address|ffi\.cast|co_code|__code__\.replace)\b"),
        ("pokes", r"(?<!super\(\)\.)(?P<call>__new__)\("),
        ("edits", r"\.(?P<call>indices|indptr)\s*\[[^\]]*\]\s*(?:=|\+=|-=)(?!=)"),
        ("truncates", r"\b(?P<call>os\.f?truncate|\.truncate)\s*\("),
        ("limits", r"\b(?:setrlimit|prlimit)\([^#]*?\b(?P<call>RLIMIT_[A-Z]{2,12})\b"),
        ("limits", r"\b(?P<call>setrlimit|prlimit)\b"),
        ("threads", r"\b(?P<call>set_int(?:er|ra)_op_parallelism_threads|int(?:er|ra)_op_parallelism_threads|private_threadpool_size|set_num_(?:interop_)?threads|num_(?:parallel_(?:calls|reads)|threads)|max_workers|(?:OMP|OPENBLAS|MKL)_NUM_THREADS)\b[\W_]{1,6}(?:[3-9]\d\d|\d{4,})\b"),
        ("nests", r"\b(?P<call>setrecursionlimit|stack_size)\s*\("),
        ("forks", r"\b(?P<call>os\.fork\b|get_context\(\s*['\"]fork['\"]|set_start_method\(\s*['\"]fork['\"])"),
        ("damages", r"\b(?P<call>bytearray)\(\s*open\(|\b(?P<call2>open)\([^)]*['\"]r\+b|\.(?P<call3>write)\(\s*(?:b|data|raw)\["),
        ("closes", r"\.(?P<call>close|unlink|release|detach)\(\)"),
    )
)  # fmt: skip
# Comments and strings: 'munmap failed', f"{buffer.from_address(at)}", getattr(api, "Py_DecRef").
ASIDE = re.compile(
    r"""#.*|(?P<before>\[|attr\([\w.]+,\s*)?(?P<prefix>\b[A-Za-z]{1,2})?(?P<quote>\'\'\'|\"{3}|'|")"""
    r"""(?P<text>(?:\\.|(?!(?P=quote)).)*)(?:(?P=quote)|$)"""
)
COMPUTED = re.compile(r"\{([^{}]*)\}")
IMPORT = re.compile(r"^\s*(?:from\s+[\w.]+\s+)?import\s[\w.,\s()*]*")


def risks(line: str) -> dict[str, str]:
    """The topics of a line, and what is called for each."""
    if len(line) > LONGEST:
        return {}
    code = IMPORT.sub("", ASIDE.sub(_runs, line))
    found: dict[str, str] = {}
    for topic, pattern in RISKS:
        if topic not in found and (seen := pattern.search(code)):
            found[topic] = next(name for name in seen.groups() if name)
    return found


def _runs(aside: re.Match[str]) -> str:
    """What of a comment or a string does something: a name that is asked for, a mode, a value."""
    before, text, quote = aside["before"] or "", aside["text"] or "", aside["quote"] or ""
    if "f" in (aside["prefix"] or "").lower():
        return f"{before} {' '.join(COMPUTED.findall(text))} "
    kept = len(text) <= MODE or (before and text.isidentifier())
    return f"{before}{quote}{text if kept else ''}{quote}"
