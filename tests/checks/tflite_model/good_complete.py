"""Version, subgraphs, buffers and codes are there."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["add"]
