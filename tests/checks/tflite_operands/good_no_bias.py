"""A bias may be left out."""

from tests.tflite.zoo import changed

MODEL = changed("fully_connected", operators__0__inputs=[0, 1, -1])
