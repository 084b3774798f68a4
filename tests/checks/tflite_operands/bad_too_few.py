"""ADD with one input."""

from tests.tflite.zoo import changed

MODEL = changed("add", operators__0__inputs=[0])
PLACE = "operator 0 (ADD)"
