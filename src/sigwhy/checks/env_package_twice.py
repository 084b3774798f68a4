"""Two distributions install the same package.

What happens: ``tensorflow`` and ``tensorflow-cpu``, or ``opencv-python`` and ``opencv-python-headless``, write to the same folder. The
second overwrites the first, file by file, and what is left is a mixture: ``undefined symbol``, wrong results, SIGSEGV during import.
Uninstalling one takes files of the other away.

How to tell: distributions that are known to share a folder, and the same one with two folders of metadata.

Fix: uninstall all of them, remove the folder, and install one: ``pip uninstall -y tensorflow tensorflow-cpu && pip install tensorflow``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check
from sigwhy.subjects.python_environment import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.python_environment import PythonEnvironment

CHECK = Check(
    id="env-package-twice",
    title="two distributions install the same package",
    fix="uninstall all of them, then install one",
    severity="warning",
)
SAME = (
    ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tf-nightly", "tf-nightly-cpu"),
    ("opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"),
    ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml"),
    ("keras", "keras-nightly"),
    ("ai-edge-litert", "ai-edge-litert-nightly"),
    ("pillow", "pillow-simd"),
    ("polars", "polars-lts-cpu"),
    ("faiss-cpu", "faiss-gpu"),
    ("xgboost", "xgboost-cpu"),
)  # fmt: skip


def look(env: PythonEnvironment) -> Iterator[Problem]:
    """Yield each pair, and each that is there twice."""
    for group in SAME:
        there = [env.distributions[name] for name in group if name in env.distributions]
        whole = [one for one in there if one.objects]
        if len(whole) > 1:
            names = " and ".join(f"{plain(one.name)} {one.version}" for one in whole)
            yield CHECK.problem(f"{names} install the same package", place=plain(whole[0].name))
    versions: dict[str, list[str]] = {}
    for one in env.installed:
        versions.setdefault(plain(one.name), []).append(one.version)
    for name, several in versions.items():
        if len(several) > 1:
            yield CHECK.problem(
                f"{name} is there as {' and '.join(sorted(several))}: one of them was not removed",
                fix=f"pip uninstall -y {name}, until it says that there is none; then install it",
                place=name,
            )
