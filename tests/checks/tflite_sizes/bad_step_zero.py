"""A range in steps of 0."""

from tests.tflite.zoo import changed

MODEL = changed("range", buffer_3=[0])
PLACE = "delta"
