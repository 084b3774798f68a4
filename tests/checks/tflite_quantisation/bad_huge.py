"""A scale that no trained model has."""

from tests.tflite.zoo import changed

MODEL = changed("add_int8", tensors__0__quantization={"scale": [1e30], "zero_point": [0]})
PLACE = "tensor 0"
SEVERITY = "warning"
DIES = "SIGABRT"
