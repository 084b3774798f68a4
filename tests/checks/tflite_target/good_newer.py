"""Every runtime of today knows it."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["add"]
TARGETS = ["tensorflow==2.16.2", "litert==2.3.0", "tflite-micro"]
