#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

class ScaleOp : public OpKernel {
 public:
  explicit ScaleOp(OpKernelConstruction* construction) : OpKernel(construction) {
    construction->GetAttr("scale", &scale_);  // problem: warning
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor* given = nullptr;
    ctx->input("given", &given);  // problem: warning
    Tensor* scaled = nullptr;
    ctx->allocate_output(0, given->shape(), &scaled);  // problem: warning
    Tensor room;
    (void)ctx->allocate_temp(DT_FLOAT, given->shape(), &room);  // problem: warning
    scaled->flat<float>() = given->flat<float>() * scale_;
  }

 private:
  float scale_;
};
