"""Programs over arrays that really die, and what of them must be named.

``LEND`` gives an array over memory of which ``take_away`` makes a hole. Each row: the code, the
framework, what was called, the guilty argument as the user or the package calls it, and the causes
that are right. Without a framework nothing may be named.
"""

from typing import NamedTuple

LEND = """\
import ctypes, numpy as np
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
SIZE = 1 << 20
def lend(kind=ctypes.c_double, protection=3):
    at = libc.mmap(None, SIZE, protection, 0x22, -1, 0)
    count = SIZE // ctypes.sizeof(kind)
    return np.ctypeslib.as_array((kind * count).from_address(at)), at
def take_away(at):
    libc.mprotect(at, SIZE, 0)
"""
GONE = LEND + "lent, at = lend()\ntake_away(at)\n"
GONE_BYTES = (
    LEND + "lent, at = lend(ctypes.c_uint8)\nlent = lent.reshape(1024, 1024)\ntake_away(at)\n"
)
EYE = "import numpy as np, scipy.sparse as sp\nm = sp.csr_matrix(np.eye(1000))\n"
MEMORY = {"buffer-aliasing"}
ARGUMENT = {"op-argument", "malformed-input"}


class Program(NamedTuple):
    """One program, and what must be said of it."""

    code: str
    framework: str | None = None
    op: str | None = None
    guilty: str | None = None
    causes: frozenset = frozenset(MEMORY)


