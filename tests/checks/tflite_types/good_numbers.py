"""The product of two matrices."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["batch_matmul"]
