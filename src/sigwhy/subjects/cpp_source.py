"""One C++ file, parsed once for all checks: its tree, its functions and its calls.

The parser is tree-sitter, which needs no compiler and no headers, and reads on over what it does not know.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

from sigwhy.model.error import UsageError
from sigwhy.model.problem import Area

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Parser, Tree, TreeCursor

    from sigwhy.subjects.cpp_ops import Op

LONGEST = 2_000_000
MOST_NODES = 500_000
MOST_DEPTH = 2_000
LACKING = "C++ sources were not looked at: that needs tree-sitter; type: pip install 'sigwhy[cpp]'"
# Behind these it depends on something whether the code runs, how often, or when.
FORKS = {
    "if_statement", "else_clause", "for_statement", "for_range_loop", "while_statement", "do_statement",
    "switch_statement", "case_statement", "conditional_expression", "lambda_expression", "catch_clause",
    "try_statement", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif",
}  # fmt: skip
LOOPS = {"for_statement", "for_range_loop", "while_statement", "do_statement"}
CONTEXT, CONSTRUCTION = "OpKernelContext", "OpKernelConstruction"


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A piece of the text: bytes ``start`` to ``end``; ``at`` to ``last`` are the numbers of all that it holds."""

    kind: str
    role: str | None
    start: int
    end: int
    parent: Node | None
    at: int
    last: int = 0
    children: list[Node] = field(default_factory=list)

    def holds(self, other: Node) -> bool:
        """Whether the other is inside, or the same."""
        return self.at <= other.at <= self.last

    def part(self, role: str) -> Node | None:
        """The child that plays a role, such as ``body``."""
        return next((child for child in self.children if child.role == role), None)

    def around(self) -> Iterator[Node]:
        """What holds this, from the inside out."""
        node = self.parent
        while node:
            yield node
            node = node.parent


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call: ``receiver.name(args)``, or without a receiver."""

    node: Node
    name: str
    receiver: Node | None
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function with a body: ``parameters`` are names and types, ``owner`` the class."""

    node: Node
    body: Node
    name: str
    owner: str
    parameters: Mapping[str, str]
    calls: tuple[Call, ...]

    @property
    def head(self) -> Node:
        """What stands before the body: name and parameters."""
        return next((n for n in self.node.children if n.role == "declarator"), self.node)

    @property
    def context(self) -> str | None:
        """The name of the ``OpKernelContext*``, where there is one."""
        found = (name for name, kind in self.parameters.items() if CONTEXT in kind)
        return next(found, None)


