"""The condition is subgraph 7 of 3."""

from tests.tflite.zoo import changed

MODEL = changed("while", operators__0__builtin_options__cond_subgraph_index=7)
PLACE = "cond_subgraph_index"
