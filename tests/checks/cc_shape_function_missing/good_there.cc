#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"

REGISTER_OP("Fold")
    .Input("given: float")
    .Output("folded: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      tensorflow::shape_inference::ShapeHandle given;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &given));
      c->set_output(0, given);
      return tensorflow::OkStatus();
    });

REGISTER_OP("Forget").Input("given: float").SetIsStateful();
