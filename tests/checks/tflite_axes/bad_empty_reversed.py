"""Reversing nothing."""

from tests.tflite.zoo import changed

MODEL = changed("reverse", tensors__0__shape=[0, 4], tensors__2__shape=[0, 4])
PLACE = "REVERSE_V2"
