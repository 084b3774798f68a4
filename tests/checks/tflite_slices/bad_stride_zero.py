"""In steps of 0."""

from tests.tflite.zoo import changed

MODEL = changed("strided_slice", buffer_3=[0, 2])
PLACE = "strides"
