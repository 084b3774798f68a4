#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("RowSums")
    .Input("table: float")
    .Input("weights: float")
    .Output("sums: float")
    .SetShapeFn(shape_inference::UnknownShape);

class RowSumsOp : public OpKernel {
 public:
  explicit RowSumsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& table = ctx->input(0);
    OP_REQUIRES(ctx, table.NumElements() > 0, errors::InvalidArgument("the table is empty"));
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, table.shape(), &sums));
    auto rows = table.matrix<float>();  // problem: warning
    auto weights = ctx->input(1).vec<float>();  // problem: warning
    for (int64_t row = 0; row < rows.dimension(0); ++row) {
      sums->flat<float>()(row) = rows(row, 0) * weights(row);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("RowSums").Device(DEVICE_CPU), RowSumsOp);
