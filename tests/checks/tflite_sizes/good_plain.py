"""Filled to 2 by 3."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["fill"]
