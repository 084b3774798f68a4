"""The table of public functions fits the table of known bugs, and every row of it can be asked."""

from sigwhy.known_bugs import rows
from sigwhy.public_api import functions, reached
from sigwhy.subjects.python_source import PythonSource


def test_every_bug_of_a_function_is_a_row_that_asks_for_what_the_function_takes():
    known = {row.id for row in rows()}
    assert functions()
    for name, bugs in functions().items():
        for bug in bugs:
            assert bug.row.id in known, name
            assert set(bug.arguments.values()) <= set(bug.parameters), name
            assert {c.argument for c in bug.row.when} <= set(bug.arguments), name


def test_a_raw_operation_is_a_function_too():
    assert reached("tensorflow.raw_ops.MaxPool")
    assert reached("tensorflow.compat.v1.raw_ops.MaxPool")
    assert not reached("tensorflow.raw_ops.Nothing")
    assert reached("tensorflow.compat.v2.nn.max_pool2d") == reached("tensorflow.nn.max_pool2d")


def value(text):
    """What the last expression of a source is."""
    source = PythonSource.of(f"import numpy as np\nimport tensorflow as tf\n{text}\n".encode())
    return source.values.argument(source.tree.body[-1].value)


def test_shapes_are_followed_through_calls():
    seen = {
        "tf.reshape(tf.zeros([4, 6]), [3, -1])": ([3, 8], "float32"),
        "np.random.rand(2, 3).astype(np.float32)": ([2, 3], "float32"),
        "np.array(np.zeros([2], np.float32))": ([2], "float32"),
        "np.full((2, 5), 1)": ([2, 5], ""),
        "np.array([1, 2])": ([2], "int64"),
        "np.array([1.0, 2.0]).reshape(2, 1)": ([2, 1], "float64"),
        "tf.expand_dims(tf.ones([2, 3]), -1)": ([2, 3, 1], "float32"),
        "tf.range(1, 10, 2)": ([5], "int32"),
        "np.arange(3)": ([3], "int64"),
        "tf.ones_like(tf.zeros([2], tf.int8))": ([2], "int8"),
    }
    for text, (shape, dtype) in seen.items():
        found = value(text)
        assert (found.shape, found.dtype) == (shape, dtype), text


def test_what_is_not_known_stays_unknown():
    for text in (
        "tf.reshape(tf.zeros([4]), [3, -1])",
        "tf.reshape(tf.zeros([4]), [-1, -1])",
        "np.random.rand(size)",
        "tf.range(size)",
        "tf.range(0, 1, 0)",
        "tf.expand_dims(tf.ones([2]), 5)",
        "x.astype(np.float32)",
    ):
        assert value(text) is None, text
