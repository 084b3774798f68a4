import os

import tensorflow as tf

a = tf.random.normal((1000, 1000))
tf.linalg.matmul(a, a)
if os.fork() == 0:  # problem: error
    tf.linalg.matmul(a, a)
    os._exit(0)
os.wait()
