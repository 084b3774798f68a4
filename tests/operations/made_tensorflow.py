"""A TensorFlow that was never there: its objects laid out by hand, as releases old and new do."""

import struct
from dataclasses import dataclass, field

from sigwhy.machine.memory import PAGE, Memory
from sigwhy.model.incident import Mapping, Signal, Thread
from sigwhy.operations.scene import Scene
from tests.autopsy import cores

LIBRARY = "/env/lib/python3.11/site-packages/tensorflow/libtensorflow_framework.so.2"
CODE, TYPES, HEAP, STACK = 0x7F0000000000, 0x7F0000100000, 0x550000000000, 0x7FFD00000000
PAGES = {CODE: 1, TYPES: 8, HEAP: 24, STACK: 4}
RIGHTS = {CODE: "r-xp", TYPES: "r--p", HEAP: "rw-p", STACK: "rw-p"}
TOP = STACK + 4 * PAGE
FLOAT, INT, STRING = 1, 3, 7
NEW, OLD = "new", "old"  # protobuf 31 and protobuf 25
DEVICE_NAME = "/job:localhost/replica:0/task:0/device:CPU:0"


class Made(Memory):
    """Memory that is filled from the bottom of each region on."""

    def __init__(self):
        super().__init__(
            Mapping(at, at + count * PAGE, RIGHTS[at], 0, LIBRARY if at in (CODE, TYPES) else "")
            for at, count in PAGES.items()
        )
        self.bytes = {at: bytearray(count * PAGE) for at, count in PAGES.items()}
        self.used = dict.fromkeys(PAGES, 64)
        self.tables = {}

    def fetch(self, address):
        for at, held in self.bytes.items():
            if at <= address < at + len(held):
                return bytes(held[address - at : address - at + PAGE])
        return b""

    def room(self, size, region=HEAP):
        at = region + self.used[region]
        self.used[region] += -(-size // 16) * 16
        assert self.used[region] <= len(self.bytes[region])
        return at

    def put(self, at, *words):
        self.write(at, struct.pack(f"<{len(words)}Q", *(word % (1 << 64) for word in words)))
        return at

    def write(self, at, data):
        region = max(start for start in self.bytes if start <= at)
        self.bytes[region][at - region : at - region + len(data)] = data
        return at

    def page(self, address):
        return self.fetch(address)  # never an old one

    def data(self, data, region=HEAP):
        return self.write(self.room(len(data) + 1, region), data)

    # ---- C++ --------------------------------------------------------------------------------

    def table(self, name, *bases):
        """The functions of a class with these bases, as its objects point to them."""
        if name not in self.tables:
            base = (
                self.put(self.room(24, TYPES), 0, self.data(bases[0].encode(), TYPES))
                if bases
                else 0
            )
            kind = self.put(self.room(32, TYPES), 0, self.data(name.encode(), TYPES), base, 0)
            self.tables[name] = self.put(self.room(32, TYPES), 0, kind, CODE + 64) + 16
        return self.tables[name]

    def string(self, text):
        """A ``std::string`` somewhere."""
        data = text if isinstance(text, bytes) else text.encode()
        at = self.room(32)
        return self.string_at(at, data)

    def string_at(self, at, data):
        if len(data) < 16:
            self.put(at, at + 16, len(data))
            self.write(at + 16, data)
        else:
            self.put(at, self.data(data), len(data), len(data))
        return at

    def several(self, form, elements):
        """A repeated field of messages: three words."""
        block = elements[0] if len(elements) == 1 else 0
        if len(elements) > 1:
            block = self.put(self.room(8 + 8 * len(elements)), len(elements), *elements) | 1
        sizes = len(elements) | max(4, len(elements)) << 32
        if not elements:
            return (0, 0, 0)
        return (block, sizes, 0) if form == NEW else (0, sizes, block)

    # ---- TensorFlow -------------------------------------------------------------------------

    def shape(self, form, sizes):
        kind = self.table("N10tensorflow20TensorShapeProto_DimE")
        head = (3,) if form == NEW else ()
        dims = [self.put(self.room(56), kind, 0, *head, self.string(""), size) for size in sizes]
        own = self.table("N10tensorflow16TensorShapeProtoE")
        return self.put(self.room(64), own, 0, *head, *self.several(form, dims), 0)

    def value(self, at, form, value):
        """An attribute: an int, a type as ("type", 1), text, or a list of ints."""
        case, word = {
            int: lambda: (3, value),
            str: lambda: (2, self.string(value)),
            bool: lambda: (5, int(value)),
            float: lambda: (4, struct.unpack("<I", struct.pack("<f", value))[0]),
            tuple: lambda: (6, value[1]) if value[0] == "type" else (7, self.shape(form, value[1])),
            list: lambda: (1, self.numbers(form, value)),
        }[type(value)]()
        self.put(at, self.table("N10tensorflow9AttrValueE"), 0, word, case << 32)

    def numbers(self, form, values):
        """A ListValue of whole numbers."""
        at = self.put(self.room(200), self.table("N10tensorflow19AttrValue_ListValueE"), 0)
        block = self.put(self.room(8 * len(values)), *values)
        if form == OLD:
            self.put(at + 40, len(values) | len(values) << 32, block)
        elif len(values) == 1:
            self.put(at + 40, 1, values[0])
        else:
            self.put(at + 40, block | 4, len(values))
        return at

    def attributes(self, form, values):
        """The words of a map: two counts, and behind them the buckets."""
        buckets = [0] * 4
        for n, (key, value) in enumerate(values.items()):
            link, at = self.room(88), n % len(buckets)
            if form == NEW:
                self.put(link, buckets[at])
                self.string_at(link + 8, key.encode())
                self.value(link + 40, form, value)
            else:
                self.string_at(link, key.encode())
                self.value(link + 32, form, value)
                self.put(link + 64, buckets[at])
            buckets[at] = link
        table = self.put(self.room(32), *buckets)
        if form == NEW:
            return (len(values) | len(buckets) << 32, 0, table)
        return (len(values), len(buckets), 0, 0, table)

    def definition(self, form, op, ins, outs):
        """An OpDef: its name, and arguments as (name, type, type_attr, number_attr)."""
        kind = self.table("N10tensorflow12OpDef_ArgDefE")
        head = (1,) if form == NEW else ()
        lists = []
        for arguments in (ins, outs):
            held = []
            for name, number, of_type, of_number in arguments:
                texts = [self.string(text) for text in (name, "", of_type, of_number, "")]
                held.append(self.put(self.room(120), kind, 0, *head, 0, 0, 0, *texts, 0, number))
            lists += self.several(form, held)
        kind = self.table("N10tensorflow13OpDef_AttrDefE")
        lists += self.several(form, [self.put(self.room(120), kind, 0)])
        own = self.table("N10tensorflow5OpDefE")
        return self.put(self.room(160), own, 0, *head, *lists, self.string(op), self.string(""))

    def properties(self, form, named, definition, attributes, types):
        """NodeProperties = {OpDef*, NodeDef, types of the inputs, types of the outputs}."""
        at = self.room(400)
        own = self.table("N10tensorflow7NodeDefE")
        head = (1, 0, 0, 0) if form == NEW else (0, 0, 0)
        texts = [self.string(text) for text in (*named, "/device:CPU:0")]
        node = (own, 0, *head, *self.attributes(form, attributes), 0, *texts, 0, 0)
        self.put(at, definition, *node)
        behind = at + 8 + 8 * len(node)
        for n, some in enumerate(types):
            self.put(behind + 40 * n, len(some) << 1)
            self.write(behind + 40 * n + 8, struct.pack(f"<{len(some)}i", *some))
        return at

    def kernel(self, properties, name, op, kind="N10tensorflow6AddOpsE"):
        at = self.put(self.room(240), self.table(kind, "N10tensorflow8OpKernelE"), properties)
        for n, text in enumerate((name, op)):
            self.put(at + 200 + 16 * n, len(text), self.data(text.encode()))
        return at

    def device(self):
        at = self.put(
            self.room(160), self.table("N10tensorflow10LikeDeviceE", "N10tensorflow10DeviceBaseE")
        )
        self.put(
            at + 64, self.table("N10tensorflow16DeviceAttributesE"), 0, self.string(DEVICE_NAME)
        )
        return at

    def tensor(self, number, shape, data, elements=None):
        """A tensor over data that lies somewhere; ``elements`` where it is to lie about them."""
        count = 1
        for size in shape:
            count *= size
        kind = self.table("N10tensorflow6BufferE", "N10tensorflow12TensorBufferE")
        buffer = self.put(self.room(32), kind, 1, data) if count else 0
        sizes = struct.pack("<6H", *shape, *([0] * (6 - len(shape))))
        head = (sizes + bytes([0, number, len(shape), 0])).ljust(16, b"\0")
        at = self.write(self.room(32), head)
        return self.put(at + 16, count if elements is None else elements, buffer) - 16

    def params(self, kernel, device, tensors, at):
        """Parameters at a place: on the stack, mostly."""
        pairs = self.room(16 * len(tensors) or 16)
        self.put(pairs, *(word for tensor in tensors for word in (0, tensor)))
        self.put(at, 7, 0, 0, 0, kernel, device)
        self.put(at + 176, pairs, len(tensors))
        return at


@dataclass
class World:
    """One operation with two inputs, of which the first is a list of tensors."""

    form: str = NEW
    op: str = "Concatenate"
    node: str = "outer/together"
    memory: Made = field(default_factory=Made)
    place: int = STACK + PAGE  # where its parameters lie
    pointer: int = STACK + 256

    def __post_init__(self):
        made = self.memory
        numbers = made.write(made.room(64), struct.pack("<6f", 1.5, 2, 3, 4, 5, 6))
        axis = made.write(made.room(16), struct.pack("<i", -1))
        ins = [("values", 0, "T", "N"), ("axis", INT, "", "")]
        definition = made.definition(self.form, self.op, ins, [("output", 0, "T", "")])
        types = ([FLOAT, FLOAT, INT], [FLOAT])
        attributes = {"T": ("type", FLOAT), "N": 2, "sizes": [4, 5, 6], "one": [9], "words": "VALID", "ratio": 0.5, "flag": True, "form": ("shape", (2, -1)), "_class": "loc"}  # fmt: skip
        self.properties = made.properties(
            self.form, (self.node, self.op), definition, attributes, types
        )
        self.kernel = made.kernel(self.properties, self.node, self.op)
        self.device = made.device()
        tensors = [
            made.tensor(FLOAT, (2, 3), numbers),
            made.tensor(FLOAT, (0, 3), 0),
            made.tensor(INT, (), axis),
        ]
        made.params(self.kernel, self.device, tensors, self.place)

    def scene(self, memory=None, **registers):
        thread = Thread(tid=71, crashed=True, registers={"rsp": self.pointer, **registers})
        signal = Signal(name="SIGSEGV", number=11, code="SEGV_MAPERR", code_number=1, address=8)
        return Scene(memory=memory or self.memory, threads=[thread], pid=71, signal=signal)

    def core(self):
        """The same as a core file."""
        made = self.memory
        rows = [(at, at + PAGES[at] * PAGE, 0, LIBRARY) for at in (CODE, TYPES)]
        pages = [
            (at + n * PAGE, {"r-xp": 5, "r--p": 4, "rw-p": 6}[RIGHTS[at]], bytes(made.bytes[at][n * PAGE : (n + 1) * PAGE]))
            for at in sorted(PAGES)
            for n in range(PAGES[at])
        ]  # fmt: skip
        registers = {"rip": CODE, "rsp": self.pointer}
        notes = cores.status("x86_64", 71, registers) + cores.program(71) + cores.siginfo()
        return cores.core(notes=notes + cores.files(rows), pages=pages)
