import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(-1)  # problem: error
