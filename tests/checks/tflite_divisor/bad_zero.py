"""A constant divisor with a 0."""

from tests.tflite.zoo import changed

MODEL = changed("floor_div", buffer_1=[1, 0, 3, 4])
PLACE = "divisor"
