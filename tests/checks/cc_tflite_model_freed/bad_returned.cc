#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

std::unique_ptr<tflite::Interpreter> Load(const char* path) {
  auto model = tflite::FlatBufferModel::BuildFromFile(path);
  if (!model) return nullptr;
  tflite::ops::builtin::BuiltinOpResolver resolver;
  std::unique_ptr<tflite::Interpreter> interpreter;
  tflite::InterpreterBuilder(*model, resolver)(&interpreter);
  return interpreter;  // problem: error
}

class Classifier {
 public:
  bool Load(const char* path) {
    auto model = tflite::FlatBufferModel::BuildFromFile(path);  // problem: error
    if (!model) return false;
    tflite::ops::builtin::BuiltinOpResolver resolver;
    tflite::InterpreterBuilder builder(*model, resolver);
    return builder(&interpreter_) == kTfLiteOk;
  }

 private:
  std::unique_ptr<tflite::Interpreter> interpreter_;
};
