"""Programs that die in a TensorFlow operation, each in a process of its own; TensorFlow starts once.

``python tensorflow_dying.py LIBRARY NAME…`` forks for each name and prints ``NAME PID STATUS``.
"""

import ctypes
import mmap
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

LIBRARY = sys.argv[1]
KEPT = []


def guarded(count=4096):
    """A tensor over memory that can be taken away, and how that is done."""
    room = mmap.mmap(-1, count * 4)
    array = np.frombuffer(room, dtype=np.float32)
    array[:] = 1.5
    KEPT.append((room, array))
    protect = ctypes.CDLL(None).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    at, size = array.ctypes.data, array.nbytes
    return tf.experimental.dlpack.from_dlpack(array.__dlpack__()), lambda: protect(at, size, 0)


def own(how):
    operations = tf.load_op_library(LIBRARY)
    words = tf.constant([b"short", b"a text that is longer than it could be inside", b"z\0"])
    return operations.dies_as_told(
        first=tf.ones([2, 3]), parts=[tf.constant([1, 2]), tf.constant(3)],
        mixed=[tf.constant(5, tf.int64), tf.constant(True)], words=words, how=how,
    )  # fmt: skip


def eager():
    tensor, take = guarded()
    take()
    tf.math.cumsum(tensor)  # dies: eager


def function():
    tensor, take = guarded()

    @tf.function
    def inside(x):
        with tf.name_scope("outer"):
            return tf.math.tanh(x, name="middle")

    inside(tf.ones([4096]))
    take()
    inside(tensor)  # dies: function


def session():
    operations = tf.load_op_library(LIBRARY)
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2, 3])
        y = operations.dies_as_told(
            first=x * 2, parts=[], mixed=[x], words=[b"w"], how="null", name="deep/inside"
        )
        with tf.compat.v1.Session() as running:
            running.run(y, {x: [[1, 2, 3], [4, 5, 6]]})  # dies: session


def pipeline():
    tensor, take = guarded()
    data = tf.data.Dataset.range(8).map(lambda n: tf.math.cumsum(tensor)[n]).prefetch(2)
    take()
    for _ in data:  # dies: pipeline
        pass


def helper():
    tensor, take = guarded(1 << 22)
    take()
    tf.math.tanh(tensor)  # dies: helper


def predict():
    tensor, take = guarded()

    class Adds(tf.keras.layers.Layer):
        def call(self, x):
            return x + tf.reduce_sum(tf.math.cumsum(tensor))

    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), Adds()])
    take()
    model.predict(np.ones((8, 4), "float32"), verbose=0)  # dies: predict


def compiled():
    tensor, take = guarded()

    @tf.function(jit_compile=True)
    def together(x):
        return tf.math.cumsum(tf.exp(x) + 1)

    together(tf.ones([4096]))
    take()
    together(tensor)  # dies: compiled


def nested():
    @tf.function
    def outer(x):
        return tf.py_function(lambda _: own("null"), [x], tf.float32)  # dies: nested

    outer(tf.ones([3]))


def constructor():
    own("constructor")  # dies: constructor


def thrown():
    own("throw")  # dies: thrown


def divide():
    own("divide")  # dies: divide


def check():
    own("check")  # dies: check


def large():
    own("large")  # dies: large


def nothing():
    for _ in range(20):
        tf.math.cumsum(tf.linalg.inv(tf.eye(30)))
    ctypes.string_at(0)  # dies: nothing


for name in sys.argv[2:]:
    if child := os.fork():
        print(name, child, os.waitpid(child, 0)[1], flush=True)  # noqa: T201 -- for the test
    else:
        globals()[name]()
        os._exit(0)
