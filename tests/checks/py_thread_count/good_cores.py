import os

import tensorflow as tf

tf.config.threading.set_inter_op_parallelism_threads(-1)
tf.config.threading.set_intra_op_parallelism_threads(os.cpu_count())
