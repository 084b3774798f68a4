"""A buffer behind the tables that the file does not have."""

from tests.tflite.zoo import ZOO, copied

MODEL = {**copied(ZOO["add"]), "buffers": [{"offset": 2**63, "size": 2**63 + 8}]}
PLACE = "buffer 0"
