"""A window of no width."""

from tests.tflite.zoo import changed

MODEL = changed("average_pool", operators__0__builtin_options__filter_width=0)
PLACE = "filter_width"
