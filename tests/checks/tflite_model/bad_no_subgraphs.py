"""Nothing to run."""

from tests.tflite.zoo import ZOO, copied

MODEL = {**copied(ZOO["add"]), "subgraphs": []}
PLACE = "model"
