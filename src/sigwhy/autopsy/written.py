"""The call that runs, as it is written in the user's source: ``libc.free`` of ``libc.free(p + 8)``."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.model.incident import Incident, PythonFrame

LONGEST = 120
LONGEST_LINE = 2000
ASSIGNS = re.compile(rb"(?:[-+*/@%&|^]|//|\*\*|<<|>>)?=(?!=)")
CLOSING = {"(": ")", "[": "]", "{": "}"}
SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mult": "*",
    "MatMult": "@",
    "Div": "/",
    "FloorDiv": "//",
    "Mod": "%",
    "Pow": "**",
}
WRAPPERS = frozenset(
    {"print", "str", "repr", "len", "list", "int", "float", "bool", "next", "iter"}
)


def written(incident: Incident, frame: PythonFrame) -> str | None:
    """The name of what this frame calls, if its line is known and says so."""
    line = _line(incident, frame)
    part = _part(line, frame)
    return (_name(part) if part else None) or (_last_call(line) if line else None)


def expression(incident: Incident, frame: PythonFrame) -> ast.expr | None:
    """The expression that runs, where Python keeps the columns of it."""
    tree = _parsed(_part(_line(incident, frame), frame))
    return tree.body if isinstance(tree, ast.Expression) else None


def is_assigned(incident: Incident, frame: PythonFrame) -> bool:
    """Whether what runs stands on the left of an equals sign."""
    line = _line(incident, frame).encode("utf-8", "surrogatepass")
    behind = line[frame.end_column :].lstrip() if frame.end_column is not None else b""
    return bool(ASSIGNS.match(behind))


def _line(incident: Incident, frame: PythonFrame) -> str:
    line = incident.sources.get(frame.file, {}).get(frame.line or 0) or ""
    return line if len(line) <= LONGEST_LINE else ""


def _part(line: str, frame: PythonFrame) -> str:
    """What of the line is being run; columns count bytes."""
    if frame.column is None or frame.end_column is None:
        return ""
    encoded = line.encode("utf-8", "surrogatepass")
    return encoded[frame.column : frame.end_column].decode("utf-8", "replace")


def _name(expression: str) -> str | None:
    """What an expression calls, or the attribute, item or operation that it asks for."""
    tree = _parsed(expression)
    match tree:
        case ast.Expression(body=ast.Call(func=called)):
            return _short(called)
        case ast.Expression(body=ast.Attribute() as asked):
            return _short(asked)
        case ast.Expression(body=ast.Subscript(value=of)):
            return f"{_short(of) or '…'}[…]"
        case ast.Expression(body=ast.BinOp(left=of, op=how)):
            sign = SIGNS.get(type(how).__name__, "?")
            return f"{_short(of) or '…'} {sign} …"
        case _:
            return None


def _last_call(line: str) -> str | None:
    """Of a whole line: the outermost call that is more than a wrapper of another one."""
    text = line.strip()
    ways = (text, text.rstrip(":") + ": pass", text + _closing(text))
    tree = next((found for way in ways if (found := _parsed(way, mode="exec"))), None)
    if tree is None:
        return None
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [name for node in calls if (name := _short(node.func)) and name not in WRAPPERS]
    return names[0] if names else None


def _closing(text: str) -> str:
    """The brackets that a call over several lines closes further down."""
    missing: list[str] = []
    for sign in text:
        if sign in CLOSING:
            missing.append(CLOSING[sign])
        elif missing and sign == missing[-1]:
            missing.pop()
    return "".join(reversed(missing))


def _parsed(text: str, mode: str = "eval") -> ast.AST | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the line is not asked
            return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _short(node: ast.expr) -> str | None:
    """A name with its dots; what was computed on the way is an ellipsis."""
    try:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=of, attr=name):
                return f"{_short(of) or '…'}.{name}"[:LONGEST]
            case ast.Call(func=called):
                return f"{_short(called) or '…'}()"
            case ast.Subscript(value=of):
                return f"{_short(of) or '…'}[]"
            case _:
                return None
    except RecursionError:
        return None
