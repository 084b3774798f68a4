# dies: SIGSEGV
import tensorflow as tf

x = tf.constant([1.0])
del x._handle_data  # problem: error
print(x._handle_data)
