"""Two groups of channels, and three filters."""

from tests.tflite.zoo import changed

MODEL = changed("conv_2d", tensors__1__shape=[3, 2, 2, 1], buffer_1=[0] * 12)
PLACE = "filter"
