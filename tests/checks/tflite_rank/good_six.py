"""Six dimensions."""

from tests.tflite.zoo import single, tensor

MODEL = single(
    "MUL", [tensor([1, 1, 1, 1, 2, 3]), tensor([2, 1, 1, 1, 1, 3])], [tensor([2, 1, 1, 1, 2, 3])]
)
