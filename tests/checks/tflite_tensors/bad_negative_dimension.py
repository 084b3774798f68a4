"""A dimension of -1 in the shape, not in the signature."""

from tests.tflite.zoo import changed

MODEL = changed("add", tensors__0__shape=[-1, 4])
PLACE = "tensor 0"
