"""What an expression is, as far as constants tell: its type, its shape, its values.

The answer has the form in which operations out of dead memory are described, so that the same conditions
can be asked of both. What is not certain is None.
"""

from __future__ import annotations

import ast
import operator
from math import prod
from typing import TYPE_CHECKING, Any

from sigwhy.model.operation import Argument
from sigwhy.subjects.python_shapes import CHANGES, OF_NUMPY, counted, tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sigwhy.subjects.python_source import PythonSource

MOST_VALUES = 4096
DEEPEST = 20
TYPES = {
    "float16", "float32", "float64", "bfloat16", "half", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "string", "complex64", "complex128", "qint8", "quint8", "qint16", "quint16", "qint32", "resource", "variant",
}  # fmt: skip
SIZES = {"float16": 2, "half": 2, "bfloat16": 2, "int8": 1, "uint8": 1, "bool": 1, "int16": 2, "uint16": 2,
         "int32": 4, "uint32": 4, "float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16}  # fmt: skip
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
}  # fmt: skip
LARGEST_EXPONENT = 200
# Where the value stands, and where the type.
MAKES_OF_VALUE = {"constant": 1, "convert_to_tensor": 1, "array": 1, "asarray": 1, "Variable": 99}
# Where the shape stands, and where the type; what it is filled with.
MAKES_OF_SHAPE: dict[str, tuple[int, int | float | None]] = {
    "zeros": (1, 0), "ones": (1, 1), "empty": (1, None), "random.normal": (3, None), "random.uniform": (3, None),
    "random.truncated_normal": (3, None), "random_normal": (3, None), "random_uniform": (3, None),
    "random.stateless_normal": (4, None), "random.stateless_uniform": (4, None),
}  # fmt: skip
PACKAGES = ("tensorflow.", "numpy.")
SAME = {"identity", "stop_gradient", "ascontiguousarray"}
LIKE: dict[str, float] = {"zeros_like": 0, "ones_like": 1}
COUNTS = {"range", "arange"}
# Where the shape is the arguments.
SPREAD = {"random.rand", "random.randn"}
UNKNOWN = object()


