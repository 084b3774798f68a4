// A custom operation that dies as it is told to, with an attribute of every kind.
#include <stdexcept>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;

REGISTER_OP("DiesAsTold")
    .Input("first: T")
    .Input("parts: N * int32")
    .Input("mixed: M")
    .Input("words: string")
    .Output("out: T")
    .Attr("T: {float, double}")
    .Attr("N: int >= 0")
    .Attr("M: list(type)")
    .Attr("how: string = 'null'")
    .Attr("sizes: list(int) = [3, 4, 5]")
    .Attr("one: list(int) = [9]")
    .Attr("ratio: float = 0.5")
    .Attr("ratios: list(float) = [0.5, 1.5]")
    .Attr("flag: bool = true")
    .Attr("flags: list(bool) = [true, false, true, true]")
    .Attr("kind: type = DT_INT64")
    .Attr("form: shape = {dim {size: 2} dim {size: 3}}")
    .Attr("forms: list(shape) = [{dim {size: 7}}, {dim {size: 8} dim {size: 9}}]")
    .Attr("names: list(string) = ['a', 'bc']")
    .Attr("f: func = {name: 'nothing'}")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      c->set_output(0, c->UnknownShape());
      return tensorflow::Status();
    });

__attribute__((noinline)) void LargeArray() {
  volatile char array[64 << 20];
  array[0] = 1;
  array[sizeof(array) / 2] = array[0];
}

class DiesAsTold : public OpKernel {
 public:
  explicit DiesAsTold(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("how", &how_));
    if (how_ == "constructor") *static_cast<volatile int*>(nullptr) = 1;
  }

  void Compute(OpKernelContext* c) override {
    volatile int zero = 0;
    if (how_ == "null") *static_cast<volatile int*>(nullptr) = 1;
    if (how_ == "throw") throw std::runtime_error("thrown by the kernel");
    if (how_ == "divide") zero = 7 / zero;
    if (how_ == "check") CHECK_EQ(zero, 1) << "by hand";
    if (how_ == "large") LargeArray();
    c->set_output(0, c->input(0));
  }

 private:
  std::string how_;
};

REGISTER_KERNEL_BUILDER(Name("DiesAsTold").Device(tensorflow::DEVICE_CPU), DiesAsTold);

}  // namespace
