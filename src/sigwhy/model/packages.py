"""Packages with native code as people know them: much used ones, and those that have causes of their own."""

from __future__ import annotations

import re

# Libraries whose crashes have causes of their own: GPU and GUI toolkits, OpenMP, protobuf, gRPC.
BETTER_KNOWN = re.compile(
    r"cuda|cudnn|cublas|cufft|nccl|nvidia|nvrtc|amdgpu|libhip|rocm|libroc|libgomp|libi?omp5?|vcomp|mkl|protobuf"
    r"|grpc|\bqt|libqt|pyqt|pyside|libx11|libxcb|libgl|matplotlib|tkinter|libtcl|libtk|metal|libmps|nvoglv|protobuf|libdrm",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"deallocating (?:None|True|False|Ellipsis|NotImplemented)|negative ref ?count|refcount error"
)
DAMAGE = re.compile(
    r"use-after|overflow|SEGV|double-free|bad-free|Invalid|out-of-bounds|null pointer"
)
# Packages so widely used that a crash in them is nearly always a matter of what they were given.
MUCH_USED = re.compile(
    r"^_?(?:numpy|scipy|pandas|pyarrow|sklearn|torch\w*|cv2|PIL|h5py|lxml|google|grpc|cffi|_cffi_backend|llvmlite|numba|pyarrow|polars|tables|jaxlib|onnx\w*|tensorflow\w*|keras|cryptography|psycopg\w*|shapely|netCDF4|zmq|yaml|matplotlib)$"
)
# A path from the top of somebody's source tree; a bare file name is none.
SOURCES = re.compile(r"[/\\]")
OF_PYTHON = re.compile(r"^_?Py[A-Z]|^__pyx_|^_PyEval|cfunction_|method_vectorcall|^PyInit_")
