"""The best 5 of 4."""

from tests.tflite.zoo import changed

MODEL = changed("top_k", buffer_1=[5])
PLACE = ", k"
