"""What remains is 4."""

from tests.tflite.zoo import changed

MODEL = changed("reshape", buffer_1=[2, -1])
