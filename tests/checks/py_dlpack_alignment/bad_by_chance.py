import numpy as np
import tensorflow as tf

numbers = np.ones(1000, dtype=np.float32)
tensor = tf.experimental.dlpack.from_dlpack(numbers.__dlpack__())  # problem: warning
