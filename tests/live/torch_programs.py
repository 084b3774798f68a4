"""Small programs that die inside of PyTorch, each in one known way, and what was in it.

``op`` is the operator without its namespace, ``guilty`` the argument to blame, ``holder`` the variable
that holds it. Where no operator was involved all are empty.
"""

import textwrap
from typing import NamedTuple

# What every program begins with. A process forks all of them, so that PyTorch is loaded once.
PRELUDE = "import torch; BIG = 1 << 40\n"


class Program(NamedTuple):
    """A program, the operator in which it dies, and the argument because of which it does."""

    code: str
    op: str = ""
    guilty: str = ""
    holder: str = ""
    cause: str = ""

    @property
    def source(self):
        return PRELUDE + textwrap.dedent(self.code).strip() + "\n"


FREED = "b = torch.ones(64, 64); b.untyped_storage().resize_(0)"
ALIASING, ARGUMENT, TRUNCATED = "buffer-aliasing", "op-argument", "file-truncated"
SPARSE = "check_invariants=False"
PROTECTED = """
import ctypes, mmap
def lent(t):
    global room, libc
    room = mmap.mmap(-1, max(t.numel() * t.element_size(), 4096))
    x = torch.frombuffer(room, dtype=t.dtype, count=t.numel()).view(t.shape); x.copy_(t)
    return x
def protect(x):
    libc = ctypes.CDLL(None)
    libc.mprotect(ctypes.c_void_p(x.untyped_storage().data_ptr()), ctypes.c_size_t(len(room)), 0)
"""

