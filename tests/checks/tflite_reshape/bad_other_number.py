"""8 elements as 3 by 2."""

from tests.tflite.zoo import changed

MODEL = changed("reshape", buffer_1=[3, 2])
PLACE = "shape"
