#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

class PassOp : public OpKernel {
 public:
  explicit PassOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& given = ctx->input(0);
    if (given.NumElements() == 0) {
      ctx->set_output(0, given);
      return;
    } else if (given.NumElements() == 1) {
      ctx->set_output(0, given);
    } else {
      Tensor* made = nullptr;
      OP_REQUIRES_OK(ctx, ctx->allocate_output(0, given.shape(), &made));
      made->flat<float>() = given.flat<float>();
    }
    switch (given.dims()) {
      case 0:
        ctx->set_output(1, given);
        break;
      default:
        ctx->set_output(1, given);
    }
  }
};
