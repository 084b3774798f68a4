# dies: SIGABRT
import numpy as np
import tensorflow as tf

numbers = np.arange(1025, dtype=np.float32)
tail = numbers[1:]
tensor = tf.experimental.dlpack.from_dlpack(tail.__dlpack__())  # problem: error
print(tensor + 1.0)
