"""Programs that hang, each in its own way; each says ``ready`` when it does."""

READY = "import sys; print('ready', flush=True)\n"
IMPORTS = "import os, signal, socket, sys, threading, time\n"

TWO_LOCKS = (
    IMPORTS
    + """
first, second, both = threading.Lock(), threading.Lock(), threading.Barrier(3)
def forwards():
    with first:
        both.wait()
        second.acquire()
def backwards():
    with second:
        both.wait()
        first.acquire()
workers = [threading.Thread(target=f) for f in (forwards, backwards)]
for worker in workers:
    worker.start()
both.wait()
print('ready', flush=True)
workers[0].join()
"""
)

FORKED_LOCK = (
    IMPORTS
    + """
import multiprocessing
lock = threading.Lock()
def work():
    lock.acquire()
def hold():
    with lock:
        held.set()
        time.sleep(1000)
def launch():
    process = multiprocessing.get_context('fork').Process(target=work)
    process.start()
    return process
held = threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
process = launch()
print(process.pid, flush=True)
process.join()
"""
)

COUNTING = (
    IMPORTS
    + """
counts = [0, 0, 0]
def count(n):
    while True:
        counts[n] += 1
        time.sleep(0.002)
for n in range(3):
    threading.Thread(target=count, args=(n,), daemon=True).start()
print('ready', flush=True)
for line in sys.stdin:
    print(*counts, flush=True)
"""
)

LOST_WORKER = (
    IMPORTS
    + """
import multiprocessing
def work(n):
    if n == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
if __name__ == '__main__':
    pool = multiprocessing.get_context('fork').Pool(2)
    answer = pool.map_async(work, range(6), chunksize=1)
    print('ready', flush=True)
    print(answer.get())
"""
)

# x86-64: jump to itself, while ctypes keeps the GIL.
NATIVE_LOOP = (
    IMPORTS
    + """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('ebfe'))
turn = ctypes.PYFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print('ready', flush=True)
turn()
"""
)

STUBBORN = (
    IMPORTS
    + """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child:
    print(child, flush=True)
while True:
    time.sleep(1000)
"""
)

RESTS = (
    IMPORTS
    + """
print('ready', flush=True)
time.sleep(3.5)
print('goes on', flush=True)
"""
)

# A native thread that only sleeps now and then, as TensorFlow has one, helps nobody.
BESIDE_A_SLEEPER = (
    IMPORTS
    + """
import ctypes
libc = ctypes.CDLL(None)
thread = ctypes.c_ulong()
start = ctypes.cast(libc.sleep, ctypes.c_void_p)
libc.pthread_create(ctypes.byref(thread), None, start, ctypes.c_void_p(1000))
lock = threading.Lock()
lock.acquire()
print('ready', flush=True)
lock.acquire()
"""
)

# A lock of glibc that a thread of the parent holds when it forks.
FORKED_MUTEX = (
    IMPORTS
    + """
import ctypes
libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(64)
def hold():
    libc.pthread_mutex_lock(mutex)
    held.set()
    time.sleep(1000)
held = threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    libc.pthread_mutex_lock(mutex)
print(child, flush=True)
os.waitpid(child, 0)
"""
)
