"""A constant divisor with a -1."""

from tests.tflite.zoo import changed

MODEL = changed("floor_div", buffer_1=[1, -1, 3, 4])
PLACE = "divisor"
SEVERITY = "note"
