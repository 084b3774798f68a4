"""Small models of one operator each, valid on every runtime: what tests damage and benches mutate."""

import struct

from sigwhy.tflite.flat import members
from sigwhy.tflite.model import names
from sigwhy.tflite.written import written

LETTERS = {
    "FLOAT32": "f", "INT32": "i", "INT64": "q", "INT8": "b", "UINT8": "B", "BOOL": "?", "INT16": "h",
}  # fmt: skip
SCALED = {"scale": [0.5], "zero_point": [0]}


def tensor(shape, kind="FLOAT32", data=None, **more):
    """A tensor; ``data`` are its numbers where it is a constant."""
    return {"shape": list(shape), "type": kind, "data": data, **more}


def scaled(shape, data=None, kind="INT8", **more):
    """A quantised tensor."""
    return tensor(shape, kind, data, quantization=SCALED, **more)


def model(operators, inputs, outputs, tensors, *, signature=False):
    """A model with one subgraph; ``operators`` are (name, inputs, outputs, options, version)."""
    codes, buffers, rows, held = [], [{}], [], []
    for n, one in enumerate(tensors):
        row = {k: v for k, v in one.items() if k != "data"}
        row |= {"name": f"t{n}", "type": names("TensorType").index(one["type"]), "buffer": 0}
        if one["data"] is not None:
            raw = one["data"]
            if not isinstance(raw, bytes):
                raw = struct.pack(f"<{len(raw)}{LETTERS[one['type']]}", *raw)
            row["buffer"] = len(buffers)
            buffers.append({"data": memoryview(raw)})
        rows.append(row)
    for name, given, made, options, *version in operators:
        number = names("BuiltinOperator").index(name)
        codes.append(
            {
                "deprecated_builtin_code": min(number, 127),
                "builtin_code": number,
                "version": version[0] if version else 1,
            }
        )
        row = {"opcode_index": len(codes) - 1, "inputs": given, "outputs": made}
        if options:
            kind, values = options
            row |= {
                "builtin_options_type": members("BuiltinOptions").index(kind),
                "builtin_options": values,
            }
        held.append(row)
    graph = {"tensors": rows, "inputs": inputs, "outputs": outputs, "operators": held, "name": "m"}
    made = {
        "version": 3,
        "operator_codes": codes,
        "subgraphs": [graph],
        "description": "made by hand",
        "buffers": buffers,
    }
    if signature:
        sides = {
            side: [{"name": f"{side}{n}", "tensor_index": i} for n, i in enumerate(indices)]
            for side, indices in (("inputs", inputs), ("outputs", outputs))
        }
        made["signature_defs"] = [{**sides, "signature_key": "serve", "subgraph_index": 0}]
    return made


def single(name, given, made, options=None, *, version=1, signature=False):
    """A model of one operator; what is not constant of ``given`` is an input of the model."""
    tensors = [*given, *made]
    ins = list(range(len(given)))
    outs = list(range(len(given), len(tensors)))
    inputs = [n for n in ins if given[n]["data"] is None]
    return model([(name, ins, outs, options, version)], inputs, outs, tensors, signature=signature)


def _loop():
    """Counts an INT32 up to 4, in a WHILE."""
    made = model(
        [
            (
                "WHILE",
                [0],
                [1],
                ("WhileOptions", {"cond_subgraph_index": 1, "body_subgraph_index": 2}),
            )
        ],
        [0],
        [1],
        [tensor([1], "INT32"), tensor([1], "INT32")],
    )
    codes, buffers = made["operator_codes"], made["buffers"]
    for name, number, kind in (("LESS", 4, "BOOL"), ("ADD", 1, "INT32")):
        code = names("BuiltinOperator").index(name)
        codes.append({"deprecated_builtin_code": code, "builtin_code": code, "version": 1})
        buffers.append({"data": memoryview(struct.pack("<i", number))})
        types = ["INT32", "INT32", kind]
        rows = [
            {
                "shape": [1],
                "type": names("TensorType").index(one),
                "name": f"{name}{n}",
                "buffer": 0,
            }
            for n, one in enumerate(types)
        ]
        rows[1]["buffer"] = len(buffers) - 1
        row = {"opcode_index": len(codes) - 1, "inputs": [0, 1], "outputs": [2]}
        if name == "ADD":
            row |= {
                "builtin_options_type": members("BuiltinOptions").index("AddOptions"),
                "builtin_options": {},
            }
        graph = {"tensors": rows, "inputs": [0], "outputs": [2], "operators": [row], "name": name}
        made["subgraphs"].append(graph)
    return made


