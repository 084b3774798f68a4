"""Half of the filter is missing."""

from tests.tflite.zoo import changed

MODEL = changed("conv_2d", buffer_1=[0] * 12)
PLACE = "tensor 1"
