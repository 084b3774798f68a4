import tensorflow as tf

model = tf.keras.Sequential()
found = []
for picture in range(100):
    found.append(model(picture))  # problem: note
