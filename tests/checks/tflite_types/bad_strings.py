"""The product of two matrices, written into a tensor of strings."""

from tests.tflite.zoo import single, tensor

MODEL = single(
    "BATCH_MATMUL", [tensor([2, 3, 4]), tensor([2, 4, 5])], [tensor([2, 3, 5], "STRING")]
)
PLACE = "operator 0 (BATCH_MATMUL), output 0"
DIES = "SIGSEGV"
