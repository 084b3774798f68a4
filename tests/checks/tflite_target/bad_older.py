"""Version 2 of BROADCAST_TO came with TensorFlow 2.5."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["broadcast_to"]
TARGETS = ["tensorflow==2.4.1"]
PLACE = "BROADCAST_TO"