PROGRAMS = {
    # ---- storage that was freed or made smaller
    "function": Program(f"{FREED}; a = torch.ones(64, 64)\ntorch.add(a, b, alpha=2)", "add", "other", "b", ALIASING),
    "method in place": Program(f"{FREED}; a = torch.ones(64, 64)\na.addcmul_(b, a, value=3)", "addcmul_", "tensor1", "b", ALIASING),
    "operator": Program(f"{FREED}; a = torch.ones(64, 64)\na * b", "mul", "other", "b", ALIASING),
    "method of the freed one": Program(f"{FREED}\nb.cumsum(0)", "cumsum", "self", "b", ALIASING),
    "list of tensors": Program(f"{FREED}; many = [torch.ones(64, 64), b]\ntorch.cat(many, dim=1)", "cat", "tensors[1]", "b", ALIASING),
    "many at once": Program(f"{FREED}; many = [torch.ones(64, 64), b]\ntorch._foreach_mul_(many, 2.0)", "_foreach_mul_", "self[1]", "b", ALIASING),
    "weights of a layer": Program(
        """
        import numpy
        rows = numpy.ones((1 << 12, 1 << 12), dtype="float32"); weight = torch.from_numpy(rows)
        layer = torch.nn.Linear(1 << 12, 1 << 12); layer.weight.data = weight
        rows.resize(4, refcheck=False)
        layer(torch.ones(4, 1 << 12))
        """, "linear", "weight", "weight", ALIASING),
    "recurrent": Program(
        """
        layer = torch.nn.LSTM(16, 16, 2); lost = layer.weight_hh_l1
        with torch.no_grad():
            lost.untyped_storage().resize_(0)
        layer(torch.ones(5, 3, 16))
        """, "lstm", "params[5]", "lost", ALIASING),
    "a view that is too large": Program(
        """
        big = torch.ones(1 << 26)
        view = big.as_strided((1 << 13, 1 << 13), (1 << 13, 1))
        big.untyped_storage().resize_(64)
        torch.exp(view)
        """, "exp", "input", "view", ALIASING),
    "sorted in a Python thread": Program(
        f"""
        import threading
        {FREED}
        def work(x):
            torch.sort(x, descending=True)
        one = threading.Thread(target=work, args=(b,)); one.start(); one.join()
        """, "sort", "input", "x", ALIASING),
    "printed": Program(f"{PROTECTED}\na = lent(torch.ones(4096)); protect(a)\na.sum().item()", "sum", "self", "a", ALIASING),
    "set by index": Program(f"{PROTECTED}\na = lent(torch.ones(4096)); protect(a)\na[3] = 5.0", "copy_", "self", "a"),
    "picked by index": Program(f"{PROTECTED}\na = lent(torch.ones(4096)); protect(a)\na[torch.tensor([1, 2])]", "index", "operand 1 of index", "a", ALIASING),
    "quantised": Program(f"{PROTECTED}\na = lent(torch.ones(64, 64)); protect(a)\ntorch.quantize_per_tensor(a, 0.1, 0, torch.quint8)", "quantize_per_tensor", "input", "a", ALIASING),
    "product of batches": Program(f"{PROTECTED}\na = lent(torch.ones(8, 64, 64)); protect(a)\ntorch.ones(8, 64, 64) @ a", "matmul", "other", "a", ALIASING),
    "attention": Program(
        f"{PROTECTED}\nkey = lent(torch.ones(1, 2, 64, 32)); protect(key); q = torch.ones(1, 2, 64, 32)\n"
        "torch.nn.functional.scaled_dot_product_attention(q, key, q)", "scaled_dot_product_attention", "key", "key", ALIASING),
    # ---- memory of somebody else
    "array that was resized": Program(
        """
        import numpy
        a = numpy.ones(1 << 23); t = torch.from_numpy(a)
        a.resize(4, refcheck=False)
        torch.softmax(t, 0)
        """, "softmax", "input", "t", ALIASING),
    "array by DLPack": Program(
        """
        import numpy
        a = numpy.ones(1 << 23); t = torch.from_dlpack(a)
        a.resize(4, refcheck=False)
        t.max()
        """, "max", "self", "t", ALIASING),
    "file that shrank": Program(
        """
        import os
        name = f"{os.getpid()}.bin"; open(name, "wb").write(b"1" * 40000)
        t = torch.from_file(name, shared=True, size=10000)
        os.truncate(name, 0)
        torch.square(t)
        """, "square", "input", "t", TRUNCATED),
    "shared memory that shrank": Program(
        """
        import os, glob
        torch.multiprocessing.set_sharing_strategy("file_system")
        t = torch.ones(1 << 16).share_memory_()
        for path in glob.glob(f"/dev/shm/torch_{os.getpid()}_*"):
            os.truncate(path, 0)
        torch.neg(t)
        """, "neg", "input", "t", TRUNCATED),
    # ---- indices that nobody checks
    "targets of CTC": Program(
        """
        logs = torch.randn(5, 1, 4).log_softmax(2); wrong = torch.tensor([[1, BIG]])
        torch.nn.functional.ctc_loss(logs, wrong, torch.tensor([5]), torch.tensor([2]))
        """, "ctc_loss", "targets", "wrong", ARGUMENT),
    "where the largest was": Program(
        """
        wrong = torch.full((1, 1, 2, 2), BIG)
        torch.ops.aten.adaptive_max_pool2d_backward(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 4, 4), wrong)
        """, "adaptive_max_pool2d_backward", "indices", "wrong", ARGUMENT),
    "largest in three dimensions": Program(
        """
        wrong = torch.full((1, 1, 2, 2, 2), BIG); three = [2] * 3
        torch.ops.aten.max_pool3d_with_indices_backward(
            torch.ones(1, 1, 2, 2, 2), torch.ones(1, 1, 4, 4, 4), three, three, [0] * 3, [1] * 3, False, wrong)
        """, "max_pool3d_with_indices_backward", "indices", "wrong", ARGUMENT),
    "gradient of a bag": Program(
        """
        wrong = torch.tensor([1, BIG])
        torch.ops.aten._embedding_bag_dense_backward(
            torch.ones(1, 4), wrong, torch.tensor([0, 0]), torch.tensor([2]), torch.tensor([0]), 10, False, 0, None, -1)
        """, "_embedding_bag_dense_backward", "indices", "wrong", ARGUMENT),
    "weights of a bag": Program(
        """
        wrong = torch.tensor([1, BIG])
        torch.ops.aten._embedding_bag_per_sample_weights_backward(
            torch.ones(1, 4), torch.ones(10, 4), wrong, torch.tensor([0]), torch.tensor([0, 0]), 0, -1)
        """, "_embedding_bag_per_sample_weights_backward", "indices", "wrong", ARGUMENT),
    "lengths of segments": Program(
        """
        wrong = torch.tensor([1 << 34])
        torch.segment_reduce(torch.ones(4), "sum", lengths=wrong, unsafe=True)
        """, "segment_reduce", "lengths", "wrong", ARGUMENT),
    "sparse and dense": Program(
        f"""
        wrong = torch.tensor([[0, 1 << 33], [0, 1]])
        sparse = torch.sparse_coo_tensor(wrong, torch.ones(2), (4, 4), {SPARSE}, is_coalesced=True)
        torch.ones(4, 4) + sparse
        """, "add", "other.indices", "", ARGUMENT),
    "rows of a matrix": Program(
        f"""
        wrong = torch.tensor([0, 1, 1 << 30])
        sparse = torch.sparse_csr_tensor(wrong, torch.tensor([0, 1]), torch.ones(2), (2, 2), {SPARSE})
        sparse @ torch.ones(2)
        """, "matmul", "self.compressed_indices", "wrong", ARGUMENT),
    # ---- ways to an operator
    "by its full name": Program(f"{FREED}\ntorch.ops.aten.cumprod.default(b, 0)", "cumprod", "self", "b", ALIASING),
    "scripted": Program(
        f"""
        @torch.jit.script
        def f(a, b):
            c = a * 2
            return torch.atan2(c, b)
        {FREED}
        f(torch.ones(64, 64), b)
        """, "atan2", "other", "b", ALIASING),
    "backward": Program(
        """
        x = torch.ones(1 << 12, requires_grad=True); w = torch.full((1 << 12,), 2.0)
        y = (x * w).sum()
        w.untyped_storage().resize_(0)
        y.backward()
        """, "mul", "operand 2 of mul", "w", ALIASING),
    "backward of a convolution": Program(
        f"{PROTECTED}\nx = lent(torch.ones(1, 3, 16, 16)); k = torch.ones(4, 3, 3, 3, requires_grad=True)\n"
        "y = torch.nn.functional.conv2d(x, k)\nprotect(x)\ny.sum().backward()", "convolution_backward", "", "", ALIASING),
    "a step of an optimiser": Program(
        f"""
        p = torch.nn.Parameter(torch.ones(64, 64)); {FREED}
        p.grad = b
        torch.optim.SGD([p], lr=0.1).step()
        """, "add_", "other", "", ALIASING),
    "a large one, by a pool": Program(
        """
        a = torch.ones(1 << 22); b = torch.ones(1 << 22); b.untyped_storage().resize_(0)
        torch.sub(a, b)
        """, "sub", "other", "b", ALIASING),
    "a worker that loads data": Program(
        f"""
        {FREED}
        class Data(torch.utils.data.Dataset):
            def __len__(self):
                return 4
            def __getitem__(self, n):
                row = b
                return torch.sort(row)
        list(torch.utils.data.DataLoader(Data(), num_workers=1))
        """, "sort", "input", "row", ALIASING),
    # ---- no operator at all
    "a string at null": Program("import ctypes; a = torch.ones(4).sum()\nctypes.string_at(0)"),
    "aborted after a product": Program("import os; a = (torch.ones(99) @ torch.ones(99)).item()\nos.abort()"),
    "a capsule of garbage": Program(
        """
        import ctypes
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        torch.from_dlpack(new(0x10, b"dltensor", None))
        """),
    "NumPy died": Program(
        """
        import numpy
        a = torch.ones(8).mul(3)
        numpy.lib.stride_tricks.as_strided(numpy.ones(8), (1 << 40,), (8,)).sum()
        """),
    "freed by hand": Program("import ctypes; a = torch.ones(4) + 1\nctypes.CDLL(None).free(ctypes.c_void_p(64))"),
}  # fmt: skip

