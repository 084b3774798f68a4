"""Cut into two halves."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["split"]
