"""Weights of no columns."""

from tests.tflite.zoo import changed

MODEL = changed("fully_connected", tensors__1__shape=[3, 0], buffer_1=b"")
PLACE = "weights"
