"""Each operator reads what was computed before."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["chain"]
