"""Nobody asked."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["add"]
