"""Measures whether ``check`` tells which damaged models kill a runtime.

``python bench/tflite.py --runtime PYTHON [--runtime PYTHON] [--models 2000] [--seed 1] [--keep FOLDER]``. The small
models of ``tests/tflite/zoo.py`` are damaged at random: cut, flipped, with other words, and with other options,
shapes, indices and constants. Each is checked, and run to the first invoke in a child of each interpreter,
which must have ai-edge-litert or TensorFlow.
"""

from __future__ import annotations

import argparse
import random
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from sigwhy.checks import looked  # noqa: E402 -- the tests are found only now
from sigwhy.subjects.tflite_model import TfliteModel  # noqa: E402 -- as above
from sigwhy.tflite.written import written  # noqa: E402 -- as above
from tests.tflite.zoo import ZOO, copied  # noqa: E402 -- as above

if TYPE_CHECKING:
    from collections.abc import Callable

INTERESTING = (
    0,
    1,
    2,
    3,
    7,
    8,
    127,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32 - 2,
)
NUMBERS = (-(2**31), -100, -2, -1, 0, 1, 2, 3, 5, 9, 100, 65536, 2**31 - 1)
RUN = """
import os, signal, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
try:
    from ai_edge_litert.interpreter import Interpreter
except ImportError:
    from tensorflow.lite.python.interpreter import Interpreter
import numpy as np
import resource

def run(path):
    with open(path, "rb") as stream:
        model = Interpreter(model_content=stream.read(), num_threads=1)
    model.allocate_tensors()
    for one in model.get_input_details():
        model.set_tensor(one["index"], np.zeros(one["shape"], one["dtype"]))
    model.invoke()

null = os.open(os.devnull, os.O_WRONLY)
for line in sys.stdin:
    child = os.fork()
    if not child:
        os.dup2(null, 1)
        os.dup2(null, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        signal.alarm(5)
        try:
            run(line.strip())
        except MemoryError:
            os._exit(2)
        except Exception:
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)
"""
ALARM = -14


def damaged(random: random.Random) -> tuple[str, bytes]:
    """One damaged model, and how it was damaged."""
    name = random.choice(list(ZOO))
    way = random.choice(list(WAYS))
    return f"{name}/{way}", WAYS[way](random, copied(ZOO[name]))


def _cut(random: random.Random, model: dict[str, Any]) -> bytes:
    data = written(model)
    return data[: random.randrange(len(data))]


