#include "tensorflow/lite/interpreter.h"

bool Classify(tflite::Interpreter* interpreter, float value) {
  if (interpreter->AllocateTensors() != kTfLiteOk) return false;
  *interpreter->typed_input_tensor<float>(0) = value;
  TfLiteStatus status = interpreter->Invoke();
  if (status != kTfLiteOk) return false;
  TFLITE_MINIMAL_CHECK(interpreter->Invoke() == kTfLiteOk);
  return interpreter->Invoke() == kTfLiteOk;
}
