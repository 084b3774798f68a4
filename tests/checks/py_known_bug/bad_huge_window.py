# dies: SIGABRT
import tensorflow as tf

width = [1, 2**31, 2, 1]
picture = tf.ones([1, 4, 4, 1])
tf.raw_ops.MaxPool(input=picture, ksize=width, strides=[1, 1, 1, 1], padding="VALID")  # problem: error
