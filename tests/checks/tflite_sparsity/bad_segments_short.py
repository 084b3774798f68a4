"""Three rows want four segments."""

from tests.tflite.zoo import changed

SEGMENTS = [0, 2]
SPARSITY = {
    "traversal_order": [0, 1],
    "dim_metadata": [
        {"format": 0, "dense_size": 3},
        {
            "format": 1,
            "array_segments_type": 1,
            "array_segments": {"values": SEGMENTS},
            "array_indices_type": 1,
            "array_indices": {"values": [0, 3]},
        },
    ],
}
MODEL = changed("fully_connected", tensors__1__sparsity=SPARSITY, buffer_1=bytes(8))
PLACE = "tensor 1"
