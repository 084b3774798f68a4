"""Words in a source by which Python reaches past what it protects."""

import pytest

from sigwhy.autopsy.risks import RISKS, risks

SHOWS = [
    ("frees", "lib.munmap(p, 4096)"),
    ("frees", "t.untyped_storage().resize_(0)"),
    ("frees", "a.resize(9, refcheck=False)"),
    ("borrows", "x = np.frombuffer(b)"),
    ("borrows", "m = mmap.mmap(-1, 4096)"),
    ("borrows", "shm = SharedMemory('x')"),
    ("borrows", "v = np.ndarray((3,), buffer=b)"),
    ("borrows", "p = a.ctypes.data_as(P)"),
    ("counts", "ctypes.pythonapi.Py_DecRef(o)"),
    ("counts", 'getattr(api, "Py_DecRef")(o)'),
    ("pokes", "ctypes.string_at(0)"),
    ("pokes", "import ctypes; ctypes.memset(0, 1, 2)"),
    ("pokes", "f.__code__ = f.__code__.replace(co_consts=())"),
    ("pokes", "lib['memmove'](1, 2, 3)"),
    ("pokes", "Reader.__new__(Reader).read()"),
    ("edits", "m.indices[0] = 10**9"),
    ("edits", "m.indptr[-1] += 5"),
    ("truncates", "os.truncate(path, 0)"),
    ("truncates", "f.truncate(0)"),
    ("limits", "resource.setrlimit(RLIMIT_AS, (1, 1))"),
    ("limits", "resource.setrlimit(resource.RLIMIT_NPROC, (8, 8))"),
    ("threads", "tf.config.threading.set_inter_op_parallelism_threads(4000)"),
    ("threads", "options.threading.private_threadpool_size = 900"),
    ("threads", "torch.set_num_threads(2048)"),
    ("nests", "sys.setrecursionlimit(10**6)"),
    ("nests", "threading.stack_size(1 << 20)"),
    ("forks", "pid = os.fork()"),
    ("forks", "pool = get_context('fork').Pool()"),
    ("damages", "data = bytearray(open(p, 'rb').read())"),
    ("damages", "with open(p, 'r+b') as f:"),
    ("damages", "f.write(data[:100])"),
    ("closes", "arena.close()"),
]
INNOCENT = [
    ("frees", "print('munmap failed')"),
    ("frees", "a.resize(9)"),
    ("borrows", "# np.frombuffer(b)"),
    ("borrows", "x = 1 # np.frombuffer(b)"),
    ("borrows", "log.info(f'frombuffer took {t}')"),
    ("borrows", "from multiprocessing.shared_memory import SharedMemory"),
    ("borrows", "v = np.ndarray((3,))"),
    ("counts", "'''Py_DecRef gives an object back.'''"),
    ("pokes", "from ctypes import CDLL, string_at"),
    ("pokes", "return super().__new__(cls)"),
    ("edits", "if m.indices[0] == 5:"),
    ("edits", "n = m.indices[0]"),
    ("truncates", "text = truncate(text)"),
    ("limits", "print('call setrlimit before')"),
    ("threads", "pool = ThreadPoolExecutor(max_workers=16)"),
    ("threads", "set_inter_op_parallelism_threads(count)"),
    ("nests", "stack_size = 9"),
    ("forks", "pool = get_context('spawn').Pool()"),
    ("forks", "os.forkpty"),
    ("damages", "data = open(p, 'rb').read()"),
    ("damages", "f.write(text)"),
    ("closes", "close(f)"),
]


@pytest.mark.parametrize(("topic", "line"), SHOWS)
def test_a_line_that_takes_a_risk_is_seen(topic, line):
    found = risks(line)
    assert topic in found
    assert found[topic] in line


@pytest.mark.parametrize(("topic", "line"), INNOCENT)
def test_a_line_that_only_looks_so_takes_none(topic, line):
    assert topic not in risks(line)


def test_each_topic_has_a_line_that_shows_it_and_one_that_does_not():
    topics = {topic for topic, _ in RISKS}
    assert topics == {topic for topic, _ in SHOWS} == {topic for topic, _ in INNOCENT}


def test_the_limit_that_is_set_is_named():
    assert risks("resource.setrlimit(resource.RLIMIT_AS, (n, n))")["limits"] == "RLIMIT_AS"


def test_what_an_f_string_computes_is_code():
    assert risks("print(f'{np.frombuffer(b)}')") == {"borrows": "frombuffer"}


@pytest.mark.parametrize(
    "line", ["'" * 1999, '"\\' * 900, "frombuffer" * 10**6, "[" * 1999, "f'{" * 600]
)
def test_a_hostile_line_is_judged_at_once(line):
    assert len(risks(line)) <= len(RISKS)
