#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

class DoubleOp : public OpKernel {
 public:
  explicit DoubleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    Tensor result(DT_FLOAT, TensorShape({}));
    ctx->set_output(0, result);
    if (ctx->num_outputs() > 1) {
      ctx->set_output(1, result);
    }
    result.flat<float>()(0) = 2.0f;
    ctx->set_output(0, result);  // problem: error
  }
};
