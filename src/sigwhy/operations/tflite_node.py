"""Which node of a subgraph a thread was in: two signs that know nothing of each other must agree.

One is a pointer to the node, on the stack or in a register: it gives the index. The other is a code
address in the node's own prepare or invoke function, or in the namespace of it. Pointers and code of
nodes that are done lie on the stack as well, even inside of frames that live, so the place decides:
the loop over the nodes calls the function, and what that saves first are the registers of the loop.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.operations.classes import is_pointer
from sigwhy.operations.functions import SYSTEM, namespace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.operations.functions import Functions
    from sigwhy.operations.tflite_interpreter import Interpreters, Node, Registration, Subgraph
    from sigwhy.operations.tflite_phase import Call

# The loops over the nodes, and what they call a node by.
LOOPS = re.compile(
    r"^tflite::Subgraph::(?:Invoke(?:Impl)?|PrepareOpsStartingAt|OpPrepare|OpInvoke)$"
)
ADDING = "tflite::Subgraph::AddNodeWithParameters"
TAKES_OVER = re.compile(
    r"^tflite::Subgraph::(?:AddNodeWithParameters|ReplaceNodeSubsetsWithDelegateKernels)$"
)
VISIT = re.compile(r"::Visit(?P<op>\w*)Node$")
LOOKED_AT = 1024  # bytes of the stack in which the node is that a delegate looks at
SAVED, OWN = 64, 200  # bytes below and above the address that the loop is returned to
PLACES = (
    "",
    "deeper on the stack",
    "in the frame of the loop over the nodes",
    "saved by its function",
)
MOST_LOOPS = 8
CLOSE = 2  # functions between which and their caller nobody of the runtime stands
LEAST_NAMES = 3  # of a namespace that is an operator's own


@dataclass(frozen=True, slots=True)
class Pointer:
    """A word that means a node; ``where`` is negative in a register."""

    where: int
    subgraph: Subgraph
    index: int


@dataclass(frozen=True, slots=True)
class Found:
    """The node, and how it was found; a hint where only one sign spoke."""

    subgraph: Subgraph
    node: Node
    how: str
    is_hint: bool = False
    op: str = ""  # where the node itself does not say it yet


class Search:
    """The search of one thread."""

    def __init__(
        self,
        interpreters: Interpreters,
        functions: Functions,
        stack: Sequence[Call],
        pointers: Sequence[Pointer],
    ) -> None:
        self.interpreters = interpreters
        self.functions = functions
        self.stack = stack
        self.pointers = pointers
        self._spaces: dict[int, str] = {}

    def found(self) -> Found | None:
        """The node that the thread is in."""
        loops = [
            n for n, call in enumerate(self.stack) if call.where >= 0 and LOOPS.match(call.name)
        ]
        for n in loops[:MOST_LOOPS]:
            if found := self._called_by(n):
                return found
        return self._without_loop(has_loop=bool(loops))

    def being_made(self, words: Sequence[tuple[int, int]]) -> Registration | None:
        """An operator in its init(): its node has no functions yet.

        What is there is the registration that was handed over, and its own function on the stack.
        """
        adding = next((n for n, call in enumerate(self.stack) if call.name == ADDING), 0)
        below = [call for call in self.stack[:adding] if not SYSTEM.search(call.function.library)]
        running = {call.function.start for call in below[-CLOSE:]}
        graphs = {pointer.subgraph.address: pointer.subgraph for pointer in self.pointers}
        for where, value in words if running else ():
            for place in (where, value):
                if not is_pointer(place) or any(g.holds(place) for g in graphs.values()):
                    continue
                found = self.interpreters.registration(place)
                if found and found.init in running:
                    return found
        return None

    def _called_by(self, n: int) -> Found | None:
        """The node whose function stands between this loop and what was running."""
        anchor = self.stack[n].where
        below = list(reversed(self.stack[:n]))
        best: tuple[int, ...] | None = None
        chosen: tuple[Pointer, Node] | None = None
        for pointer in self.pointers:
            place = _place(pointer.where, anchor)
            node = self.interpreters.node(pointer.subgraph, pointer.index) if place else None
            code = self._its_code(node, below) if node else None
            if node is None or code is None:
                continue
            rank = (*code, place, -abs(pointer.where - anchor))
            if best is None or rank > best:
                best, chosen = rank, (pointer, node)
        if best is None or chosen is None:
            return None
        how = f"its node lies {PLACES[best[2]]}, and its own code is on the stack"
        return Found(chosen[0].subgraph, chosen[1], how)

    def _its_code(self, node: Node, below: Sequence[Call]) -> tuple[int, int] | None:
        """How near to the loop the code of a node stands, and whether it is its very function."""
        for n, call in enumerate(below):
            if call.function.start in node.registration.functions:
                return -n, 1
            if self.is_of(call, node):
                return -n, 0
        return None

    def is_of(self, call: Call, node: Node) -> bool:
        """Whether a function is a node's own, or in the namespace of its operator."""
        functions = node.registration.functions
        spaces = (space for f in functions if (space := self._space(f)))
        return call.function.start in functions or any(
            call.name.startswith(f"{space}::") for space in spaces
        )

    def _space(self, address: int) -> str:
        """The namespace of an operator's function, where it has one of its own."""
        if address not in self._spaces:
            function = self.functions.at(address)
            space = namespace(function.qualified) if function and function.name else ""
            self._spaces[address] = space if len(space.split("::")) > LEAST_NAMES else ""
        return self._spaces[address]

    def _without_loop(self, *, has_loop: bool) -> Found | None:
        """A delegate looks at the nodes, or the stack is smashed: the innermost pointer with code."""
        starts = {call.function.start for call in self.stack}
        # While a delegate takes over, the nodes that it has seen are done: their code is old.
        taken_over = any(TAKES_OVER.match(call.name) for call in self.stack)
        for pointer in self.pointers if not taken_over else ():
            node = self.interpreters.node(pointer.subgraph, pointer.index)
            if node and starts.intersection(node.registration.functions):
                how = "a pointer to its node, and its own code, are on the stack"
                return Found(pointer.subgraph, node, how, is_hint=has_loop)
        return self._visited()

    def _visited(self) -> Found | None:
        """XNNPACK looks at nodes one by one; its function may say which operator it looks at."""
        for call in self.stack:
            if not (visit := VISIT.search(call.name)):
                continue
            wanted = visit["op"].lower()
            near = [p for p in self.pointers if p.where < call.where + LOOKED_AT]
            for pointer in near:
                node = self.interpreters.node(pointer.subgraph, pointer.index)
                named = node and node.registration.op.replace("_", "").lower() == wanted
                if node and (named or not wanted):
                    alone = len({(p.subgraph.address, p.index) for p in near}) == 1
                    how = f"a delegate looked at it ({call.name.rpartition('::')[2]})"
                    return Found(pointer.subgraph, node, how, is_hint=not (named or alone))
        return None


def pointers(words: Sequence[tuple[int, int]], subgraphs: Sequence[Subgraph]) -> Iterator[Pointer]:
    """The words that mean a node, innermost first."""
    ranges = [(s.nodes, s.nodes + s.node_count * s.node_bytes, s) for s in subgraphs if s.nodes]
    if not ranges:
        return
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    for where, value in words:
        if not low <= value < high:
            continue
        for begin, end, subgraph in ranges:
            if begin <= value < end and (index := subgraph.node_at(value)) is not None:
                yield Pointer(where, subgraph, index)


def _place(where: int, anchor: int) -> int:
    """How much a place is worth: saved right below the loop, in its frame, deeper or in a register."""
    if anchor - SAVED <= where < anchor:
        return 3
    if anchor <= where < anchor + OWN:
        return 2
    return 1 if where < anchor else 0
