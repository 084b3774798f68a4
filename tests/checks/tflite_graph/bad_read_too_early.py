"""The first operator reads what the last one computes."""

from tests.tflite.zoo import changed

MODEL = changed("chain", operators__0__inputs=[6, 1, 2])
PLACE = "operator 0 (FULLY_CONNECTED), input 0"