class Values:
    """Answers for one source."""

    def __init__(self, source: PythonSource) -> None:
        self.source = source

    def constant(self, node: ast.expr | None, depth: int = 0) -> Any:
        """A number, word, or list of such, or ``UNKNOWN``."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        node = self.source.scopes.origin(node)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=parts) | ast.Tuple(elts=parts) if len(parts) <= MOST_VALUES:
                found = [self.constant(part, depth + 1) for part in parts]
                return UNKNOWN if UNKNOWN in found else found
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.constant(operand, depth + 1)
                return -value if _is_number(value) else UNKNOWN
            case ast.BinOp(left=left, op=op, right=right):
                pair = self.constant(left, depth + 1), self.constant(right, depth + 1)
                return _computed(type(op), *pair)
            case _:
                return UNKNOWN

    def argument(self, node: ast.expr, name: str = "", depth: int = 0) -> Argument | None:
        """A tensor, array or plain value as an operation would get it."""
        if depth > DEEPEST:
            return None
        node = self.source.scopes.origin(node)
        if isinstance(node, ast.Call):
            return self._made(node, name, depth + 1)
        if isinstance(node, ast.Attribute):
            if word := self.dtype(node):
                return Argument(name=name, kind="dtype", text=word)
            return None
        value = self.constant(node)
        return None if value is UNKNOWN else _told(name, value)

    def dtype(self, node: ast.expr | None) -> str:
        """The name of a type, such as ``tf.int32``; nothing where it is none."""
        if isinstance(node, ast.Constant) and node.value in TYPES:
            return str(node.value)
        word = self.source.name(node).rsplit(".", 1)[-1] if node is not None else ""
        return word if word in TYPES else ""

    def _made(self, call: ast.Call, name: str, depth: int) -> Argument | None:
        """What a call of TensorFlow or NumPy makes of constants."""
        full = self.source.name(call.func)
        package = next((p for p in PACKAGES if full.startswith(p)), "")
        what = full.removeprefix(package).removeprefix("compat.v1.").removeprefix("compat.v2.")
        if not package:
            return self._method(call, name, depth)
        if what in MAKES_OF_VALUE:
            return self._of_value(call, name, what, depth)
        if what in COUNTS:
            return self._counted(call, name, package)
        found = self._of_sizes(call, name, what, package)
        return self._changed(call, name, what, depth) if found is None and call.args else found

    def _of_sizes(self, call: ast.Call, name: str, what: str, package: str) -> Argument | None:
        """What is made of a shape."""
        if what in MAKES_OF_SHAPE:
            return self._of_shape(call, name, what)
        if what in SPREAD and package == "numpy." and not call.keywords:
            return _filled(name, [self.constant(one) for one in call.args], "float64", None)
        if (what, package) in (("fill", "tensorflow."), ("full", "numpy.")):
            return self._full(call, name, package)
        return None

    def _full(self, call: ast.Call, name: str, package: str) -> Argument | None:
        numpy = package == "numpy."
        value = self.constant(given(call, 1, "fill_value" if numpy else "value"))
        shape = self.constant(given(call, 0, "shape" if numpy else "dims"))
        dtype = self.dtype(given(call, 2, "dtype")) if numpy else ""
        return _filled(name, shape, dtype, value if _is_number(value) else None)

    def _counted(self, call: ast.Call, name: str, package: str) -> Argument | None:
        """What ``tf.range`` and ``np.arange`` count."""
        dtype = given(call, 3, "dtype")
        numbers = [self.constant(one) for one in call.args[:3]]
        whole = all(keyword.arg == "dtype" for keyword in call.keywords)
        found = counted(name, numbers) if whole else None
        if not found:
            return None
        if dtype is not None:
            return _typed(found, self.dtype(dtype))
        return _typed(found, OF_NUMPY[found.dtype]) if package == "numpy." else found

    def _changed(self, call: ast.Call, name: str, what: str, depth: int) -> Argument | None:
        """What is made of another tensor."""
        word, change = CHANGES.get(what, ("", None))
        if not (what in SAME or what in LIKE or what == "cast" or change):
            return None
        found = self.argument(call.args[0], name, depth)
        if found is None or what in SAME:
            return found
        if change:
            return change(found, self.constant(given(call, 1, word)))
        dtype = given(call, 1, "dtype")
        if what == "cast":
            return _typed(found, self.dtype(dtype)) if self.dtype(dtype) else None
        kind = self.dtype(dtype) if dtype is not None else found.dtype
        return _filled(name, found.shape, kind, LIKE[what])

    def _method(self, call: ast.Call, name: str, depth: int) -> Argument | None:
        """``x.astype(t)`` and ``x.reshape(s)`` of what is known itself."""
        match call:
            case ast.Call(func=ast.Attribute(value=of, attr="astype"), args=[kind]):
                found, dtype = self.argument(of, name, depth), self.dtype(kind)
                return _typed(found, dtype) if found and dtype else None
            case ast.Call(func=ast.Attribute(value=of, attr="reshape"), args=[*sizes], keywords=[]):
                found = self.argument(of, name, depth)
                shape = [self.constant(size) for size in sizes]
                whole = shape[0] if len(shape) == 1 and isinstance(shape[0], list) else shape
                return CHANGES["reshape"][1](found, whole) if found else None
            case ast.Call(func=ast.Attribute(value=of, attr="numpy"), args=[], keywords=[]):
                found = self.argument(of, name, depth)
                return tensor(found, found.shape) if found and found.shape is not None else None
            case _:
                return None

    def _of_value(self, call: ast.Call, name: str, what: str, depth: int) -> Argument | None:
        keyword = "initial_value" if what == "Variable" else "value"
        value = given(call, 0, keyword)
        found = self.argument(value, name, depth) if value is not None else None
        dtype = self.dtype(given(call, MAKES_OF_VALUE[what], "dtype"))
        shape = given(call, 2, "shape") if what == "constant" else None
        if found and shape is not None:
            first: Any = next(iter(found.values), None)
            return _filled(name, self.constant(shape), dtype or found.dtype, first)
        numbers = found is not None and found.kind != "tensor"  # NumPy keeps the type of an array
        if found and numbers and not dtype and self.source.name(call.func).startswith("numpy."):
            dtype = OF_NUMPY.get(found.dtype, "") if given(call, 1, "dtype") is None else ""
        return _typed(found, dtype) if found and dtype else found

    def _of_shape(self, call: ast.Call, name: str, what: str) -> Argument | None:
        at, value = MAKES_OF_SHAPE[what]
        tensor = self.source.name(call.func).startswith("tensorflow.")
        dtype = self.dtype(given(call, at, "dtype")) or ("float32" if tensor else "float64")
        return _filled(name, self.constant(given(call, 0, "shape")), dtype, value)


def given(call: ast.Call, at: int, name: str) -> ast.expr | None:
    """An argument of a call, by its place or its name."""
    if at < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
        return call.args[at]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _computed(op: type, left: Any, right: Any) -> Any:
    if op not in ARITHMETIC or left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, list) or isinstance(right, list):
        return _listed(op, left, right)
    big = op in (ast.Pow, ast.LShift) and not (_is_number(right) and 0 <= right <= LARGEST_EXPONENT)
    if big or not _is_number(left) or not _is_number(right):
        return UNKNOWN
    try:
        return ARITHMETIC[op](left, right)
    except (ArithmeticError, TypeError):
        return UNKNOWN


def _listed(op: type, left: Any, right: Any) -> Any:
    """A list that is repeated, or two that are joined."""
    if op is ast.Add and isinstance(left, list) and isinstance(right, list):
        return left + right
    held, many = (right, left) if isinstance(right, list) else (left, right)
    fits = op is ast.Mult and type(many) is int and 0 <= len(held) * many <= MOST_VALUES
    return held * many if fits else UNKNOWN


def _told(name: str, value: Any) -> Argument | None:
    """A Python value as an operation gets it."""
    if value is None:
        return Argument(name=name, kind="none", standing="none")
    if isinstance(value, (bytes, complex)) or value is Ellipsis:
        return None
    shape = _shape(value)
    flat = _flat(value)
    if (
        shape is None
        or len(flat) != prod(shape)
        or any(not isinstance(v, (int, float, str)) for v in flat)
    ):
        return None
    first = next(iter(flat), 0.0)
    dtype = {bool: "bool", int: "int32", float: "float32", str: "string"}[type(first)]
    kind = "list" if isinstance(value, list) else type(value).__name__.replace("str", "string")
    return Argument(name=name, kind=kind, dtype=dtype, shape=shape, values=flat, elements=len(flat))


def _shape(value: Any) -> list[int] | None:
    if not isinstance(value, list):
        return []
    inner = _shape(value[0]) if value else []
    return None if inner is None else [len(value), *inner]


def _flat(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [one for part in value for one in _flat(part)]


def _filled(name: str, shape: Any, dtype: str, value: float | None) -> Argument | None:
    """A tensor of one value."""
    sizes: Sequence[int] = [shape] if isinstance(shape, int) else shape
    if not isinstance(sizes, list) or any(type(n) is not int or n < 0 for n in sizes):
        return None
    count = prod(sizes)
    values: list[Any] = [] if value is None or count > MOST_VALUES else [value] * count
    return Argument(name=name, dtype=dtype, shape=list(sizes), values=values, elements=count)


def _typed(found: Argument, dtype: str) -> Argument:
    import msgspec

    return msgspec.structs.replace(found, dtype=dtype, kind="tensor")
