"""The words by which a failed check tells that an argument, and not memory or a driver, was wrong."""

from __future__ import annotations

import re

# Files whose checks are about arguments: of shapes and tensors, then of single operations.
SHAPES = re.compile(
    r"(?:^|/)(?:tensor_shape|tensor|tensor_util|tensor_types|tensor_format|bounds_check|partial_tensor_shape|shape_inference|pywrap_tensor\w*|pywrap_tfe\w*"
    r"|ndarray|conv_grad_shape_utils|kernel_shape_util)\.\w+$|/infermeta/"
)
OF_SHAPES = re.compile(r"Expected shape dimensions|[Oo]verflow (?:when|from|in) (?:shape )?multipl")
KERNELS = re.compile(
    r"(?:^|/)(?:ragged_\w+|sparse_\w+|matmul_\w+|\w+_ops?(?:_\w+)?|\w+_functor\w*|\w+_kernels?)\.(?:cc|h|cu\.cc|cpp|hpp|cu)$"
    r"|core/kernels/|/phi/kernels/|src/operator/"
)
COMPARED = re.compile(r"^-?\d{1,20} vs\. -?\d{1,20}\b")
ARGUMENT_WORDS = re.compile(
    r"\bdims?(?:ensions?)?\b|dim_size|\bdims_?\(|num_elements|NumElements|num_dims|InitDims|AddDim|[Dd]type|[Rr]ank\b|[Ss]hape|\bsizes?\b|_size\b"
    r"|\bind(?:ex|ices)\b|\baxis\b|depth|stride|num_\w+ ?[<>=]|\blength\b|IsScalar|IsVector|IsMatrix|MultiplyWithoutOverflow|overflow"
    r"|\brows?\b|\bcols?\b|channels|\bbegin\b|\bend\b|new_num|PyErr_Occurred|out of range|negative"
)
# Conditions that blame memory, a driver, a limit or a file, not an argument.
OTHERS = re.compile(
    r"cuda|cudnn|cublas|gpu|nccl|rocm|hip|stream_executor|dso_loader|allocator|bfc_|env(?:_time)?\.|port\.|posix|proto|arena|mutex|/xla/|pjrt|hlo_|mlir|toco|lite/"
    r"|flatbuffer|filesystem|grpc|rendezvous|resource_mgr|registry|register|dlpack|thread\.cc| .*(?:CUDA|CUDNN|IsAligned|pthread|mmap|malloc|nullptr|!= (?:NULL|null)|\bptr\b|file|regist|version|stream\b)"
)
REFUSED = re.compile(
    r"must be|should be|expected|[Ii]ncompatible|out of (?:range|bounds)|not in \[|shape|rank|dimension|size|dtype|valid range"
)
BAD = re.compile(r"^(?:Bad |Sizes of input|Incorrect size|One of |Null pointer|Unsupported format)")
EMPTY_IMAGE = re.compile(r"empty\(\)|width ?> ?0|scn == 3|total\(\) > 0")
KERNEL = re.compile(
    r"\btensorflow::(?!\w*Device::)[\w:<>(), ]{1,400}::Compute.*(?:None|tensorflow[^/]*)$"
)
OTHERS_CODE = re.compile(r"dnnl|mkl|Eigen|xla::|cud|cublas|nccl|LogMessage|abort|terminate")
# Calls that turn bytes of others into values.
DECODES = re.compile(
    r"(?i)(?:^|[._])(?:im)?(?:decode|decompress|deserialize|parse|unpack|inflate|loads?|fromstring|frombytes|from_bytes|from_string|imread|imdecode|read_(?:image|video|parquet|csv|json|feather|orc))(?:_\w+|$)"
)
