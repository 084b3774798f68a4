"""Rows 1 to 3 of 4."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["slice"]
