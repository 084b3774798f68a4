"""One scale for each channel."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["conv_2d_int8"]
