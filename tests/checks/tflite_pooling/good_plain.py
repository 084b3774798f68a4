"""A window of 2 by 2."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["average_pool"]
