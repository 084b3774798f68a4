"""What reaches past the protection of Python by hand: ctypes, counts of references, byte code."""

from __future__ import annotations

import re

READS = re.compile(r"^(?:string_at|wstring_at|memoryview_at|memmove|memset|cast|from_address)$")
CTYPES = re.compile(r"(?:^|[/\\])ctypes[/\\]")
CALLS = re.compile(
    r"\b(?:ctypes\.)?(?P<call>string_at|wstring_at|memmove|memset|from_address)\s*\(|ctypes\.(?P<cast>cast|pythonapi|PyDLL)|\.(?P<count>Py_(?:DecRef|IncRef))\b"
    r"|\b(?P<code>types\.CodeType|marshal\.loads?|co_code\s*=)|faulthandler\.(?P<demo>_\w+)\("
)
COUNTS = re.compile(
    r"deallocating (?:None|True|False|NotImplemented|Ellipsis|0x)|negative ref ?count|refcount is too small"
    r"|ref(?:erence)? count error|[Oo]bject already tracked|object already tracked by the garbage collector"
    r"|not tracked|[Dd]eallocating immortal|UNREF invalid object|has negative ref count"
)
ASSERTS = frozenset(
    {"_PyObject_AssertFailed", "_Py_NegativeRefcount", "none_dealloc", "_Py_ForgetReference"}
)
FFI = re.compile(r"^(?:ffi_call\w*|_call_function_pointer|_ctypes_callproc|PyCFuncPtr_call)$")
STRINGS = re.compile(
    r"^_*(?:strlen|mem(?:cpy|move|set|chr|cmp)|wcslen|strcpy|strcmp)\w*$|^PyBytes_From\w+$|^string_at$"
)
CTYPES_NAMES = {
    "memcpy": "ctypes.memmove",
    "memmove": "ctypes.memmove",
    "memset": "ctypes.memset",
    "strlen": "ctypes.string_at",
    "wcslen": "ctypes.wstring_at",
    "PyBytes_From": "ctypes.string_at",
}
