"""A tensor without a name."""

from tests.tflite.zoo import ZOO, copied

MODEL = copied(ZOO["add"])
del MODEL["signature_defs"][0]["outputs"][0]["name"]
PLACE = "outputs 0"
