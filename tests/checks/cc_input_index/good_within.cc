#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("SumOfMany")
    .Input("first: float")
    .Input("others: N * float")
    .Output("sum: float")
    .Attr("N: int >= 1")
    .SetShapeFn(shape_inference::UnchangedShape);

REGISTER_OP("Twice").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);

class SumOfManyOp : public OpKernel {
 public:
  explicit SumOfManyOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}
  void Compute(OpKernelContext* ctx) override {
    ctx->set_output(0, ctx->input(5));  // how many there are is an attribute
  }
};

class TwiceOp : public OpKernel {
 public:
  explicit TwiceOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}
  void Compute(OpKernelContext* ctx) override { ctx->set_output(0, ctx->input(0)); }
};

// Registered elsewhere: nothing is known of its inputs.
class OtherOp : public OpKernel {
 public:
  explicit OtherOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}
  void Compute(OpKernelContext* ctx) override { ctx->set_output(0, ctx->input(9)); }
};

REGISTER_KERNEL_BUILDER(Name("SumOfMany").Device(DEVICE_CPU), SumOfManyOp);
REGISTER_KERNEL_BUILDER(Name("Twice").Device(DEVICE_CPU), TwiceOp);
REGISTER_KERNEL_BUILDER(Name("Other").Device(DEVICE_CPU), OtherOp);
