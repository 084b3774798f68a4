import tensorflow as tf

interpreter = tf.lite.Interpreter(model_path="model.tflite")
interpreter.allocate_tensors()
copy = interpreter.get_tensor(0)
interpreter.resize_tensor_input(0, [8, 4])
interpreter.allocate_tensors()
view = interpreter.tensor(0)()
print(view.sum(), copy.sum())
