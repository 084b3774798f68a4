"""A TensorFlow Lite interpreter made by hand, in memory as the runtime lays it out."""

import struct

from sigwhy.machine.memory import PAGE, Memory
from sigwhy.model.incident import Mapping, PythonFrame, Thread

CODE, TYPES, HEAP, STACK = 0x7F00_0000_0000, 0x7F00_0010_0000, 0x5555_0000_0000, 0x7FFF_0000_0000
LIBRARY = "/env/site-packages/ai_edge_litert/libpywrap_litert_common.so"
SUBGRAPH, OTHERS, CONTEXT = HEAP, HEAP + 0x600, 0x40
TENSORS, NODES, LISTS, NAMES, DATA = (HEAP + n * PAGE for n in range(1, 6))
TENSOR, NODE = 112, 168
PAGES = 8


class Made(Memory):
    """Four pieces of memory; what is written lands where it belongs."""

    def __init__(self):
        super().__init__(
            [
                Mapping(CODE, CODE + PAGE, "r-xp", 0x1000, LIBRARY),
                Mapping(TYPES, TYPES + PAGE, "r--p", 0x2000, LIBRARY),
                Mapping(HEAP, HEAP + PAGES * PAGE, "rw-p", 0, "[heap]"),
                Mapping(STACK, STACK + 2 * PAGE, "rw-p", 0, "[stack]"),
            ]
        )
        self.pieces = {m.start: bytearray(m.end - m.start) for m in self.mappings}

    def fetch(self, address):
        for start, piece in self.pieces.items():
            if start <= address < start + len(piece):
                return bytes(piece[address - start : address - start + PAGE])
        return b""

    def put(self, address, form, *values):
        start = next(s for s, p in self.pieces.items() if s <= address < s + len(p))
        struct.pack_into(form, self.pieces[start], address - start, *values)


def interpreter(*, nodes=3, tensors=4, registration=88):
    """An interpreter with one subgraph: node n is operator 101 (ABS), from tensor n to n + 1."""
    made = Made()
    _type(made)
    made.put(SUBGRAPH, "<Q", TYPES + 0x110)
    # tensors_, then the context, then the nodes; the runtime has other members between them.
    made.put(SUBGRAPH + 8, "<QQQ", TENSORS, TENSORS + tensors * TENSOR, TENSORS + tensors * TENSOR)
    made.put(SUBGRAPH + CONTEXT, "<QQQQQ", tensors, CODE, TENSORS, SUBGRAPH, CODE + 64)
    size = 80 + registration
    made.put(SUBGRAPH + 0x200, "<QQQ", NODES, NODES + nodes * size, NODES + nodes * size)
    made.put(SUBGRAPH + 0x300, "<Q", OTHERS)
    made.put(OTHERS, "<QQQ", OTHERS + 32, OTHERS + 40, OTHERS + 40)
    made.put(OTHERS + 32, "<Q", SUBGRAPH)
    for n in range(tensors):
        _tensor(made, n)
    for n in range(nodes):
        at = NODES + n * size
        made.put(LISTS + 32 * n, "<ii", 1, n)
        made.put(LISTS + 32 * n + 16, "<ii", 1, n + 1)
        made.put(at, "<QQ", LISTS + 32 * n, LISTS + 32 * n + 16)
        made.put(at + 80, "<QQQQQi", 0, 0, CODE + 128, CODE + 256, 0, 101)
        made.put(at + 80 + 56, "<i", 1)
    return made


def _type(made):
    made.put(TYPES, "24s", b"N6tflite8SubgraphE")
    made.put(TYPES + 0x80, "<QQ", TYPES + 0x10, TYPES)
    made.put(TYPES + 0x100, "<QQQ", 0, TYPES + 0x80, CODE)


def _tensor(made, n):
    at = TENSORS + n * TENSOR
    made.put(at, "<i4xQQ", 1, DATA + 64 * n, LISTS + 0x800 + 16 * n)
    made.put(LISTS + 0x800 + 16 * n, "<iii", 2, 1, 3)
    made.put(at + 24, "<fiiI", 0.5, 3, 2, 0)
    made.put(at + 40, "<QQQ", 12, 0, NAMES + 16 * n)
    made.put(NAMES + 16 * n, "8s", f"t{n}".encode())
    made.put(DATA + 64 * n, "<fff", n, n + 0.5, -n)


def thread(*, python=True):
    """A thread whose stack begins at STACK."""
    frames = [PythonFrame(function="invoke", file="/env/ai_edge_litert/interpreter.py")]
    return Thread(
        tid=7, crashed=True, registers={"rip": CODE, "rsp": STACK}, python=frames if python else []
    )
