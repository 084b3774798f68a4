import multiprocessing

import tensorflow as tf

model = tf.keras.Sequential()
pool = multiprocessing.Pool(4)  # problem: warning
