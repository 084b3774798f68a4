"""The scale is 0: the multiplier becomes infinite."""

from tests.tflite.zoo import changed

MODEL = changed("add_int8", tensors__0__quantization={"scale": [0.0], "zero_point": [0]})
PLACE = "tensor 0"
DIES = "SIGABRT"
