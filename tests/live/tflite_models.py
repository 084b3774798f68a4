"""Makes models of many operators of which one kills the interpreter, with the Python that has LiteRT.

    python tflite_models.py FOLDER

A model is a chain: some harmless operators, the guilty one, two more of its kind, some harmless ones.
Only those models are kept that kill this interpreter, as ``NAME.tflite``; ``models.json`` holds for
each the operator and its index, and what a program must do with it.
"""

import copy
import json
import os
import signal
import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter as runtime
from ai_edge_litert import schema_py_generated as schema

FLOAT, INT, INT8, LONG, BOOL = 0, 2, 9, 4, 6
TYPES = {FLOAT: np.float32, INT: np.int32, INT8: np.int8, LONG: np.int64, BOOL: np.bool_}
BEFORE, SAME, AFTER = 5, 2, 2
LEAST = -(2**31)
SECONDS = 10


class Writer:
    """A model with one subgraph, in the making."""

    def __init__(self):
        self.model = schema.ModelT()
        self.model.version, self.model.operatorCodes, self.model.buffers = 3, [], []
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators, self.graph.inputs, self.graph.outputs = (
            [],
            [],
            [],
            [],
        )
        self.graph.name = b"main"
        self.model.subgraphs, self.model.signatureDefs, self.model.metadata = [self.graph], [], []
        self.buffer()

    def buffer(self, values=None):
        made = schema.BufferT()
        made.data = None if values is None else np.frombuffer(values.tobytes(), np.uint8)
        self.model.buffers.append(made)
        return len(self.model.buffers) - 1

    def tensor(self, kind, shape, values=None, scale=None):
        made = schema.TensorT()
        made.type, made.shape = kind, list(shape)
        made.name = f"t{len(self.graph.tensors)}".encode()
        made.buffer = 0 if values is None else self.buffer(np.array(values, TYPES[kind]))
        if scale is not None:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale, made.quantization.zeroPoint = [scale], [0]
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def code(self, name):
        number = getattr(schema.BuiltinOperator, name)
        for n, known in enumerate(self.model.operatorCodes):
            if known.builtinCode == number:
                return n
        made = schema.OperatorCodeT()
        made.builtinCode, made.deprecatedBuiltinCode, made.version = number, min(number, 127), 1
        self.model.operatorCodes.append(made)
        return len(self.model.operatorCodes) - 1

    def operator(self, name, inputs, outputs, options=None, **fields):
        made = schema.OperatorT()
        made.opcodeIndex, made.inputs, made.outputs = self.code(name), list(inputs), list(outputs)
        if options:
            made.builtinOptions = getattr(schema, f"{options}T")()
            made.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            for field, value in fields.items():
                setattr(made.builtinOptions, field, value)
        self.graph.operators.append(made)

    def harmless(self, count):
        for _ in range(count):
            made = self.tensor(FLOAT, [4])
            self.operator("ABS", [self.last], [made])
            self.last = made

    def written(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def t(kind, *shape, values=None, scale=None):
    return kind, shape, values, scale


F4 = t(FLOAT, 4)
IMAGE = t(FLOAT, 1, 4, 4, 2)
# Operators as they work: inputs, outputs, options.
WORKING = {
    "TRANSPOSE": ([t(FLOAT, 2, 3), t(INT, 2, values=[1, 0])], [t(FLOAT, 3, 2)], "TransposeOptions"),
    "RESHAPE": ([F4, t(INT, 2, values=[2, 2])], [t(FLOAT, 2, 2)], None),
    "CUMSUM": ([F4, t(INT, values=0)], [F4], "CumsumOptions"),
    "SPLIT": ([t(INT, values=0), F4], [t(FLOAT, 2), t(FLOAT, 2)], "SplitOptions", {"numSplits": 2}),
    "SPLIT_V": ([F4, t(INT, 2, values=[1, 3]), t(INT, values=0)], [t(FLOAT, 1), t(FLOAT, 3)], "SplitVOptions", {"numSplits": 2}),
    "SPACE_TO_BATCH_ND": ([IMAGE, t(INT, 2, values=[2, 2]), t(INT, 2, 2, values=[[0, 0], [0, 0]])], [t(FLOAT, 4, 2, 2, 2)], None),
    "BATCH_TO_SPACE_ND": ([t(FLOAT, 4, 2, 2, 2), t(INT, 2, values=[2, 2]), t(INT, 2, 2, values=[[0, 0], [0, 0]])], [IMAGE], None),
    "GATHER": ([F4, t(INT, 2, values=[0, 1])], [t(FLOAT, 2)], "GatherOptions"),
    "GATHER_ND": ([F4, t(INT, 1, 1, values=[[0]])], [t(FLOAT, 1)], "GatherNdOptions"),
    "PAD": ([F4, t(INT, 1, 2, values=[[1, 1]])], [t(FLOAT, 6)], "PadOptions"),
    "PADV2": ([F4, t(INT, 1, 2, values=[[1, 1]]), t(FLOAT, values=0)], [t(FLOAT, 6)], "PadV2Options"),
    "MIRROR_PAD": ([F4, t(INT, 1, 2, values=[[1, 1]])], [t(FLOAT, 6)], "MirrorPadOptions"),
    "MEAN": ([t(FLOAT, 2, 3), t(INT, 1, values=[0])], [t(FLOAT, 3)], "ReducerOptions"),
    "SUM": ([t(FLOAT, 2, 3), t(INT, 1, values=[0])], [t(FLOAT, 3)], "ReducerOptions"),
    "REDUCE_MAX": ([t(FLOAT, 2, 3), t(INT, 1, values=[0])], [t(FLOAT, 3)], "ReducerOptions"),
    "TILE": ([F4, t(INT, 1, values=[2])], [t(FLOAT, 8)], "TileOptions"),
    "EXPAND_DIMS": ([F4, t(INT, values=0)], [t(FLOAT, 1, 4)], "ExpandDimsOptions"),
    "SLICE": ([F4, t(INT, 1, values=[0]), t(INT, 1, values=[2])], [t(FLOAT, 2)], "SliceOptions"),
    "STRIDED_SLICE": ([F4, t(INT, 1, values=[0]), t(INT, 1, values=[4]), t(INT, 1, values=[1])], [F4], "StridedSliceOptions"),
    "TOPK_V2": ([F4, t(INT, values=2)], [t(FLOAT, 2), t(INT, 2)], "TopKV2Options"),
    "ONE_HOT": ([t(INT, 2, values=[0, 1]), t(INT, values=3), t(FLOAT, values=1), t(FLOAT, values=0)], [t(FLOAT, 2, 3)], "OneHotOptions"),
    "FILL": ([t(INT, 1, values=[4]), t(FLOAT, values=1)], [F4], "FillOptions"),
    "RANGE": ([t(INT, values=0), t(INT, values=4), t(INT, values=1)], [t(INT, 4)], "RangeOptions"),
    "SELECT_V2": ([t(BOOL, 4), F4, F4], [F4], "SelectV2Options"),
    "SELECT": ([t(BOOL, 4), F4, F4], [F4], "SelectOptions"),
    "ADD": ([F4, F4], [F4], "AddOptions"),
    "SUB": ([F4, F4], [F4], "SubOptions"),
    "MUL": ([F4, F4], [F4], "MulOptions"),
    "DIV": ([F4, F4], [F4], "DivOptions"),
    "MAXIMUM": ([F4, F4], [F4], "MaximumMinimumOptions"),
    "LESS": ([F4, F4], [t(BOOL, 4)], "LessOptions"),
    "SQUARED_DIFFERENCE": ([F4, F4], [F4], "SquaredDifferenceOptions"),
    "FLOOR_DIV": ([F4, F4], [F4], "FloorDivOptions"),
    "POW": ([F4, F4], [F4], "PowOptions"),
    "PRELU": ([t(FLOAT, 1, 2, 2, 1), t(FLOAT, 1, 1, 1, values=[[[0.5]]])], [t(FLOAT, 1, 2, 2, 1)], None),
    "CONCATENATION": ([F4, F4], [t(FLOAT, 8)], "ConcatenationOptions"),
    "PACK": ([F4, F4], [t(FLOAT, 2, 4)], "PackOptions", {"valuesCount": 2}),
    "CONV_2D": ([IMAGE, t(FLOAT, 1, 1, 1, 2, values=[[[[1, 1]]]]), t(FLOAT, 1, values=[0])], [t(FLOAT, 1, 4, 4, 1)], "Conv2DOptions", {"strideH": 1, "strideW": 1}),
    "DEPTHWISE_CONV_2D": ([IMAGE, t(FLOAT, 1, 1, 1, 2, values=[[[[1, 1]]]]), t(FLOAT, 2, values=[0, 0])], [IMAGE], "DepthwiseConv2DOptions", {"strideH": 1, "strideW": 1, "depthMultiplier": 1}),
    "FULLY_CONNECTED": ([t(FLOAT, 1, 4), t(FLOAT, 2, 4, values=[[1] * 4] * 2), t(FLOAT, 2, values=[0, 0])], [t(FLOAT, 1, 2)], "FullyConnectedOptions"),
    "BATCH_MATMUL": ([t(FLOAT, 1, 2, 2), t(FLOAT, 1, 2, 2)], [t(FLOAT, 1, 2, 2)], "BatchMatMulOptions"),
    "AVERAGE_POOL_2D": ([IMAGE], [t(FLOAT, 1, 2, 2, 2)], "Pool2DOptions", {"strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}),
    "RESIZE_BILINEAR": ([IMAGE, t(INT, 2, values=[2, 2])], [t(FLOAT, 1, 2, 2, 2)], "ResizeBilinearOptions"),
    "RESIZE_NEAREST_NEIGHBOR": ([IMAGE, t(INT, 2, values=[2, 2])], [t(FLOAT, 1, 2, 2, 2)], "ResizeNearestNeighborOptions"),
    "SOFTMAX": ([t(FLOAT, 1, 4)], [t(FLOAT, 1, 4)], "SoftmaxOptions", {"beta": 1.0}),
    "REVERSE_V2": ([F4, t(INT, 1, values=[0])], [F4], "ReverseV2Options"),
    "REVERSE_SEQUENCE": ([t(FLOAT, 2, 2), t(INT, 2, values=[1, 2])], [t(FLOAT, 2, 2)], "ReverseSequenceOptions", {"seqDim": 1}),
    "SEGMENT_SUM": ([F4, t(INT, 4, values=[0, 0, 1, 1])], [t(FLOAT, 2)], "SegmentSumOptions"),
    "SCATTER_ND": ([t(INT, 1, 1, values=[[0]]), t(FLOAT, 1), t(INT, 1, values=[4])], [F4], "ScatterNdOptions"),
    "SPARSE_TO_DENSE": ([t(INT, 1, values=[1]), t(INT, 1, values=[4]), t(FLOAT, 1), t(FLOAT, values=0)], [F4], "SparseToDenseOptions"),
    "BROADCAST_TO": ([t(FLOAT, 1), t(INT, 1, values=[4])], [F4], "BroadcastToOptions"),
    "EMBEDDING_LOOKUP": ([t(INT, 2, values=[0, 1]), t(FLOAT, 2, 4)], [t(FLOAT, 2, 4)], None),
    "TRANSPOSE_CONV": ([t(INT, 4, values=[1, 4, 4, 1]), t(FLOAT, 1, 2, 2, 1, values=np.ones((1, 2, 2, 1))), t(FLOAT, 1, 2, 2, 1)], [t(FLOAT, 1, 4, 4, 1)], "TransposeConvOptions", {"strideH": 2, "strideW": 2}),
    "ARG_MAX": ([F4, t(INT, values=0)], [t(LONG)], "ArgMaxOptions", {"outputType": LONG}),
    "UNPACK": ([t(FLOAT, 2, 4)], [F4, F4], "UnpackOptions", {"num": 2}),
    "SQUEEZE": ([t(FLOAT, 1, 4)], [F4], "SqueezeOptions"),
    "L2_NORMALIZATION": ([t(FLOAT, 1, 4)], [t(FLOAT, 1, 4)], "L2NormOptions"),
    "SPACE_TO_DEPTH": ([IMAGE], [t(FLOAT, 1, 2, 2, 8)], "SpaceToDepthOptions", {"blockSize": 2}),
    "DEPTH_TO_SPACE": ([t(FLOAT, 1, 2, 2, 8)], [IMAGE], "DepthToSpaceOptions", {"blockSize": 2}),
    "LEAKY_RELU": ([F4], [F4], "LeakyReluOptions", {"alpha": 0.5}),
    "LOGISTIC": ([F4], [F4], None),
    "CAST": ([F4], [t(INT, 4)], "CastOptions", {"inDataType": FLOAT, "outDataType": INT}),
    "SHAPE": ([F4], [t(INT, 1)], "ShapeOptions", {"outType": INT}),
    "DYNAMIC_UPDATE_SLICE": ([F4, t(FLOAT, 2), t(INT, 1, values=[0])], [F4], None),
    "WHERE": ([t(BOOL, 4)], [t(LONG, 4, 1)], None),
    "DEQUANTIZE": ([t(INT8, 4, scale=0.5)], [F4], "DequantizeOptions"),
    "QUANTIZE": ([F4], [t(INT8, 4, scale=0.5)], "QuantizeOptions"),
}  # fmt: skip


def damages(name):
    """The ways to make a working operator a guilty one: what is changed, by its name."""
    row = WORKING[name]
    for n in range(len(row[0])):
        yield f"{name}-input{n}-none", lambda inputs, outputs, n=n: inputs.__setitem__(n, -1)
    for n in range(len(row[1])):
        yield f"{name}-output{n}-none", lambda inputs, outputs, n=n: outputs.__setitem__(n, -1)


def model(name, change, *, guilty=BEFORE, count=SAME + 1):
    """A chain whose operator number ``guilty`` is damaged; after it come others of its kind."""
    row = WORKING[name]
    made = Writer()
    made.last = made.tensor(FLOAT, [4])
    made.graph.inputs = [made.last]
    made.harmless(guilty)
    for n in range(count):
        tensors = []
        for kind, shape, values, scale in row[0]:
            tensors.append(made.tensor(kind, shape, values, scale))
            if values is None:
                made.graph.inputs.append(tensors[-1])
        outputs = [made.tensor(kind, shape, None, scale) for kind, shape, _, scale in row[1]]
        made.graph.outputs += copy.copy(outputs)
        if n == 0:
            change(tensors, outputs)
        made.operator(name, tensors, outputs, row[2], **(row[3] if len(row) > 3 else {}))
    made.harmless(AFTER)
    made.graph.outputs.append(made.last)
    return made.written()


def divisors(index, count=8):
    """Operators that are all alike, of which one divides the least number by -1."""
    made = Writer()
    x = made.tensor(INT, [4])
    made.graph.inputs = [x]
    for n in range(count):
        y = made.tensor(INT, [4], [-1 if n == index else 3] * 4)
        z = made.tensor(INT, [4])
        made.operator("FLOOR_MOD", [x, y], [z])
        made.graph.outputs.append(z)
    return made.written()


def layers(count=8):
    """Layers that are all alike, each with weights of its own, those of the last one first."""
    made = Writer()
    weights = [np.full((64, 64), n / 8, np.float32) for n in range(count)]
    places = {n: made.buffer(weights[n]) for n in reversed(range(count))}
    last = made.tensor(FLOAT, [1, 64])
    made.graph.inputs = [last]
    for n in range(count):
        own = made.tensor(FLOAT, [64, 64])
        made.graph.tensors[own].buffer = places[n]
        following = made.tensor(FLOAT, [1, 64])
        made.operator("FULLY_CONNECTED", [last, own, -1], [following], "FullyConnectedOptions")
        last = following
    made.graph.outputs = [last]
    return made.written()


def circle():
    """A loop whose body is the graph that holds the loop."""
    made = Writer()
    main, x = made.graph, made.tensor(FLOAT, [4])
    made.last, main.inputs = x, [x]
    made.harmless(BEFORE)
    y = made.tensor(FLOAT, [4])
    made.operator(
        "WHILE", [made.last], [y], "WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=0
    )
    main.outputs = [y]
    made.graph = copy.copy(schema.SubGraphT())
    made.graph.tensors, made.graph.operators, made.graph.name = [], [], b"condition"
    made.graph.inputs = [made.tensor(FLOAT, [4])]
    made.graph.outputs = [made.tensor(BOOL, [1], [True])]
    made.model.subgraphs.append(made.graph)
    return made.written()


def without_options():
    """A custom operator of the runtime's own, whose options are missing."""
    made = Writer()
    made.last = made.tensor(FLOAT, [4])
    made.harmless(3)
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
    code.version, code.customCode = 1, b"AudioSpectrogram"
    made.model.operatorCodes.append(code)
    custom = schema.OperatorT()
    custom.opcodeIndex = len(made.model.operatorCodes) - 1
    custom.inputs, custom.outputs = [made.tensor(FLOAT, [16, 1])], [made.tensor(FLOAT, [1, 1, 1])]
    made.graph.inputs, made.graph.outputs = [0, custom.inputs[0]], [custom.outputs[0]]
    made.graph.operators.append(custom)
    return made.written()


def use(path, how):
    """What a program does with a model: all zeros, unless the truth says more."""
    types = runtime.OpResolverType
    plain = (
        {}
        if how.get("delegate")
        else {"experimental_op_resolver_type": types.BUILTIN_WITHOUT_DEFAULT_DELEGATES}
    )
    interpreter = runtime.Interpreter(model_path=str(path), **plain)
    interpreter.allocate_tensors()
    if how.get("constant"):
        weights = next(k for k in interpreter.get_tensor_details() if k["name"] == how["constant"])
        interpreter.set_tensor(weights["index"], np.zeros(weights["shape"], weights["dtype"]))
    for known in interpreter.get_input_details():
        filled = np.full(known["shape"], how.get("fill", 0), known["dtype"])
        interpreter.set_tensor(known["index"], filled)
    if how.get("cut") is not None:
        os.truncate(path, how["cut"])
    interpreter.invoke()
    if how.get("afterwards"):
        os.abort()


def kills(path, how):
    """Whether a model kills a process that uses it."""
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            use(path, how)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGALRM


def made(folder, names):
    """Every model that kills, with its truth."""
    for name in names:
        for title, change in damages(name):
            for delegate in (False, True):
                how = {"delegate": delegate}
                path = folder / f"{title}{'-xnnpack' if delegate else ''}.tflite"
                path.write_bytes(model(name, change))
                if kills(path, how):
                    yield path, {"op": name, "index": BEFORE, **how}
                else:
                    path.unlink()
    for n in range(8):
        path = folder / f"divisor-{n}.tflite"
        path.write_bytes(divisors(n))
        yield path, {"op": "FLOOR_MOD", "index": n, "fill": LEAST}
    for n in range(8):
        path = folder / f"cut-{n}.tflite"
        packed = layers()
        place = packed.find(np.full((64, 64), n / 8, np.float32).tobytes()) if n else None
        if place is None:
            continue
        path.write_bytes(packed)
        # Where the file ends before the weights of one layer, those before it are gone as well.
        cut = (place + 8192) & -4096
        first = min(
            k
            for k in range(1, 8)
            if packed.find(np.full((64, 64), k / 8, np.float32).tobytes()) + 16384 > cut
        )
        yield path, {"op": "FULLY_CONNECTED", "index": first, "fill": 1, "cut": cut}


if __name__ == "__main__":
    if sys.argv[1] == "use":
        use(Path(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        place = Path(sys.argv[1])
        truth = {path.name: told for path, told in made(place, sys.argv[2:] or WORKING)}
        (place / "models.json").write_text(json.dumps(truth, indent=1))
