#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

bool Run(const char* path) {
  auto model = tflite::FlatBufferModel::BuildFromFile(path);
  if (!model) return false;
  tflite::ops::builtin::BuiltinOpResolver resolver;
  std::unique_ptr<tflite::Interpreter> interpreter;
  if (tflite::InterpreterBuilder(*model, resolver)(&interpreter) != kTfLiteOk) return false;
  model.reset();  // problem: error
  if (interpreter->AllocateTensors() != kTfLiteOk) return false;
  return interpreter->Invoke() == kTfLiteOk;
}
