"""Programs that are said to crash, and do not: no check may call them an error.

Each was run with TensorFlow 2.13, 2.16 and 2.21; what happens instead stands beside it.
"""

import pytest

from sigwhy.checks import looked
from sigwhy.subjects.python_source import PythonSource

# What a session returned is owned by the program: it prints 7.
AFTER_THE_SESSION = """
import tensorflow as tf

def first():
    with tf.compat.v1.Session() as session:
        numbers = session.run(tf.constant([7, 8]))
    return numbers[0]

print(first())
"""
# On the CPU it is a clean InvalidArgumentError.
OUT_OF_RANGE = """
import tensorflow as tf

try:
    tf.gather(tf.constant([4, 5, 6]), tf.constant(3))
except tf.errors.InvalidArgumentError as error:
    print(error)
"""
# tf.constant copies: the tensor does not change.
CHANGED_AFTERWARDS = """
import numpy as np
import tensorflow as tf

numbers = np.array([1, 2, 3], dtype=np.float32)
tensor = tf.constant(numbers)
numbers += 10
print(tensor)
"""
# It is saved, and what is loaded works.
WRONG_OUTPUT_SHAPE = """
import tensorflow as tf

class Liar(tf.keras.layers.Layer):
    def call(self, inputs):
        return tf.reshape(inputs, (tf.shape(inputs)[0], 20))

    def compute_output_shape(self, shape):
        return (shape[0], 5)

model = tf.keras.Sequential([Liar()])
model(tf.random.normal((10, 20)))
tf.saved_model.save(model, "liar")
"""
# It is cast to float32, or refused by a TypeError.
DOUBLE_PRECISION = """
import numpy as np
import tensorflow as tf

picture = np.array([[1.0, 2.0]], dtype=np.float64)
with tf.device("/CPU:0"):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    found = model(picture)
"""
# Memory grows, which is worth a note; whether it ever is too much nobody can see here.
RESULTS_KEPT = """
import tensorflow as tf

model = tf.keras.models.load_model("detector")
results = []
for picture in pictures:
    found = model(picture)
    results.append(found)
"""
HARMLESS = {
    "after_the_session": AFTER_THE_SESSION,
    "out_of_range": OUT_OF_RANGE,
    "changed_afterwards": CHANGED_AFTERWARDS,
    "wrong_output_shape": WRONG_OUTPUT_SHAPE,
    "double_precision": DOUBLE_PRECISION,
}


@pytest.mark.parametrize("name", HARMLESS)
def test_folklore_is_no_problem(name):
    assert looked(PythonSource.of(HARMLESS[name].encode()), "py").problems == ()


def test_results_that_are_kept_are_a_note_at_their_line():
    (problem,) = looked(PythonSource.of(RESULTS_KEPT.encode()), "py").problems
    assert (problem.id, problem.severity, problem.line) == ("py-tensors-kept", "note", 8)


def test_four_sides_of_1024_are_an_error_at_their_line():
    source = b"import tensorflow as tf\nx = tf.random.normal([1024] * 4)\n"
    (problem,) = looked(PythonSource.of(source), "py").problems
    assert (problem.id, problem.severity, problem.line) == ("py-huge-tensor", "error", 2)
