"""65536 becomes 0 in 16 bits."""

from tests.tflite.zoo import changed

MODEL = changed("depthwise", operators__0__builtin_options__dilation_w_factor=65536)
PLACE = "dilation_w_factor"
