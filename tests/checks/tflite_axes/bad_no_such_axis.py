"""The sum over axis 7 of 3."""

from tests.tflite.zoo import changed

MODEL = changed("sum", buffer_1=[7])
PLACE = "axis"
