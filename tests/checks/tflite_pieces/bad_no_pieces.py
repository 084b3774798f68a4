"""Cut into 0 pieces."""

from tests.tflite.zoo import changed

MODEL = changed("split", operators__0__builtin_options__num_splits=0)
PLACE = "num_splits"
DIES = "SIGSEGV"
