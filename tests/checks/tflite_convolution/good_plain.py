"""Strides and dilations of 1."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["conv_2d"]
