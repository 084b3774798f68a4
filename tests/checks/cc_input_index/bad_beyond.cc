#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("Mix")
    .Attr("T: {float, double}")
    .Input("left: T")
    .Input("right: T")
    .Output("mixed: T")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(0));
      return OkStatus();
    });

template <typename T>
class MixOp : public OpKernel {
 public:
  explicit MixOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& left = ctx->input(1);
    const Tensor& right = ctx->input(2);  // problem: error
    Tensor* mixed = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, left.shape(), &mixed));  // problem: warning
    mixed->flat<T>() = left.flat<T>() + right.flat<T>();
    ctx->set_output(3, left);  // problem: error
  }
};

#define REGISTER(type)                                                \
  REGISTER_KERNEL_BUILDER(                                            \
      Name("Mix").Device(DEVICE_CPU).TypeConstraint<type>("T"),       \
      MixOp<type>)
REGISTER(float);
REGISTER(double);
