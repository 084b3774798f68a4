"""Element 9 of 5 is written."""

from tests.tflite.zoo import changed

MODEL = changed("sparse_to_dense", buffer_1=[1, 9])
PLACE = "indices"
