"""Incidents made by hand, and what one topic tells of them."""

from sigwhy.autopsy import autopsy
from sigwhy.model.incident import (
    Incident,
    Mapping,
    Module,
    NativeFrame,
    PythonFrame,
    Signal,
    Thread,
)

PYTHON, LIBC = "/usr/bin/python3.11", "/lib/x86_64-linux-gnu/libc.so.6"
CTYPES = "/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so"
FFI, OWN = "/usr/lib/x86_64-linux-gnu/libffi.so.8", "/home/me/job/libmine.so"
SITE = "/srv/env/lib/python3.11/site-packages"
PACKAGE = f"{SITE}/fastpack/_core.cpython-311-x86_64-linux-gnu.so"
SCRIPT = "/home/me/job/train.py"
EVAL = ("_PyEval_EvalFrameDefault", PYTHON)
BY_CTYPES = (("ffi_call", FFI), ("_ctypes_callproc", CTYPES), EVAL)
LOW, HIGH = 0x7F00_0000_0000, 0x7FFF_0000_0000


def incident(*frames, line="lib.boom(8)", column=None, signal="SIGSEGV", files=(), **known):
    """A thread with these native frames (function, library), innermost first, and one line of yours."""
    python = () if line is None else (PythonFrame(function="step", file=SCRIPT, line=3),)
    native = [
        NativeFrame(address=n, function=name, library=library, offset=n)
        for n, (name, library) in enumerate(frames, 1)
    ]
    thread = Thread(
        tid=7,
        crashed=True,
        native=native,
        python=list(known.pop("python", python)),
        holds_gil=known.pop("gil", None),
        registers=known.pop("registers", {}),
    )
    known.setdefault("sources", {SCRIPT: {3: line}} if line else {})
    known.setdefault("modules", [Module(path=path) for path in files])
    return Incident(
        pid=7,
        tid=7,
        signal=Signal(name=signal, number=11, code="SEGV_MAPERR", code_number=1, address=8),
        threads=[thread, *known.pop("others", ())],
        **known,
    )


def fault(address, *, code="8b07", stack=HIGH, signal="SIGSEGV", kind=1, registers=(), **known):
    """A fault at an address, under an instruction that reads through rdi."""
    named = {"rip": LOW + 0x10, "rsp": stack, "rdi": address or 0, **dict(registers)}
    told = {1: "SEGV_MAPERR", 2: "SEGV_ACCERR", 128: "SI_KERNEL"}[kind]
    known.setdefault("mappings", [mapped(LOW, 4, "r-xp", PACKAGE), mapped(HIGH - 0x4000, 8)])
    return Incident(
        pid=7,
        signal=Signal(name=signal, number=11, code=told, code_number=kind, address=address),
        threads=[Thread(tid=7, crashed=True, registers=named)],
        code=bytes.fromhex(code) + b"\x90" * 12,
        **known,
    )


def mapped(start, pages, rights="rw-p", path="", offset=0):
    return Mapping(start, start + pages * 4096, rights, offset, path)


def told(topic, of, kind):
    """The only fact of a kind that a topic tells."""
    return next((one.fact for one in topic.tell(of) if isinstance(one.fact, kind)), None)


def quotes(of):
    """Every fact with the words it was read from, which must be there."""
    from sigwhy.model.case import Case

    found = autopsy(of)
    case = Case(found.evidence, found.facts)
    return [(fact, case.quote(fact.span)) for fact in found.facts]
