"""The output is the bias."""

from tests.tflite.zoo import changed

MODEL = changed("fully_connected", operators__0__outputs=[2], outputs=[2])
PLACE = "operator 0 (FULLY_CONNECTED), output 0"
