# dies: SIGSEGV
import tensorflow as tf

DEPTH = 200_000

box = tf.constant(1)
for _ in range(DEPTH):
    box = tf.raw_ops.OptionalFromValue(components=[box])  # problem: warning
del box
