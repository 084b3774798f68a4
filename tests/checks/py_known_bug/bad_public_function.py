# dies: SIGABRT
import numpy as np
import tensorflow as tf

window = np.ones(16).astype(np.float32).reshape(1, 4, 4, 1)
tf.nn.max_pool2d(window, [1, 2**31, 2, 1], [1, 1, 1, 1], "VALID")  # problem: error
