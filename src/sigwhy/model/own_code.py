"""What tells the code of the user from that of others: folders, names of ops, the ways in which Python calls them."""

from __future__ import annotations

import re

# Trees that somebody else wrote, as they stand in paths of frames.
FOREIGN = re.compile(
    r"conda|jenkins|/runner/|AppleInternal|/builder|(?:^|[/\\])(?:tensorflow(?:[-_](?:src|text|io|addons|\d\S*))?|pytorch|torch(?:vision|audio|text)?|aten|c10|caffe2|deeplearning|fbgemm"
    r"|xla|tsl|jaxlib|mlir|llvm|numpy|scipy|pandas|cpython|opencv\w*|grpc|protobuf|abseil\w*|[Ee]igen\w*|onnx\w*|arrow|hdf5|h5py|flatbuffers|lib\w+-\d[\w.]*|\w+-\d+\.\d[\w.]*)[/\\]"
)
OVERRUN = re.compile(r"overflow|out-of-bounds|Invalid write|Invalid read")
HOME = re.compile(
    r"^(?:/home/|/Users/|/root/|/work(?:space)?/|/tmp/|/data/|/mnt/|/content/|/app/|~|\./|[A-Za-z]:[\\/]Users)"
)
# What shows that the frame is an op or an extension which Python called.
AN_OP = re.compile(
    r"OpKernelContext|::Compute(?:Async)?\(|TfLiteContext|_op(?:s|_kernel|_kernels)?\.(?:cc|cpp|cu)|_(?:op|ops|ext|kernel|cuda)\w*\.(?:so|cc|cu|cpp)|torch_extensions|at::Tensor|torch::Tensor|py::|pybind11|PyObject"
)
CALLED = re.compile(
    r"ffi_call|_ctypes|ctypes_callproc|PyCFuncPtr_call|load_op_library|pybind11::cpp_function|cfunction_call|_cffi|TFE_Py|ExecutorState|Device::Compute|torch_extensions|PyInit_"
)