@dataclass(frozen=True)
class CppSource:
    """The text and all that stands in it, in its order."""

    path: str
    data: bytes = field(repr=False)
    nodes: Sequence[Node] = field(repr=False)

    @classmethod
    def of(cls, data: bytes, path: str = "<text>") -> CppSource:
        """Parse a file. Raises ``UsageError`` where it is too long or the parser is not installed."""
        if len(data) > LONGEST:
            raise UsageError(f"{path} has {len(data):,} bytes; no source is so long")
        tree = _parser().parse(data)
        return cls(path, data, _nodes(tree, path))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return self.data.decode("utf-8", "replace")

    def said(self, node: Node) -> str:
        """The text of a piece."""
        return self.data[node.start : node.end].decode("utf-8", "replace")

    def inside(self, node: Node, *kinds: str) -> Iterator[Node]:
        """All that a piece holds, of some kinds."""
        numbers = range(node.at + 1, node.last + 1)
        return (self.nodes[n] for n in numbers if self.nodes[n].kind in kinds)

    @cached_property
    def calls(self) -> Sequence[Call]:
        """Every call, the outer before the inner."""
        return [self._call(node) for node in self.nodes if node.kind == "call_expression"]

    def _before(self, at: int) -> int:
        """How many calls stand before a node."""
        return bisect_left(self.calls, at, key=lambda call: call.node.at)

    @cached_property
    def functions(self) -> Sequence[Function]:
        """Every function that has a body; what stands in a lambda belongs to its function."""
        return [
            self._function(node, body)
            for node in self.nodes
            if node.kind == "function_definition" and (body := node.part("body"))
        ]

    def values(self, function: Function) -> dict[str, list[Node]]:
        """What each variable of a function is made of, where it is declared and where it is assigned."""
        found: dict[str, list[Node]] = {}
        for node in self.inside(function.body, "init_declarator", "assignment_expression"):
            value = node.part("value") or node.part("right")
            if value:
                left = node.part("left")
                name = self.said(left) if left else self.variable(node)
                found.setdefault(name, []).append(value)
        return found

    def names(self, function: Function, name: str) -> list[Node]:
        """Each place where a function names a variable."""
        word = name.encode()
        found = self.inside(function.body, "identifier")
        return [node for node in found if self.data[node.start : node.end] == word]

    @cached_property
    def ops(self) -> Mapping[str, Op]:
        """The operations that are registered here."""
        from sigwhy.subjects.cpp_ops import ops

        return ops(self)

    @cached_property
    def op_of_class(self) -> Mapping[str, Op]:
        """Which of them a class computes, where it is one."""
        from sigwhy.subjects.cpp_ops import op_of_class

        return op_of_class(self, self.ops)

    def area(self, node: Node) -> Area:
        """Where a piece stands, in characters."""
        line, column = self._place(node.start)
        end_line, end_column = self._place(node.end)
        return Area(line=line, column=column, end_line=end_line, end_column=end_column)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return line, len(self.data[start:offset].decode("utf-8", "replace")) + 1

    @cached_property
    def _starts(self) -> Sequence[int]:
        starts = [0]
        for line in self.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts[:-1]

    def _call(self, node: Node) -> Call:
        called, given = node.part("function"), node.part("arguments")
        args = given.children if given else ()
        receiver = None
        if called and called.kind == "field_expression":
            receiver, called = called.part("argument"), called.part("field")
        name = self._bare(called) if called else ""
        return Call(node, name, receiver, tuple(one for one in args if one.kind != "comment"))

    def _bare(self, node: Node) -> str:
        """``FromBuffer`` of ``tflite::Model::FromBuffer<float>``."""
        words = self.said(node).removeprefix("template ").split("<")[0]
        return words.split("::")[-1].strip() if len(words) < 400 else ""

    def _function(self, node: Node, body: Node) -> Function:
        head = next((n for n in self.inside(node, "function_declarator") if n.at < body.at), None)
        name = head.part("declarator") if head else None
        words = self.said(name) if name else ""
        owner, _, last = words.rpartition("::")
        return Function(
            node=node,
            body=body,
            name=last.strip(),
            owner=owner.split("<")[0].split("::")[-1].strip() or self._class(node),
            parameters=self._parameters(head) if head else {},
            calls=tuple(self.calls[self._before(body.at) : self._before(body.last + 1)]),
        )

    def _class(self, node: Node) -> str:
        for outer in node.around():
            if outer.kind in {"class_specifier", "struct_specifier"}:
                name = outer.part("name")
                return self._bare(name) if name else ""
        return ""

    def _parameters(self, head: Node) -> dict[str, str]:
        listed = head.part("parameters")
        found: dict[str, str] = {}
        for one in listed.children if listed else ():
            name = self.variable(one)
            found[name or f"({len(found)})"] = self.said(one)[:400]
        return found

    def variable(self, declared: Node) -> str:
        """The name that a declaration or a parameter brings."""
        node: Node | None = declared
        while node and node.kind not in {"identifier", "field_identifier"}:
            inner = node.part("declarator")
            if not inner and node.kind.endswith("_declarator") and node.children:
                inner = node.children[-1]
            node = inner
        return self.said(node) if node else ""


def branch(node: Node) -> Node:
    """The largest piece around a node that runs as a whole, or not at all."""
    inner = node
    for outer in node.around():
        if outer.kind in FORKS or outer.kind == "function_definition":
            break
        inner = outer
    return inner


def always_before(first: Node, second: Node) -> bool:
    """Whether the first has run wherever the second runs."""
    return first.last < second.at and branch(first).holds(second)


def in_loop(node: Node) -> bool:
    """Whether it may run several times in one call of its function."""
    return _within(node, LOOPS)


def in_lambda(node: Node) -> bool:
    """Whether it runs at another time than what stands around it."""
    return _within(node, {"lambda_expression"})


def _within(node: Node, kinds: set[str]) -> bool:
    for outer in node.around():
        if outer.kind in kinds:
            return True
        if outer.kind == "function_definition":
            return False
    return False


@cache
def _parser() -> Parser:
    try:
        import tree_sitter
        import tree_sitter_cpp
    except ImportError:
        raise UsageError(LACKING) from None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))


def _nodes(tree: Tree, path: str) -> list[Node]:
    """The named nodes, in the order of the text; without recursion, since sources may nest deeply."""
    cursor = tree.walk()
    nodes: list[Node] = []
    around: list[Node | None] = [None]
    while True:
        node = _node(cursor, around[-1], len(nodes))
        if node:
            nodes.append(node)
        if len(nodes) > MOST_NODES or len(around) > MOST_DEPTH:
            raise UsageError(f"{path} cannot be parsed: it is nested too deeply, or has no end")
        if cursor.goto_first_child():
            around.append(node or around[-1])
            continue
        while not cursor.goto_next_sibling():
            left = around.pop()
            if not cursor.goto_parent():
                return nodes
            if left and left is not around[-1]:
                left.last = len(nodes) - 1


def _node(cursor: TreeCursor, parent: Node | None, at: int) -> Node | None:
    found = cursor.node
    if not found or not found.is_named:
        return None
    node = Node(found.type, cursor.field_name, found.start_byte, found.end_byte, parent, at, at)
    if parent:
        parent.children.append(node)
    return node
