"""A PyTorch that was never there: its objects laid out by hand, as releases old and new do."""

import struct
from dataclasses import dataclass, field

from sigwhy.machine.memory import PAGE
from sigwhy.model.incident import Signal, Thread
from sigwhy.operations.scene import Scene
from tests.operations.made_tensorflow import STACK, Made

FLOAT32, INT64 = 6, 4
NEW, OLD = "new", "old"  # strings as of C++11 and before; where the sizes of a tensor stand
TENSOR, WHOLE, TEXT = 0, 2, 16  # kinds of parameters


class MadeTorch(Made):
    """Lays out the objects of PyTorch and the Python objects around them."""

    def __init__(self, form):
        super().__init__()
        self.form = form
        self.types = {}

    def says(self, at, said):
        """A string at a place, in its form; how many bytes it takes."""
        data = said.encode()
        if self.form == NEW:
            self.string_at(at, data)
            return 32
        held = self.room(24 + len(data) + 1)
        self.put(held, len(data), len(data), 0)
        self.put(at, self.write(held + 24, data + b"\0") and held + 24)
        return 8

    def python_type(self, name):
        if name not in self.types:
            at = self.types[name] = self.room(48)
            above = at if name == "type" else self.python_type("type")
            self.put(at, 1, above, 0, self.data(name.encode() + b"\0"))
        return self.types[name]

    def python(self, kind, *words):
        return self.put(self.room(16 + 8 * len(words)), 1, self.python_type(kind), *words)

    def whole(self, value):
        return self.python("int", 1, value)

    def storage(self, data, size):
        at = self.room(96)
        self.put(at, self.table("N3c1011StorageImplE"), 1, data)
        self.put(at + 48, size)
        return at

    def tensor(self, sizes, strides, data, size, *, kind=FLOAT32, offset=0, elements=None):  # noqa: PLR0913 -- each names one field of the object
        """A ``TensorImpl``; ``elements`` where it is to lie about them."""
        at = self.room(208)
        place = at + (56 if self.form == NEW else 64)
        count = 1
        for length in sizes:
            count *= length
        own = self.table("N3c1010TensorImplE")
        self.put(at, own, 1, self.storage(data, size))
        self.put(place, len(sizes), *sizes, *[0] * (5 - len(sizes)), *strides)
        tail = struct.pack(
            "<qqHbbB", offset, count if elements is None else elements, kind, 0, -1, 1
        )
        self.write(place + 88, tail)
        return at

    def held(self, tensor):
        """The Python object of a tensor."""
        return self.python("Tensor", *((tensor,) if self.form == NEW else (1, tensor)))

    def signature(self, name, parameters, least):
        at, step = self.room(112), 256
        begin = self.room(step * len(parameters)) if parameters else 0
        for n, (parameter, kind) in enumerate(parameters):
            self.put(begin + n * step, kind)
            self.says(begin + n * step + 16, parameter)
        size = self.says(at, name)
        end = begin + step * len(parameters)
        self.put(at + size, begin, end, end, least, len(parameters), len(parameters))
        return at

    def entry(self, name, overload, arguments):
        at, step = self.room(320), (112 if self.form == NEW else 88)
        size = self.says(at, name)
        for n, said in enumerate((overload, name, overload), 1):
            self.says(at + n * size, said)
        begin = self.room(step * len(arguments))
        for n, (argument, kind) in enumerate(arguments):
            self.says(begin + n * step, argument)
            of_kind = self.put(self.room(16), self.table(f"N3c10{len(kind)}{kind}E"))
            self.put(begin + n * step + size, of_kind)
        end = begin + step * len(arguments)
        self.put(at + 4 * size, begin, end, end)
        return at


@dataclass
class World:
    """A thread in ``torch.add(input, other, alpha=3)``; the storage of ``other`` was freed."""

    form: str = NEW
    name: str = "add"
    memory: MadeTorch = field(init=False)
    pointer: int = STACK + 256
    place: int = STACK + PAGE  # where the record lies

    def __post_init__(self):
        made = self.memory = MadeTorch(self.form)
        numbers = made.write(made.room(64), struct.pack("<6f", 1.5, 2, 3, 4, 5, 6))
        self.tensors = [
            made.tensor((2, 3), (3, 1), numbers, 24),
            made.tensor((2, 3), (3, 1), 0, 0),
        ]
        self.objects = [made.held(tensor) for tensor in self.tensors]
        parameters = [("input", TENSOR), ("other", TENSOR), ("alpha", WHOLE), ("out", TENSOR)]
        self.signature = made.signature(self.name, parameters, 2)
        kinds = [("self", "TensorType"), ("other", "TensorType"), ("alpha", "NumberType")]
        self.entry = made.entry("aten::add", "Tensor", kinds)
        self.given = [*self.objects, made.whole(3), 0]
        made.put(self.pointer + 64, self.entry)
        made.put(self.place, 0, self.signature, self.place + 64)
        made.put(self.place + 64, *self.given)

    def scene(self, **registers):
        thread = Thread(tid=71, crashed=True, registers={"rsp": self.pointer, **registers})
        signal = Signal(name="SIGSEGV", number=11, code="SEGV_MAPERR", code_number=1, address=8)
        return Scene(memory=self.memory, threads=[thread], pid=71, signal=signal)
