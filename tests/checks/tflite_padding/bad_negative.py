"""A padding of -1."""

from tests.tflite.zoo import changed

MODEL = changed("pad", buffer_1=[-1, 1, 0, 2])
PLACE = "paddings of dimension 0"
