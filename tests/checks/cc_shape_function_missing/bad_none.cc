#include "tensorflow/core/framework/op.h"

REGISTER_OP("Fold")  // problem: note
    .Input("given: float")
    .Output("folded: float");
