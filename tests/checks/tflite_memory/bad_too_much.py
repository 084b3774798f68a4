"""Two matrices of 4 MB, and a limit of 1 MB."""

from tests.tflite.zoo import single, tensor

MODEL = single("ADD", [tensor([1024, 1024])] * 2, [tensor([1024, 1024])])
LIMIT = 1_000_000
PLACE = "model"
