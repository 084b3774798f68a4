#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;

Status MakeRoom(OpKernelContext* ctx, Tensor* room) {
  return ctx->allocate_temp(DT_FLOAT, ctx->input(0).shape(), room);
}

class ScaleOp : public OpKernel {
 public:
  explicit ScaleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("scale", &scale_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor* given = nullptr;
    OP_REQUIRES_OK(ctx, ctx->input("given", &given));
    Tensor* scaled = nullptr;
    Status status = ctx->allocate_output(0, given->shape(), &scaled);
    if (!status.ok()) {
      ctx->SetStatus(status);
      return;
    }
    Tensor room;
    OP_REQUIRES_OK(ctx, MakeRoom(ctx, &room));
    scaled->flat<float>() = given->flat<float>() * scale_;
  }

 private:
  float scale_;
};
