"""The body of the loop is the main subgraph."""

from tests.tflite.zoo import changed

MODEL = changed("while", operators__0__builtin_options__body_subgraph_index=0)
PLACE = "operator 0 (WHILE)"
DIES = "SIGSEGV"
