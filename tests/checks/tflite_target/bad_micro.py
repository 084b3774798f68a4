"""No kernel in TensorFlow Lite Micro."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["one_hot"]
TARGETS = ["tflite-micro"]
PLACE = "ONE_HOT"
