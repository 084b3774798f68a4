"""Nodes of the graph of gradients: ``MulBackward0``, and those that Python code defines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sigwhy.operations.classes import Classes

NODE = "N5torch8autograd4NodeE"
NAMED = re.compile(r"\d+(\w+?)E\Z")
OF_PYTHON, NO_WORK = "PyNode", frozenset({"PyNode", "AccumulateGrad", "GraphRoot", "Node"})


def node(classes: Classes, address: int) -> str:
    """The class of the node at an address; empty where there is none, or one that does nothing."""
    found = classes.of(address)
    if NODE not in found:
        return ""
    name = found[0].removesuffix("E")
    for length in re.finditer(r"\d+", name):
        if int(length[0]) == len(name) - length.end():
            return "" if name[length.end() :] in NO_WORK else name[length.end() :]
    return ""
