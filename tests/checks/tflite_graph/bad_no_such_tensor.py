"""An output of the model is tensor -1."""

from tests.tflite.zoo import changed

MODEL = changed("add", outputs=[-1])
PLACE = "subgraph 0, outputs 0"