t, q = tensor, scaled
x, image = t([2, 4]), t([1, 4, 4, 2])
conv = {"stride_w": 1, "stride_h": 1, "padding": 0}
pool = {**conv, "filter_width": 2, "filter_height": 2}
two = [
    t([2, 4]),
    t([3, 4], data=[0.1] * 12),
    t([3], data=[0.0] * 3),
    t([2, 3]),
    t([2], "INT32", [3, 2]),
    t([3, 2]),
    t([3, 2]),
]
chain = [
    ("FULLY_CONNECTED", [0, 1, 2], [3], ("FullyConnectedOptions", {})),
    ("RESHAPE", [3, 4], [5], None),
    ("SOFTMAX", [5], [6], ("SoftmaxOptions", {"beta": 1.0})),
]
ZOO = {
    "add": single("ADD", [x, t([2, 4])], [t([2, 4])], ("AddOptions", {}), signature=True),
    "add_int8": single("ADD", [q([2, 4]), q([2, 4])], [q([2, 4])], ("AddOptions", {}), version=2),
    "sub": single("SUB", [x, t([4])], [t([2, 4])], ("SubOptions", {})),
    "mul": single("MUL", [x, t([1], data=[2.0])], [t([2, 4])], ("MulOptions", {})),
    "div": single("DIV", [x, t([4], data=[1.0] * 4)], [t([2, 4])], ("DivOptions", {})),
    "floor_div": single(
        "FLOOR_DIV", [t([4], "INT32"), t([4], "INT32", [1, 2, 3, 4])], [t([4], "INT32")]
    ),
    "maximum": single("MAXIMUM", [x, t([2, 4])], [t([2, 4])]),
    "less": single("LESS", [x, t([2, 4])], [t([2, 4], "BOOL")]),
    "abs": single("ABS", [x], [t([2, 4])]),
    "relu": single("RELU", [x], [t([2, 4])]),
    "tanh_int8": single(
        "TANH",
        [q([2, 4])],
        [tensor([2, 4], "INT8", quantization={"scale": [1 / 128], "zero_point": [0]})],
        version=2,
    ),
    "conv_2d": single(
        "CONV_2D",
        [image, t([3, 2, 2, 2], data=[0.5] * 24), t([3], data=[0.0] * 3)],
        [t([1, 4, 4, 3])],
        ("Conv2DOptions", conv),
        signature=True,
    ),
    "conv_2d_int8": single(
        "CONV_2D",
        [
            q([1, 4, 4, 2]),
            tensor(
                [3, 2, 2, 2],
                "INT8",
                [1] * 24,
                quantization={
                    "scale": [0.5, 0.25, 1.0],
                    "zero_point": [0, 0, 0],
                    "quantized_dimension": 0,
                },
            ),
            tensor([3], "INT32", [0] * 3),
        ],
        [q([1, 4, 4, 3])],
        ("Conv2DOptions", conv),
        version=3,
    ),
    "depthwise": single(
        "DEPTHWISE_CONV_2D",
        [image, t([1, 2, 2, 4], data=[0.5] * 16), t([4], data=[0.0] * 4)],
        [t([1, 4, 4, 4])],
        ("DepthwiseConv2DOptions", {**conv, "depth_multiplier": 2}),
    ),
    "transpose_conv": single(
        "TRANSPOSE_CONV",
        [t([4], "INT32", [1, 8, 8, 3]), t([3, 2, 2, 2], data=[0.5] * 24), image],
        [t([1, 8, 8, 3])],
        ("TransposeConvOptions", {"stride_w": 2, "stride_h": 2}),
    ),
    "conv_3d": single(
        "CONV_3D",
        [t([1, 3, 4, 4, 2]), t([2, 2, 2, 2, 3], data=[0.5] * 48), t([3], data=[0.0] * 3)],
        [t([1, 3, 4, 4, 3])],
        ("Conv3DOptions", {**conv, "stride_d": 1}),
    ),
    "max_pool": single("MAX_POOL_2D", [image], [t([1, 4, 4, 2])], ("Pool2DOptions", pool)),
    "average_pool": single("AVERAGE_POOL_2D", [image], [t([1, 4, 4, 2])], ("Pool2DOptions", pool)),
    "local_response": single(
        "LOCAL_RESPONSE_NORMALIZATION",
        [image],
        [t([1, 4, 4, 2])],
        (
            "LocalResponseNormalizationOptions",
            {"radius": 1, "bias": 1.0, "alpha": 1.0, "beta": 0.5},
        ),
    ),
    "space_to_depth": single(
        "SPACE_TO_DEPTH", [image], [t([1, 2, 2, 8])], ("SpaceToDepthOptions", {"block_size": 2})
    ),
    "depth_to_space": single(
        "DEPTH_TO_SPACE",
        [t([1, 2, 2, 8])],
        [t([1, 4, 4, 2])],
        ("DepthToSpaceOptions", {"block_size": 2}),
    ),
    "space_to_batch": single(
        "SPACE_TO_BATCH_ND",
        [image, t([2], "INT32", [2, 2]), t([2, 2], "INT32", [0] * 4)],
        [t([4, 2, 2, 2])],
    ),
    "batch_to_space": single(
        "BATCH_TO_SPACE_ND",
        [t([4, 2, 2, 2]), t([2], "INT32", [2, 2]), t([2, 2], "INT32", [0] * 4)],
        [t([1, 4, 4, 2])],
    ),
    "fully_connected": single(
        "FULLY_CONNECTED",
        [x, t([3, 4], data=[0.1] * 12), t([3], data=[0.0] * 3)],
        [t([2, 3])],
        ("FullyConnectedOptions", {}),
        signature=True,
    ),
    "fully_connected_int8": single(
        "FULLY_CONNECTED",
        [
            q([2, 4]),
            q([3, 4], data=[1] * 12),
            tensor([3], "INT32", [0] * 3, quantization={"scale": [0.25], "zero_point": [0]}),
        ],
        [q([2, 3])],
        ("FullyConnectedOptions", {}),
        version=4,
    ),
    "batch_matmul": single(
        "BATCH_MATMUL", [t([2, 3, 4]), t([2, 4, 5])], [t([2, 3, 5])], ("BatchMatMulOptions", {})
    ),
    "split": single(
        "SPLIT",
        [t([], "INT32", [1]), x],
        [t([2, 2]), t([2, 2])],
        ("SplitOptions", {"num_splits": 2}),
    ),
    "split_v": single(
        "SPLIT_V",
        [x, t([2], "INT32", [1, 3]), t([], "INT32", [1])],
        [t([2, 1]), t([2, 3])],
        ("SplitVOptions", {"num_splits": 2}),
    ),
    "unpack": single("UNPACK", [x], [t([4]), t([4])], ("UnpackOptions", {"num": 2, "axis": 0})),
    "pack": single(
        "PACK", [t([4]), t([4])], [t([2, 4])], ("PackOptions", {"values_count": 2, "axis": 0})
    ),
    "concatenation": single(
        "CONCATENATION", [x, t([2, 3])], [t([2, 7])], ("ConcatenationOptions", {"axis": 1})
    ),
    "pad": single("PAD", [x, t([2, 2], "INT32", [1, 1, 0, 2])], [t([4, 6])]),
    "padv2": single(
        "PADV2", [x, t([2, 2], "INT32", [1, 1, 0, 2]), t([1], data=[1.0])], [t([4, 6])]
    ),
    "mirror_pad": single(
        "MIRROR_PAD",
        [t([3, 4]), t([2, 2], "INT32", [1, 1, 0, 2])],
        [t([5, 6])],
        ("MirrorPadOptions", {"mode": 0}),
    ),
    "transpose": single("TRANSPOSE", [t([2, 3, 4]), t([3], "INT32", [2, 0, 1])], [t([4, 2, 3])]),
    "mean": single(
        "MEAN", [t([2, 3, 4]), t([2], "INT32", [0, 2])], [t([3])], ("ReducerOptions", {})
    ),
    "sum": single("SUM", [t([2, 3, 4]), t([1], "INT32", [1])], [t([2, 4])], ("ReducerOptions", {})),
    "reduce_max": single(
        "REDUCE_MAX", [t([2, 3, 4]), t([1], "INT32", [-1])], [t([2, 3])], ("ReducerOptions", {})
    ),
    "arg_max": single(
        "ARG_MAX",
        [x, t([], "INT32", [1])],
        [t([2], "INT32")],
        ("ArgMaxOptions", {"output_type": 2}),
    ),
    "cumsum": single("CUMSUM", [x, t([], "INT32", [1])], [t([2, 4])], ("CumsumOptions", {})),
    "expand_dims": single("EXPAND_DIMS", [x, t([], "INT32", [1])], [t([2, 1, 4])]),
    "squeeze": single(
        "SQUEEZE", [t([2, 1, 4])], [t([2, 4])], ("SqueezeOptions", {"squeeze_dims": [1]})
    ),
    "reverse": single("REVERSE_V2", [x, t([1], "INT32", [1])], [t([2, 4])]),
    "reverse_sequence": single(
        "REVERSE_SEQUENCE",
        [x, t([2], "INT32", [2, 3])],
        [t([2, 4])],
        ("ReverseSequenceOptions", {"seq_dim": 1, "batch_dim": 0}),
    ),
    "gather": single(
        "GATHER",
        [t([5, 3]), t([2], "INT32", [4, 0])],
        [t([2, 3])],
        ("GatherOptions", {"axis": 0}),
    ),
    "gather_nd": single("GATHER_ND", [t([5, 3]), t([2, 2], "INT32", [4, 0, 1, 2])], [t([2])]),
    "scatter_nd": single(
        "SCATTER_ND",
        [t([2, 1], "INT32", [4, 0]), t([2, 3]), t([2], "INT32", [5, 3])],
        [t([5, 3])],
    ),
    "sparse_to_dense": single(
        "SPARSE_TO_DENSE",
        [t([2], "INT32", [1, 3]), t([1], "INT32", [5]), t([2]), t([], data=[0.0])],
        [t([5])],
    ),
    "embedding": single(
        "EMBEDDING_LOOKUP", [t([2], "INT32", [1, 3]), t([5, 3], data=[0.5] * 15)], [t([2, 3])]
    ),
    "segment_sum": single("SEGMENT_SUM", [t([4, 2]), t([4], "INT32", [0, 0, 1, 2])], [t([3, 2])]),
    "one_hot": single(
        "ONE_HOT",
        [t([3], "INT32"), t([], "INT32", [4]), t([], data=[1.0]), t([], data=[0.0])],
        [t([3, 4])],
        ("OneHotOptions", {"axis": -1}),
    ),
    "tile": single("TILE", [x, t([2], "INT32", [2, 1])], [t([4, 4])]),
    "fill": single("FILL", [t([2], "INT32", [2, 3]), t([])], [t([2, 3])]),
    "broadcast_to": single(
        "BROADCAST_TO", [t([1, 4]), t([2], "INT32", [3, 4])], [t([3, 4])], version=2
    ),
    "range": single(
        "RANGE",
        [t([], "INT32", [0]), t([], "INT32", [6]), t([], "INT32", [2])],
        [t([3], "INT32")],
    ),
    "top_k": single("TOPK_V2", [x, t([], "INT32", [2])], [t([2, 2]), t([2, 2], "INT32")]),
    "slice": single(
        "SLICE", [t([4, 4]), t([2], "INT32", [1, 0]), t([2], "INT32", [2, 3])], [t([2, 3])]
    ),
    "strided_slice": single(
        "STRIDED_SLICE",
        [t([4, 4]), t([2], "INT32", [1, 0]), t([2], "INT32", [3, 4]), t([2], "INT32", [1, 2])],
        [t([2, 2])],
        ("StridedSliceOptions", {}),
    ),
    "reshape": single(
        "RESHAPE",
        [x, t([2], "INT32", [4, 2])],
        [t([4, 2])],
        ("ReshapeOptions", {"new_shape": [4, 2]}),
        signature=True,
    ),
    "resize_bilinear": single(
        "RESIZE_BILINEAR",
        [image, t([2], "INT32", [8, 8])],
        [t([1, 8, 8, 2])],
        ("ResizeBilinearOptions", {}),
    ),
    "resize_nearest": single(
        "RESIZE_NEAREST_NEIGHBOR",
        [image, t([2], "INT32", [8, 8])],
        [t([1, 8, 8, 2])],
        ("ResizeNearestNeighborOptions", {}),
    ),
    "softmax": single("SOFTMAX", [x], [t([2, 4])], ("SoftmaxOptions", {"beta": 1.0})),
    "log_softmax": single("LOG_SOFTMAX", [x], [t([2, 4])]),
    "l2_normalization": single("L2_NORMALIZATION", [x], [t([2, 4])], ("L2NormOptions", {})),
    "prelu": single("PRELU", [image, t([1, 1, 2], data=[0.1, 0.2])], [t([1, 4, 4, 2])]),
    "leaky_relu": single("LEAKY_RELU", [x], [t([2, 4])], ("LeakyReluOptions", {"alpha": 0.1})),
    "select_v2": single("SELECT_V2", [t([2, 4], "BOOL"), x, t([2, 4])], [t([2, 4])]),
    "where": single("WHERE", [t([2, 4], "BOOL")], [t([0, 2], "INT64")]),
    "cast": single(
        "CAST",
        [x],
        [t([2, 4], "INT32")],
        ("CastOptions", {"in_data_type": 0, "out_data_type": 2}),
    ),
    "quantize": single("QUANTIZE", [x], [q([2, 4])]),
    "dequantize": single("DEQUANTIZE", [q([2, 4])], [t([2, 4])], version=2),
    "shape": single("SHAPE", [x], [t([2], "INT32")], ("ShapeOptions", {"out_type": 2})),
    "unique": single(
        "UNIQUE",
        [t([4], "INT32")],
        [t([0], "INT32"), t([4], "INT32")],
        ("UniqueOptions", {"idx_out_type": 2}),
    ),
    "svdf": single(
        "SVDF",
        [
            t([2, 3]),
            t([4, 3], data=[0.1] * 12),
            t([4, 5], data=[0.1] * 20),
            t([2], data=[0.0] * 2),
            t([2, 20], is_variable=True),
        ],
        [t([2, 2])],
        ("SVDFOptions", {"rank": 2}),
    ),
    "rfft2d": single("RFFT2D", [t([4, 8]), t([2], "INT32", [4, 8])], [t([4, 5], "COMPLEX64")]),
    "bucketize": single(
        "BUCKETIZE",
        [x],
        [t([2, 4], "INT32")],
        ("BucketizeOptions", {"boundaries": [0.0, 1.0, 2.0]}),
    ),
    "matrix_diag": single("MATRIX_DIAG", [t([3])], [t([3, 3])]),
    "non_max_suppression": single(
        "NON_MAX_SUPPRESSION_V4",
        [t([4, 4]), t([4]), t([], "INT32", [2]), t([], data=[0.5]), t([], data=[0.0])],
        [t([2], "INT32"), t([], "INT32")],
    ),
    "chain": model(chain, [0], [6], two, signature=True),
    "while": _loop(),
}


def bytes_of(name):
    """The file of one of them."""
    return written(ZOO[name])


def copied(value):
    """A copy to change; the bytes of buffers are replaced as a whole, so they need none."""
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    return [copied(one) for one in value] if isinstance(value, list) else value


def changed(name, **changes):
    """One of the models with other values: ``operators__0__inputs=[-1]`` of its first subgraph, or ``buffer_1``
    for the numbers of a constant, as a list of INT32 or as bytes."""
    made = copied(ZOO[name])
    for path, value in changes.items():
        if path.startswith("buffer_"):
            raw = value if isinstance(value, bytes) else struct.pack(f"<{len(value)}i", *value)
            made["buffers"][int(path.removeprefix("buffer_"))]["data"] = memoryview(raw)
            continue
        table, (*way, last) = made["subgraphs"][0], path.split("__")
        for step in way:
            table = table[int(step)] if step.isdigit() else table[step]
        table[int(last) if last.isdigit() else last] = value
    return made
