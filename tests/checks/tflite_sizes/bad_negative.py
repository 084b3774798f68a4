"""Filled to -1 rows."""

from tests.tflite.zoo import changed

MODEL = changed("fill", buffer_1=[-1, 3])
PLACE = "shape"
