"""The permutation is left out."""

from tests.tflite.zoo import changed

MODEL = changed("transpose", operators__0__inputs=[0, -1])
PLACE = "operator 0 (TRANSPOSE), input 1"
DIES = "SIGSEGV"
