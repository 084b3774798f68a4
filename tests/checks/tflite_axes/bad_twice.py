"""A permutation that names 2 twice."""

from tests.tflite.zoo import changed

MODEL = changed("transpose", buffer_1=[2, 2, 1])
PLACE = "perm"
