#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

class WaitOp : public AsyncOpKernel {
 public:
  explicit WaitOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {}

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    if (ctx->num_inputs() == 0) {
      return;  // problem: error
    }
    OP_REQUIRES(ctx, ctx->num_inputs() < 9, errors::InvalidArgument("too many"));  // problem: warning
    ctx->set_output(0, ctx->input(0));
    done();
  }
};

class NeverOp : public AsyncOpKernel {
 public:
  explicit NeverOp(OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {}

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {  // problem: error
    ctx->set_output(0, ctx->input(0));
  }
};
