"""Every name leads to a tensor."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["add"]
