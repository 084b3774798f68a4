#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

int main(int argc, char** argv) {
  auto model = tflite::FlatBufferModel::BuildFromFile(argv[1]);
  tflite::ops::builtin::BuiltinOpResolver resolver;
  std::unique_ptr<tflite::Interpreter> interpreter;
  tflite::InterpreterBuilder builder(*model, resolver);  // problem: warning
  if (builder(&interpreter) != kTfLiteOk) return 1;
  return interpreter->AllocateTensors() == kTfLiteOk ? 0 : 1;
}

void C(const char* path, TfLiteInterpreterOptions* options) {
  TfLiteModel* model = TfLiteModelCreateFromFile(path);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);  // problem: warning
}
