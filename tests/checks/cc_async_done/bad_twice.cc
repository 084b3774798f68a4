#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

void TwiceOp::ComputeAsync(OpKernelContext* ctx, DoneCallback done) {
  done();
  if (ctx->num_inputs() > 1) {
    ctx->set_output(0, ctx->input(0));
    done();  // problem: error
  }
}
