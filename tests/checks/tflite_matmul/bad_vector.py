"""A matrix product of a vector."""

from tests.tflite.zoo import changed

MODEL = changed("batch_matmul", tensors__0__shape=[4])
PLACE = ", x"
