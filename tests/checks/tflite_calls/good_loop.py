"""A condition and a body of its own."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["while"]
