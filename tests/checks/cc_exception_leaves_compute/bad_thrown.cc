#include <stdexcept>
#include <string>

#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

class ParseOp : public OpKernel {
 public:
  explicit ParseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& words = ctx->input(0);
    if (words.NumElements() == 0) {
      throw std::invalid_argument("no words");  // problem: warning
    }
    int number = std::stoi(std::string(words.flat<tstring>()(0)));  // problem: warning
    try {
      Use(number);
    } catch (const std::exception& error) {
      throw;  // problem: warning
    }
  }
};
