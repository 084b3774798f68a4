#include <stdexcept>
#include <string>

#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

int Parsed(const std::string& word) {
  if (word.empty()) throw std::invalid_argument("no word");
  return std::stoi(word);
}

class ParseOp : public OpKernel {
 public:
  explicit ParseOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    try {
      number_ = std::stoi(std::string(ctx->input(0).flat<tstring>()(0)));
      if (number_ < 0) throw std::out_of_range("below zero");
    } catch (const std::exception& error) {
      ctx->SetStatus(errors::InvalidArgument(error.what()));
    }
  }

 private:
  int number_;
};
