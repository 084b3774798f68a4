#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;

REGISTER_OP("RowSums")
    .Input("table: float")
    .Input("weights: float")
    .Input("image: float")
    .Input("bias: float")
    .Output("sums: float")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      shape_inference::ShapeHandle bias;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(3), 1, &bias));
      c->set_output(0, c->UnknownShape());
      return OkStatus();
    });

class RowSumsOp : public OpKernel {
 public:
  explicit RowSumsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& table = ctx->input(0);
    const Tensor& weights = ctx->input(1);
    OP_REQUIRES(ctx, TensorShapeUtils::IsMatrix(table.shape()),
                errors::InvalidArgument("table must be a matrix"));
    OP_REQUIRES(ctx, weights.dims() == 1, errors::InvalidArgument("weights must be a vector"));
    auto rows = table.matrix<float>();
    auto factors = weights.vec<float>();
    const Tensor& image = ctx->input(2);
    if (!IsImage(image)) return;
    auto pixels = image.tensor<float, 4>();
    auto bias = ctx->input(3).vec<float>();
    Tensor* sums = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, table.shape(), &sums));
    sums->matrix<float>()(0, 0) = rows(0, 0) * factors(0) + pixels(0, 0, 0, 0) + bias(0);
  }
};

REGISTER_KERNEL_BUILDER(Name("RowSums").Device(DEVICE_CPU), RowSumsOp);
