"""Operations made by hand, how their process died, and who is found guilty."""

from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Guilty
from sigwhy.model.incident import Incident, Signal, Thread
from sigwhy.model.operation import Argument, Operation

NUMBERS = {"SIGABRT": 6, "SIGBUS": 7, "SIGFPE": 8, "SIGSEGV": 11}
SHAPE_CC, TENSOR_CC = (
    "tensorflow/core/framework/tensor_shape.cc",
    "tensorflow/core/framework/tensor.cc",
)


def tensor(name, shape, *values, dtype="float32", **more):
    elements = 1
    for size in shape or ():
        elements *= size
    return Argument(
        name=name, dtype=dtype, shape=shape, values=list(values), elements=elements, **more
    )


def number(name, *values):
    kind = "int" if len(values) == 1 else "list"
    return Argument(name=name, kind=kind, values=list(values))


def dtype(name, text):
    return Argument(name=name, kind="dtype", text=text)


def handle(name="resource"):
    return Argument(name=name, kind="resource", dtype="resource", shape=[])


def operation(op="Some", inputs=(), attributes=(), **more):
    return Operation(
        framework="tensorflow", op=op, inputs=list(inputs), attributes=list(attributes), **more
    )


def incident(*operations, signal="SIGABRT", says="", file=SHAPE_CC, address=None, code="", **more):
    """A death by this signal while these operations ran; ``says`` is the text of a fatal record."""
    said = f"2026-01-07 10:11:12.131415: F {file}:357] {says}\n" if says else ""
    own = signal == "SIGABRT"
    return Incident(
        pid=7,
        tid=7,
        signal=Signal(
            name=signal,
            number=NUMBERS[signal],
            code="SI_TKILL" if own else more.pop("why", "SEGV_MAPERR"),
            code_number=-6 if own else 1,
            address=address,
        ),
        threads=[Thread(tid=7, crashed=True, registers=dict(more.pop("registers", {})))],
        code=bytes.fromhex(code) + b"\x90" * 12 if code else b"",
        operations=list(operations),
        stderr=said + more.pop("stderr", ""),
        **more,
    )


def report(*operations, **death):
    return judge(Gathered(()), incident(*operations, **death))


def guilty(*operations, **death):
    """Argument to sentence, in order."""
    return {g.argument: g for g in report(*operations, **death).case.all(Guilty)}


def blamed(*operations, **death):
    return {name: (g.fit, g.says) for name, g in guilty(*operations, **death).items()}