# Written when the search was finished.
FRESH = {
    "rows of an embedding": Program(
        """
        import numpy
        rows = numpy.ones((1 << 12, 1 << 10), dtype="float32"); weight = torch.from_numpy(rows)
        rows.resize(4, refcheck=False)
        torch.nn.functional.embedding(torch.tensor([4000, 7]), weight)
        """, "embedding", "weight", "weight", ALIASING),
    "chosen by a condition": Program(f"{FREED}; mask = torch.zeros(64, 64) > 1\ntorch.where(mask, torch.ones(64, 64), b)", "where", "other", "b", ALIASING),
    "a sampled product": Program(
        f"""
        wrong = torch.tensor([0, 1 << 33])
        sparse = torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), wrong, torch.ones(2), (2, 2), {SPARSE})
        torch.sparse.sampled_addmm(sparse, torch.ones(2, 2), torch.ones(2, 2))
        """, "sparse_sampled_addmm", "input.plain_indices", "wrong", ARGUMENT),
    "rows to coordinates": Program(
        f"""
        wrong = torch.tensor([0, 1 << 34, 2])
        sparse = torch.sparse_csr_tensor(wrong, torch.tensor([0, 1]), torch.ones(2), (2, 2), {SPARSE})
        sparse.to_sparse_coo()  # it writes over the whole heap before it dies, all records with it
        """, "_convert_indices_from_csr_to_coo"),
    "normalised over a batch": Program(
        """
        import numpy
        images = numpy.ones((64, 8, 128, 128), dtype="float32"); batch = torch.from_numpy(images)
        images.resize(4, refcheck=False)
        torch.nn.functional.batch_norm(batch, torch.zeros(8), torch.ones(8), training=True)
        """, "batch_norm", "input", "batch", ALIASING),
    "memory set by hand in a thread": Program(
        """
        import ctypes, threading
        a = torch.ones(64, 64) @ torch.ones(64, 64)
        one = threading.Thread(target=ctypes.memset, args=(64, 0, 64)); one.start(); one.join()
        """),
}  # fmt: skip
