import tensorflow as tf

x = tf.constant([1.0])
x.note = "mine"
del x.note
del x
