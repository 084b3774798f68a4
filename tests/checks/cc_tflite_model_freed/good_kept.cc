#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

class Classifier {
 public:
  bool Load(const char* path) {
    auto model = tflite::FlatBufferModel::BuildFromFile(path);
    if (!model) return false;
    tflite::ops::builtin::BuiltinOpResolver resolver;
    tflite::InterpreterBuilder builder(*model, resolver);
    if (builder(&interpreter_) != kTfLiteOk) return false;
    model_ = std::move(model);
    return true;
  }

 private:
  std::unique_ptr<tflite::FlatBufferModel> model_;
  std::unique_ptr<tflite::Interpreter> interpreter_;
};

bool Run(const char* path) {
  auto model = tflite::FlatBufferModel::BuildFromFile(path);
  if (!model) return false;
  tflite::ops::builtin::BuiltinOpResolver resolver;
  std::unique_ptr<tflite::Interpreter> interpreter;
  if (tflite::InterpreterBuilder(*model, resolver)(&interpreter) != kTfLiteOk) return false;
  if (interpreter->AllocateTensors() != kTfLiteOk) return false;
  bool done = interpreter->Invoke() == kTfLiteOk;
  interpreter.reset();
  return done;
}
