"""2 x 4 times 3 x 4."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["fully_connected"]
