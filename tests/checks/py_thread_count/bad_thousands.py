import tensorflow as tf

many = 10_000
options = tf.data.Options()
options.threading.private_threadpool_size = many  # problem: warning
