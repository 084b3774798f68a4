"""Two scales for three channels."""

from tests.tflite.zoo import changed

MODEL = changed(
    "conv_2d_int8",
    tensors__1__quantization={"scale": [0.5, 0.5], "zero_point": [0, 0], "quantized_dimension": 0},
)
PLACE = "tensor 1"
