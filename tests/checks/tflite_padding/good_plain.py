"""A frame around it."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["pad"]
