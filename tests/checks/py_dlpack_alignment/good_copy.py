import numpy as np
import tensorflow as tf

numbers = np.arange(1025, dtype=np.float32)
tensor = tf.constant(numbers[1:])
other = tf.experimental.dlpack.from_dlpack(numbers[16:].__dlpack__())
