"""The .tflite format, read and written without TensorFlow.

``schema`` holds its tables and numbers, ``flat`` reads any bytes within their bounds, ``model`` asks a
model for its operators and tensors, ``written`` makes bytes of values, ``alone`` cuts a model down to
one operator. Whoever wrote a model may be hostile: what does not fit raises ``MalformedError``, which
says where, and nothing else.
"""

from sigwhy.tflite.flat import MalformedError
from sigwhy.tflite.model import Model

__all__ = ["MalformedError", "Model"]
