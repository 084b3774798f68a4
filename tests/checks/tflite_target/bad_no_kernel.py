"""An operator of the format that no runtime registers."""

from tests.tflite.zoo import single, tensor

MODEL = single("STABLEHLO_SORT", [tensor([2])], [tensor([2])])
PLACE = "STABLEHLO_SORT"
