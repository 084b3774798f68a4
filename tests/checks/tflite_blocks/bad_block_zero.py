"""Blocks of 0."""

from tests.tflite.zoo import changed

MODEL = changed("space_to_depth", operators__0__builtin_options__block_size=0)
PLACE = "block_size"
