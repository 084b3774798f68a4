"""Small models, written by our own writer from plain values."""

import struct

from sigwhy.tflite.written import written

ABS, FULLY_CONNECTED, WHILE, VAR_HANDLE, READ_VARIABLE = 101, 9, 119, 142, 143
FLOAT32, RESOURCE = 0, 13


def tensor(name, shape, *, buffer=0, kind=FLOAT32):
    return {"shape": shape, "type": kind, "buffer": buffer, "name": name}


def operator(code, inputs, outputs, **options):
    return {"opcode_index": code, "inputs": inputs, "outputs": outputs, **options}


def chain():
    """ABS, FULLY_CONNECTED with weights, ABS: 1x4 to 1x2."""
    weights = memoryview(struct.pack("<8f", *range(8)))
    dense = {
        "builtin_options_type": 8,
        "builtin_options": {"fused_activation_function": 1, "keep_num_dims": True},
    }
    return {
        "version": 3,
        "operator_codes": [
            {"deprecated_builtin_code": ABS, "builtin_code": ABS},
            {"deprecated_builtin_code": FULLY_CONNECTED, "builtin_code": FULLY_CONNECTED},
        ],
        "subgraphs": [
            {
                "tensors": [
                    tensor("x", [1, 4]),
                    tensor("a", [1, 4]),
                    tensor("w", [2, 4], buffer=1),
                    tensor("y", [1, 2]),
                    tensor("z", [1, 2]),
                ],
                "inputs": [0],
                "outputs": [4],
                "operators": [
                    operator(0, [0], [1]),
                    operator(1, [1, 2, -1], [3], **dense),
                    operator(0, [3], [4]),
                ],
                "name": "main",
            }
        ],
        "description": "a chain",
        "buffers": [{}, {"data": weights}, {"data": memoryview(b"elsewhere")}],
    }


def with_variable():
    """VAR_HANDLE, then READ_VARIABLE."""
    return {
        "version": 3,
        "operator_codes": [
            {"deprecated_builtin_code": 127, "builtin_code": VAR_HANDLE},
            {"deprecated_builtin_code": 127, "builtin_code": READ_VARIABLE},
        ],
        "subgraphs": [
            {
                "tensors": [tensor("v", [], kind=RESOURCE), tensor("y", [2])],
                "inputs": [],
                "outputs": [1],
                "operators": [
                    operator(
                        0,
                        [],
                        [0],
                        builtin_options_type=111,
                        builtin_options={"container": "c", "shared_name": "v"},
                    ),
                    operator(1, [0], [1]),
                ],
            }
        ],
        "buffers": [{}],
    }


def bytes_of(model=None):
    return written(model or chain())
