"""The operations that were found in memory, each with what it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.autopsy.told import NO_SPAN, Told
from sigwhy.autopsy.user_line import user_line
from sigwhy.model.fact import Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.incident import Incident
    from sigwhy.model.operation import Argument, Operation

NAMES = {
    "tensorflow": "TensorFlow",
    "tflite": "TensorFlow Lite",
    "torch": "PyTorch",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "pandas": "pandas",
    "opencv": "OpenCV",
    "pyarrow": "Arrow",
    "h5py": "HDF5",
}
STATES = {
    "running": "it was in the {name} {what} {op}",
    "constructing": "it was making the kernel of the {name} {what} {op}",
    "left": "an exception had just left the {name} {what} {op}",
    "beside": "another thread was in the {name} {what} {op}",
}
MOST_VALUES = 8
LONGEST = 200


def tell(incident: Incident) -> Iterator[Told]:
    """Each operation on a line, and its arguments on lines of their own below it."""
    for operation in incident.operations:
        yield Told(
            (_headline(operation), *(f"    {line}" for line in _arguments(operation))),
            _fact(operation, incident),
            words=operation.op,
        )


def _fact(operation: Operation, incident: Incident) -> Op:
    model = operation.model
    thread = next((t for t in incident.threads if t.crashed or t.tid == operation.tid), None)
    called = user_line(incident, thread)[0] if thread and operation.state != "beside" else None
    return Op(
        span=NO_SPAN,
        framework=operation.framework,
        op=operation.op,
        node=operation.node or _place(operation) or None,
        device=operation.device or None,
        kernel=operation.kernel or None,
        from_memory=True,
        is_hint=operation.is_hint,
        state=operation.state,
        inner=operation.inner or None,
        phase=operation.phase or None,
        call=operation.call or None,
        delegate=operation.delegate or None,
        model=model.path or None if model else None,
        index=model.index if model else None,
        subgraph=model.subgraph if model else None,
        cycle=tuple(model.cycle) if model else (),
        library=operation.library or None,
        file=called.file if called else None,
        line=called.line if called else None,
        function=called.function if called else None,
    )


def _headline(operation: Operation) -> str:
    name = NAMES.get(operation.framework, operation.framework)
    # Where no operation is known, it is the call that was made.
    what = "call" if operation.op == operation.call else "operation"
    words = [STATES[operation.state].format(name=name, what=what, op=operation.op)]
    words += [f"inside it {operation.inner}"] if operation.inner else []
    words += [f"node {operation.node}"] if operation.node else []
    model = operation.model
    words += [place] if (place := _place(operation)) else []
    if model and model.cycle:
        turns = " -> ".join(map(str, [*model.cycle, model.cycle[0]]))
        words.append(f"subgraphs that call each other without end: {turns}")
    words += [f"of the model {model.path}"] if model and model.path else []
    for what in (operation.phase, operation.device, operation.kernel):
        words += [what] if what else []
    said = ", ".join(words)
    doubt = "; it may be the last one, not the one" if operation.is_hint else ""
    return f"{said} ({operation.found}{doubt})" if operation.found or doubt else said


def _place(operation: Operation) -> str:
    """Where an operation of a model stands in it."""
    model = operation.model
    if model is None or model.index is None:
        return ""
    return f"operator {model.index} of subgraph {model.subgraph or 0}"


def _arguments(operation: Operation) -> Iterator[str]:
    for label, arguments in (
        ("", operation.inputs),
        ("attribute ", operation.attributes),
        ("output ", operation.outputs),
    ):
        for argument in (a for a in arguments if not a.name.startswith("_")):
            yield f"{label}{described(argument)}"
    for lack in operation.missing:
        yield f"not found: {lack}"


def described(argument: Argument) -> str:
    """One argument on one line: ``boxes = float32[3] 0.1 0.2 0.3``."""
    words = [f"{argument.name} =" if argument.name else "="]
    if argument.dtype or argument.shape is not None:
        sizes = "?" if argument.shape is None else ",".join(map(str, argument.shape))
        words.append(f"{argument.dtype or argument.kind}[{sizes}]")
    if argument.values:
        shown = " ".join(_shown(value) for value in argument.values[:MOST_VALUES])
        more = len(argument.values) > MOST_VALUES or (argument.elements or 0) > len(argument.values)
        words.append(shown + (" …" if more else ""))
    words += [argument.text] if argument.text else []
    if argument.standing not in ("there", "none"):
        words.append(f"(its memory is {argument.standing})")
    words += (
        [f"(variable {argument.variable})"] if argument.variable not in ("", argument.name) else []
    )
    words += [f"({argument.note})"] if argument.note else []
    said = " ".join(words)
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
