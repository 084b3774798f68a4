#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {

void CopyOp::Compute(OpKernelContext* context) {
  Tensor* made = nullptr;
  OP_REQUIRES_OK(context, context->allocate_output(0, context->input(0).shape(), &made));
  if (context->input(0).NumElements() == 0) {
    context->set_output(0, context->input(0));  // problem: error
    return;
  }
  made->flat<float>() = context->input(0).flat<float>();
}

}  // namespace tensorflow
