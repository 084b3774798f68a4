"""The same with 100 MB."""

from tests.tflite.zoo import single, tensor

MODEL = single("ADD", [tensor([1024, 1024])] * 2, [tensor([1024, 1024])])
LIMIT = 100_000_000
