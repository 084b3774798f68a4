"""-1 is the last axis."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["reduce_max"]
