#include "tensorflow/lite/c/c_api.h"
#include "tensorflow/lite/interpreter.h"

float Classify(tflite::Interpreter* interpreter, float value) {
  interpreter->ResizeInputTensor(interpreter->inputs()[0], {1, 1});  // problem: warning
  interpreter->AllocateTensors();  // problem: warning
  *interpreter->typed_input_tensor<float>(0) = value;
  interpreter->Invoke();  // problem: warning
  return *interpreter->typed_output_tensor<float>(0);
}

void Again(TfLiteInterpreter* interpreter) {
  TfLiteInterpreterInvoke(interpreter);  // problem: warning
}
