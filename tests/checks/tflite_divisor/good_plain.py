"""No 0 in the divisor."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["floor_div"]
