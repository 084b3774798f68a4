"""Row 5 of 5."""

from tests.tflite.zoo import changed

MODEL = changed("gather", buffer_1=[5, 0])
PLACE = "indices"
