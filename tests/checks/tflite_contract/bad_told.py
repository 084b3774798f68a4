"""Inputs and outputs by their names."""

from tests.tflite.zoo import ZOO

MODEL = ZOO["add"]
VERBOSE = True
PLACE = "inputs 0 (inputs0)"
SEVERITY = "note"
