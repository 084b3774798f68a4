"""A constant block of 0."""

from tests.tflite.zoo import changed

MODEL = changed("space_to_batch", buffer_1=[0, 2])
PLACE = "block_shape"
