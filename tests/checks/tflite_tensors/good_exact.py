"""As many bytes as shape and type want."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["conv_2d"]
