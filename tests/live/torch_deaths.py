"""Runs the programs of a folder, one after the other, each in a child that is forked for it.

``torch_deaths.py FOLDER``: PyTorch is loaded once. The name of each process is that of its program, so
that whoever watches can tell them apart even where no Python frame could be read.
"""

import os
import runpy
import sys
import warnings
from pathlib import Path

import torch  # noqa: F401 -- so that the children have it

warnings.simplefilter("ignore")
for path in sorted(Path(sys.argv[1]).glob("*.py")):
    child = os.fork()
    if not child:
        os.chdir(path.parent)
        Path("/proc/self/comm").write_text(path.stem)
        runpy.run_path(str(path), run_name="__main__")
        os._exit(0)
    os.waitpid(child, 0)
