"""One Python file, parsed once for all checks."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.model.problem import Area

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sigwhy.model.target import Target
    from sigwhy.subjects.python_scopes import Scopes
    from sigwhy.subjects.python_values import Values

LONGEST = 20_000_000


@dataclass(frozen=True)
class PythonSource:
    """The text, its tree, and what the names that it imports stand for."""

    path: str
    text: str
    tree: ast.Module = field(repr=False)
    targets: tuple[Target, ...] = ()

    @classmethod
    def of(
        cls, data: bytes, path: str = "<text>", *, targets: tuple[Target, ...] = ()
    ) -> PythonSource:
        """Parse a file. Raises ``UsageError`` where it is no Python of this version."""
        if len(data) > LONGEST:
            raise UsageError(f"{path} has {len(data):,} bytes; no source is so long")
        try:
            text = decoded(data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in the file; they are not ours
                tree = ast.parse(text, filename=path)
        except SyntaxError as error:
            line = f" in line {error.lineno}" if error.lineno else ""
            raise UsageError(f"{path} cannot be parsed: {error.msg}{line}") from None
        except (ValueError, LookupError) as error:
            raise UsageError(f"{path} cannot be parsed: {error}") from None
        except (RecursionError, MemoryError):
            raise UsageError(f"{path} cannot be parsed: it is nested too deeply") from None
        return cls(path, text, tree, targets)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines as Python counts them."""
        return self.text.split("\n")

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """Every node, in no order that matters."""
        return list(ast.walk(self.tree))

    @cached_property
    def calls(self) -> Sequence[ast.Call]:
        """Every call, in the order of the lines."""
        found = [node for node in self.nodes if isinstance(node, ast.Call)]
        return sorted(found, key=lambda call: (call.lineno, call.col_offset))

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """Of each node the one that holds it."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def scopes(self) -> Scopes:
        """Which expression each name stands for."""
        from sigwhy.subjects.python_scopes import Scopes

        return Scopes(self.tree)

    @cached_property
    def values(self) -> Values:
        """What expressions are, as far as constants tell."""
        from sigwhy.subjects.python_values import Values

        return Values(self)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """What the imports bind: ``tf`` to ``tensorflow``."""
        bound: dict[str, str] = {}
        for node in self.nodes:
            match node:
                case ast.Import(names=names):
                    for name in names:
                        first = name.name.split(".")[0]
                        bound[name.asname or first] = name.name if name.asname else first
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    bound.update({n.asname or n.name: f"{module}.{n.name}" for n in names})
                case _:
                    pass
        return bound

    def imports(self, *packages: str) -> bool:
        """Whether one of the packages is imported anywhere in the file."""
        return any(name.split(".")[0] in packages for name in self.names.values())

    def name(self, node: ast.AST) -> str:
        """The full dotted name that an expression stands for; empty where nobody can know it."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.names:
            return ""
        return ".".join([self.names[node.id], *reversed(parts)])

    def area(self, node: ast.expr | ast.stmt) -> Area:
        """Where a node stands, in characters."""
        end_line = node.end_lineno or node.lineno
        return Area(
            line=node.lineno,
            column=self._column(node.lineno, node.col_offset),
            end_line=end_line,
            end_column=self._column(end_line, node.end_col_offset or 0),
        )

    def _column(self, line: int, offset: int) -> int:
        """The column of an offset in bytes, which is how the tree counts."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1


def decoded(data: bytes) -> str:
    """The text, by the coding that the file names itself. Raises ``SyntaxError`` and ``ValueError``."""
    coding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(coding)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
