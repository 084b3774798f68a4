"""The signature names tensor 9 of 3."""

from tests.tflite.zoo import ZOO, copied

MODEL = copied(ZOO["add"])
MODEL["signature_defs"][0]["inputs"][0]["tensor_index"] = 9
PLACE = "inputs 0"
