"""Incidents made by hand, for tests of what is shown of them."""

import msgspec

from sigwhy.model.incident import (
    Incident,
    Mapping,
    Memory,
    Module,
    NativeFrame,
    Process,
    PythonFrame,
    Sample,
    Signal,
    Thread,
    Wait,
)

SITE = "/srv/env/lib/python3.11/site-packages"
EVALUATES = NativeFrame(
    address=30, function="_PyEval_EvalFrameDefault", library="/srv/env/bin/python3.11", offset=30
)
START = NativeFrame(address=40, function="_start", library="/srv/env/bin/python3.11", offset=40)
KERNEL = f"{SITE}/numfast/_core.so"
MAIN = Thread(
    tid=71,
    name="python",
    crashed=True,
    registers={"rip": 0x7F0000001010, "rsp": 0x7FFF00001000, "rax": 0},
    native=[
        NativeFrame(address=10, function="copy_rows(float*, int)", library=KERNEL, offset=0x1010),
        NativeFrame(
            address=20, function="PyObject_Call", library="/srv/env/bin/python3.11", offset=20
        ),
        EVALUATES,
        START,
    ],
    python=[
        PythonFrame(
            function="rows", file=f"{SITE}/numfast/api.py", line=12, locals={"count": "-1"}
        ),
        PythonFrame(
            function="step", file="/srv/app/train.py", line=31, locals={"batch": "3", "n": "64"}
        ),
        PythonFrame(function="<module>", file="/srv/app/train.py", line=40, entry=True),
    ],
)
OTHER = Thread(
    tid=72,
    name="loader",
    native=[
        NativeFrame(
            address=50, function="__select", library="/lib/x86_64-linux-gnu/libc.so.6", offset=50
        ),
        EVALUATES,
        START,
    ],
    python=[PythonFrame(function="wait", file="/srv/app/load.py", line=5, entry=True)],
)
GIB = 1 << 30
NULL_POINTER = Incident(
    at="2026-11-19T21:16:48.961+00:00",
    command=["/srv/env/bin/python", "train.py", "--epochs=3"],
    pid=71,
    tid=71,
    signal=Signal(name="SIGSEGV", number=11, code="SEGV_MAPERR", code_number=1, address=0),
    exit_status=-11,
    threads=[OTHER, MAIN],
    mappings=[Mapping(0x7F0000000000, 0x7F0000004000, "r-xp", 0, KERNEL)],
    modules=[
        Module(path=KERNEL, build_id="ab" * 20, distribution="numfast", version="1.4.2"),
    ],
    python_version="3.11.7",
    packages={"numfast": "1.4.2"},
    environment={"OMP_NUM_THREADS": "2"},
    limits={"stack size": "8388608"},
    memory=Memory(
        samples=[Sample(n / 2, int((0.4 + n * 0.05) * GIB), n * GIB // 16) for n in range(73)],
        group_limit_bytes=4 * GIB,
        machine_bytes=16 * GIB,
        peak_bytes=4 * GIB,
    ),
    blind=["the kernel's log: this user may not read it"],
)
# Every kind of thing that an Incident can hold.
EVERYTHING = msgspec.structs.replace(
    NULL_POINTER,
    earlier=Signal(name="SIGSEGV", number=11, code="SEGV_MAPERR", code_number=1, address=16),
    abort_message="free(): invalid pointer",
    exception="std::runtime_error",
    exception_says="no such table",
    processes=[
        Process(pid=70, command=["/bin/sh", "run.sh"], status=139),
        Process(pid=71, parent=70, command=["python", "train.py"], signal="SIGSEGV", seconds=36.5),
    ],
    code=bytes.fromhex("8b07c3"),
    threads=[
        MAIN,
        msgspec.structs.replace(
            OTHER, state="S", wait=Wait(call="202", arguments=[1, 2, 3], channel="futex_wait")
        ),
    ],
    sizes={"/srv/app/data.bin": 0, KERNEL: 4096},
    files={"3": "/srv/app/data.bin", "4": "socket:[123]"},
    cpu_flags=["fpu", "sse2", "avx2"],
    kernel=["python[71]: segfault at 0 ip 00007f0000001010 sp 00007fff00001000 error 4"],
    stderr="step 3\nfree(): invalid pointer\n",
    notes=["a note"],
)
