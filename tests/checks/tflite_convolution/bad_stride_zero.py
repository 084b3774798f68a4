"""A stride of 0: the kernel divides by it."""

from tests.tflite.zoo import changed

MODEL = changed("conv_2d", operators__0__builtin_options__stride_w=0)
PLACE = "stride_w"
