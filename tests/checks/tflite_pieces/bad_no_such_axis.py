"""Joined along axis 5 of 2."""

from tests.tflite.zoo import changed

MODEL = changed("concatenation", operators__0__builtin_options__axis=5)
PLACE = "axis"
