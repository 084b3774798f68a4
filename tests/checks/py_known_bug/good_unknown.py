import sys

import tensorflow as tf

width = [1, 2**31, 2, 1]
width[1] = int(sys.argv[1])
tf.raw_ops.MaxPool(input=tf.ones([1, 4, 4, 1]), ksize=width, strides=[1, 1, 1, 1], padding="VALID")
