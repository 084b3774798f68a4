"""A 0 beside the -1: what remains is divided by it."""

from tests.tflite.zoo import changed

MODEL = changed("reshape", buffer_1=[0, -1])
PLACE = "shape"