def _flipped(random: random.Random, model: dict[str, Any]) -> bytes:
    data = bytearray(written(model))
    for _ in range(random.randint(1, 3)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def _patched(random: random.Random, model: dict[str, Any]) -> bytes:
    data = bytearray(written(model))
    at = random.randrange(0, len(data) - 4, 4)
    struct.pack_into("<I", data, at, random.choice(INTERESTING))
    return bytes(data)


def _option(random: random.Random, model: dict[str, Any]) -> bytes:
    operators = [o for g in model["subgraphs"] for o in g["operators"] if o.get("builtin_options")]
    if not operators:
        return _shape(random, model)
    options = random.choice(operators)["builtin_options"]
    whole = [k for k, v in options.items() if isinstance(v, int)]
    if not whole:
        return _shape(random, model)
    options[random.choice(whole)] = random.choice(NUMBERS)
    try:
        return written(model)
    except (struct.error, TypeError):  # some options are too short for the number
        return _option(random, model)


def _shape(random: random.Random, model: dict[str, Any]) -> bytes:
    one = random.choice(random.choice(model["subgraphs"])["tensors"])
    shape = list(one["shape"])
    way = random.randrange(3)
    if way == 0 and shape:
        shape[random.randrange(len(shape))] = random.choice((-1, 0, 1, 2, 3, 5, 1000, 2**31 - 1))
    elif way == 1 and shape:
        shape.pop(random.randrange(len(shape)))
    else:
        shape.insert(random.randint(0, len(shape)), random.choice((0, 1, 2, 3)))
    one["shape"] = shape
    return written(model)


def _index(random: random.Random, model: dict[str, Any]) -> bytes:
    graph = random.choice(model["subgraphs"])
    rows = [graph["inputs"], graph["outputs"]]
    rows += [o[side] for o in graph["operators"] for side in ("inputs", "outputs")]
    row = random.choice([r for r in rows if r])
    if random.random() < 0.2:
        row.pop()
    else:
        row[random.randrange(len(row))] = random.choice((-1, -2, 0, 1, 2, 3, 9, 2**31 - 1))
    return written(model)


def _type(random: random.Random, model: dict[str, Any]) -> bytes:
    one = random.choice(random.choice(model["subgraphs"])["tensors"])
    one["type"] = random.randrange(23)
    return written(model)


def _constant(random: random.Random, model: dict[str, Any]) -> bytes:
    held = [b for b in model["buffers"] if len(b.get("data", b"")) >= 4]
    if not held:
        return _shape(random, model)
    one = random.choice(held)
    data = bytearray(one["data"])
    struct.pack_into("<i", data, random.randrange(0, len(data) - 3, 4), random.choice(NUMBERS))
    one["data"] = memoryview(bytes(data))
    return written(model)


def _length(random: random.Random, model: dict[str, Any]) -> bytes:
    held = [b for b in model["buffers"] if len(b.get("data", b""))]
    if not held:
        return _index(random, model)
    one = random.choice(held)
    data = bytes(one["data"])
    one["data"] = memoryview(random.choice((data[: len(data) // 2], data + data, data[:-1])))
    return written(model)


def _scale(random: random.Random, model: dict[str, Any]) -> bytes:
    tensors = [t for g in model["subgraphs"] for t in g["tensors"] if t.get("quantization")]
    if not tensors:
        return _type(random, model)
    one = random.choice(tensors)
    scale = random.choice((0.0, -1.0, float("inf"), float("nan"), 1e30, 1e-40, None))
    one["quantization"] = None if scale is None else {**one["quantization"], "scale": [scale]}
    if scale is None:
        del one["quantization"]
    return written(model)


WAYS: dict[str, Callable[[random.Random, dict[str, Any]], bytes]] = {
    "cut": _cut, "flipped": _flipped, "patched": _patched, "option": _option, "shape": _shape, "index": _index,
    "type": _type, "constant": _constant, "length": _length, "scale": _scale,
}  # fmt: skip


def run(python: str, paths: list[Path]) -> list[int]:
    """What becomes of each model: 0 it runs, 1 it is refused, below 0 the signal."""
    found: list[int] = []
    while len(found) < len(paths):  # where even the parent dies, the next one goes on
        rest = "".join(f"{path}\n" for path in paths[len(found) :])
        done = subprocess.run(
            (python, "-c", RUN),
            input=rest,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        found += [int(line) for line in done.stdout.split()]
        if done.returncode and len(found) < len(paths):
            raise SystemExit(
                f"{python} ended with {done.returncode}; has it ai-edge-litert or TensorFlow?"
            )
    return found


def main() -> int:
    """Damage, check, run, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runtime", action="append", required=True, metavar="PYTHON")
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="where the models stay that were judged wrongly")
    args = parser.parse_args()
    dice = random.Random(args.seed)  # noqa: S311 -- the same damage each time
    models = [damaged(dice) for _ in range(args.models)]
    began, said = time.perf_counter(), []
    for _, data in models:
        found = looked(TfliteModel.of(data), "tflite")
        assert not found.notes, found.notes
        said.append(sorted({p.id for p in found.problems if p.severity == "error"}))
    seconds = time.perf_counter() - began
    print(f"{len(models)} models checked, {1000 * seconds / len(models):.2f} ms each")
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{n}.tflite") for n in range(len(models))]
        for path, (_, data) in zip(paths, models, strict=True):
            path.write_bytes(data)
        fates = list(zip(*(run(python, paths) for python in args.runtime), strict=True))
    return judge(models, said, fates, args.keep)


def judge(
    models: list[tuple[str, bytes]],
    said: list[list[str]],
    fates: list[tuple[int, ...]],
    keep: Path | None,
) -> int:
    """Print the two shares, and what was judged wrongly; 0 where both are as they must be."""
    died = [n for n, fate in enumerate(fates) if any(one < 0 and one != ALARM for one in fate)]
    hung = [n for n, fate in enumerate(fates) if n not in set(died) and ALARM in fate]
    ran = [n for n, fate in enumerate(fates) if not any(fate)]
    missed, alarms = [n for n in died if not said[n]], [n for n in ran if said[n]]
    print(
        f"killed a runtime: {len(died)}, of these {len(died) - len(missed)} had an error ({1 - len(missed) / max(len(died), 1):.1%})"
    )
    print(
        f"ran everywhere: {len(ran)}, of these {len(alarms)} had an error ({len(alarms) / max(len(ran), 1):.1%})"
    )
    print(
        f"hung: {len(hung)}, of these {sum(bool(said[n]) for n in hung)} had an error; refused: {len(models) - len(died) - len(ran) - len(hung)}"
    )
    for title, some in (("missed", missed), ("false alarm", alarms)):
        for words, many in Counter(
            (models[n][0], str(fates[n]), " ".join(said[n])) for n in some
        ).most_common():
            print(f"  {title} {many} x {' '.join(words)}")
        for n in some if keep else ():
            keep.mkdir(parents=True, exist_ok=True)
            (
                keep / f"{title.replace(' ', '_')}-{n}-{models[n][0].replace('/', '-')}.tflite"
            ).write_bytes(models[n][1])
    return int(len(missed) > 0.03 * len(died) or len(alarms) > 0.05 * len(ran))


if __name__ == "__main__":
    raise SystemExit(main())
