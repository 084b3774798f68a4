"""Blocks of 2 by 2."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["space_to_batch"]
