import tensorflow as tf

side = 1024
picture = tf.zeros([side, side])
