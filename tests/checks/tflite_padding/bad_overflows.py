"""The sum does not fit 31 bits."""

from tests.tflite.zoo import changed

MODEL = changed("pad", buffer_1=[0, 0, 2**31 - 1, 2])
PLACE = "paddings of dimension 1"
