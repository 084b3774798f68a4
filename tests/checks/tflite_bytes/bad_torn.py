"""The last quarter is missing, and tables lead there."""

from tests.tflite.zoo import bytes_of

MODEL = bytes_of("conv_2d")[:-300]
PLACE = "operator 0"
