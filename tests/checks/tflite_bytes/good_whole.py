"""All parts lie inside."""

from tests.tflite.zoo import bytes_of

MODEL = bytes_of("conv_2d")
