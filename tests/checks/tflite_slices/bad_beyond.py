"""Rows 3 to 5 of 4."""

from tests.tflite.zoo import changed

MODEL = changed("slice", buffer_1=[3, 0])
PLACE = "dimension 0"
