# dies: SIGABRT
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(-1)  # problem: error
a = tf.ones([300, 300])
print(tf.matmul(a, a))
