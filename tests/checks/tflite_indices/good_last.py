"""The last row."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["gather"]
