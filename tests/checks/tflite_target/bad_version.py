"""A version of ADD from the future."""

from tests.tflite.zoo import single, tensor

MODEL = single("ADD", [tensor([2]), tensor([2])], [tensor([2])], version=99)
PLACE = "ADD"