PROGRAMS = {
    "an operator": Program(GONE + "bias = np.ones(lent.size)\nbias + lent", "numpy", "numpy.add", "lent"),
    "a function": Program(GONE + "np.multiply(lent, 2.0)", "numpy", "numpy.multiply", "lent"),
    "a reduction": Program(GONE + "lent.sum()", "numpy", "numpy.ndarray.sum", "lent"),
    "a sort": Program(GONE + "np.sort(lent)", "numpy", "numpy.sort", "lent"),
    "a product of matrices": Program(
        GONE + "w = lent[:65536].reshape(256, 256)\nx = np.ones((256, 256))\nw @ x", "numpy", "numpy.matmul", "w"
    ),
    "an inverse": Program(
        GONE + "w = lent[:256].reshape(16, 16)\nnp.linalg.inv(w)", "numpy", "numpy.linalg.inv", "w"
    ),
    "pieces put together": Program(
        GONE + "np.concatenate([np.zeros(3), lent])", "numpy", "numpy.concatenate", "lent"
    ),
    "an assignment": Program(GONE + "lent[5:7] = 3.0", "numpy", "numpy.ndarray.__setitem__", "lent"),
    "a choice of elements": Program(
        GONE + "chosen = np.array([1, 5])\nlent[chosen]", "numpy", "numpy.ndarray.__getitem__", "lent"
    ),
    "an attribute in a method": Program(
        GONE + "class Layer:\n    def __init__(self, weights):\n        self.weights = weights\n"
        "    def forward(self, x):\n        return np.dot(self.weights, x)\n"
        "layer = Layer(lent)\ndel lent\nlayer.forward(np.ones(SIZE // 8))",
        "numpy", "numpy.dot", "self.weights",
    ),
    "a thread of Python": Program(
        GONE + "import threading\ndef work(values):\n    values.max()\n"
        "t = threading.Thread(target=work, args=(lent,))\nt.start()\nt.join()",
        "numpy", "numpy.ndarray.max", "values",
    ),
    "a view that is larger than its array": Program(
        "import numpy as np\nsmall = np.zeros(16)\n"
        "wide = np.lib.stride_tricks.as_strided(small, (1 << 40,), (8,))\nnp.add.reduce(wide)",
        "numpy", "numpy.add.reduce", "wide",
    ),
    "an array that was made small": Program(
        "import numpy as np\nbig = np.zeros(10_000_000)\nview = big[5_000_000:]\n"
        "big.resize(10, refcheck=False)\nview.sum()",
        "numpy", "numpy.ndarray.sum", "view",
    ),
    "a file that was cut": Program(
        "import numpy as np, os\nnp.zeros(100_000).tofile('x.bin')\n"
        "mapped = np.memmap('x.bin', mode='r')\nos.truncate('x.bin', 0)\nmapped.sum()",
        "numpy", "numpy.memmap.sum", "mapped", frozenset({"file-truncated"}),
    ),
    "a write to what may only be read": Program(
        LEND + "table, _ = lend(protection=1)\ntable.fill(1.0)",
        "numpy", "numpy.ndarray.fill", "table", frozenset({"buffer-aliasing", "op-argument"}),
    ),
    "bytes taken for objects": Program(
        "import numpy as np\nraw = bytearray(b'ABCDEFGH' * 4)\n"
        "odd = np.ndarray(4, dtype=object, buffer=raw)\nodd.sum()",
        "numpy", "numpy.ndarray.sum", "odd", frozenset({"interpreter-abuse", "buffer-aliasing"}),
    ),
    "shared memory that was closed": Program(
        "import numpy as np\nfrom multiprocessing import shared_memory\n"
        "shm = shared_memory.SharedMemory(create=True, size=1 << 20)\nshm.unlink()\n"
        "shared = np.ndarray((1 << 17,), dtype=float, buffer=shm.buf)\nshm.close()\nshared.mean()",
        "numpy", "numpy.ndarray.mean", "shared",
    ),
    "a sparse product": Program(
        EYE + "m.indices[5] = 2_000_000_000\nm @ np.ones(1000)",
        "scipy", "scipy.sparse.csr_matrix.__matmul__", "m.indices", frozenset(ARGUMENT),
    ),
    "a sparse product far from the beginning": Program(
        EYE + "m.indices[700] = -2_000_000_000\nv = np.ones(1000)\nm.dot(v)",
        "scipy", "scipy.sparse.csr_matrix.dot", "m.indices[700]", frozenset(ARGUMENT),
    ),
    "coordinates": Program(
        "import numpy as np, scipy.sparse as sp\nrows = np.arange(50, dtype=np.int32)\n"
        "c = sp.coo_matrix((np.ones(50), (rows, rows)), shape=(50, 50))\n"
        "c.coords[0][7] = 1_900_000_000\nc.tocsr()",
        "scipy", "scipy.sparse.coo_matrix.tocsr", None, frozenset(ARGUMENT),
    ),
    "a matrix times a matrix": Program(
        EYE + "n = m.copy()\nm.indices[0] = 1_500_000_000\nm @ n",
        "scipy", "scipy.sparse.csr_matrix.__matmul__", "m.indices", frozenset(ARGUMENT),
    ),
    "a filter of an image": Program(
        GONE + "from scipy import ndimage\npicture = lent[:65536].reshape(256, 256)\n"
        "ndimage.gaussian_filter(picture, 2)",
        "scipy", "scipy.ndimage.gaussian_filter", "picture",
    ),
    "pandas takes": Program(
        "import numpy as np\nfrom pandas.core.algorithms import take_nd\nprices = np.ones(100)\n"
        "wanted = np.array([1, 2, 1_800_000_000], dtype=np.intp)\ntake_nd(prices, wanted)",
        "pandas", "pandas.take_nd", "wanted", frozenset(ARGUMENT),
    ),
    "a column of pandas": Program(
        GONE + "import pandas as pd\ns = pd.Series(lent, copy=False)\ns.cumsum()",
        "pandas", "pandas.Series.cumsum", None,
    ),
    "an image": Program(
        GONE_BYTES + "import cv2\ncv2.resize(lent, (10, 10))", "opencv", "cv2.resize", "lent"
    ),
    "an image in a method": Program(
        GONE_BYTES + "import cv2\nfinder = cv2.ORB_create()\nfinder.detect(lent, None)",
        "opencv", "cv2.ORB.detect", "lent",
    ),
    "a grid of nothing": Program(
        "import cv2, numpy as np\nclahe = cv2.createCLAHE(2.0, (0, 0))\n"
        "clahe.apply(np.zeros((64, 64), np.uint8))",
        "opencv", "cv2.CLAHE.apply", None, frozenset({"op-argument"}),
    ),
    "a foreign buffer": Program(
        GONE + "import pyarrow as pa, pyarrow.compute as pc\nbuffer = pa.foreign_buffer(at, SIZE)\n"
        "column = pa.Array.from_buffers(pa.float64(), SIZE // 8, [None, buffer])\npc.max(column)",
        "pyarrow", "pyarrow.compute.max", None,
    ),
    "words of Arrow": Program(
        "import pyarrow as pa, numpy as np\nends = pa.py_buffer(np.array([0, 1 << 30, 5], np.int32))\n"
        "words = pa.Array.from_buffers(pa.string(), 2, [None, ends, pa.py_buffer(b'hello')])\n"
        "words.to_numpy(zero_copy_only=False)",
        "pyarrow", "pyarrow.StringArray.to_numpy", None, frozenset(ARGUMENT | MEMORY),
    ),
    "a dataset": Program(
        GONE + "import h5py\nwith h5py.File('x.h5', 'w') as file:\n"
        "    data = file.create_dataset('d', (lent.size,))\n    data[...] = lent",
        "h5py", "h5py.Dataset.__setitem__", "lent",
    ),
    "a sum over letters": Program(
        GONE + "left = lent[:4096].reshape(64, 64)\nnp.einsum('ij,jk->ik', np.eye(64), left)",
        "numpy", "numpy.einsum", "left",
    ),
    "a sparse matrix on its side": Program(
        "import numpy as np, scipy.sparse as sp\ndef solve(table, x):\n    return table.T @ x\n"
        "table = sp.csc_array(np.eye(300))\ntable.indices[250] = 1_700_000_000\n"
        "solve(table, np.ones(300))",
        "scipy", "scipy.sparse.csr_array.__matmul__", "table.indices[250]", frozenset(ARGUMENT),
    ),
    "a photo in a function": Program(
        GONE_BYTES + "import cv2\ndef soften(photo):\n    return cv2.GaussianBlur(photo, (5, 5), 0)\n"
        "soften(lent)",
        "opencv", "cv2.GaussianBlur", "photo",
    ),
    "groups": Program(
        GONE + "import pandas as pd\nframe = pd.DataFrame({'v': np.arange(SIZE // 8)})\n"
        "labels = pd.Series(lent, copy=False)\nframe.groupby(labels).sum()",
        "pandas", "pandas.DataFrame.groupby", "lent",
    ),
    "a filter of a signal": Program(
        GONE + "from scipy import signal\nsignal.lfilter(np.array([0.5, 0.5]), [1.0], lent)",
        "scipy", "scipy.signal.lfilter", "lent",
    ),
    "a table of Arrow": Program(
        GONE + "import pyarrow as pa\nbuffers = [None, pa.foreign_buffer(at, SIZE)]\n"
        "column = pa.Array.from_buffers(pa.float64(), SIZE // 8, buffers)\n"
        "table = pa.table({'x': column})\ntable.sort_by('x')",
        "pyarrow", "pyarrow.Table.sort_by", None,
    ),
    "no array was touched": Program(
        "import ctypes, numpy as np\na = np.ones(3) + 1\nctypes.string_at(16)",
        causes=frozenset({"interpreter-abuse"}),
    ),
    "it ended itself": Program(
        "import os, numpy as np\na = np.ones(3) + 1\nnp.sort(a)\nos.abort()",
        causes=frozenset({"self-abort"}),
    ),
    "a callback from C": Program(
        "import ctypes, numpy as np\nnp.apply_along_axis(lambda _: ctypes.string_at(16), 0, np.ones(3))",
        causes=frozenset({"interpreter-abuse"}),
    ),
}  # fmt: skip
