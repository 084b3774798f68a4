import tensorflow as tf

numbers = []
total = tf.constant(0)
for step in range(200_000):
    numbers.append(step)
    total = total + step
for _ in range(100):
    numbers = [numbers]
