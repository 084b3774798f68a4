"""Examples of shared objects: C sources whose first comments say how they are built, and what must come of it.

build: a command of the shell    look at: the file, where it is not example.so
problem: the severity of the one problem; without it there is none
load: what the loader says, or how the process dies; ``fine``    import: the same for ``import example``
cpu: the machine that it is for    unless cpu: a flag with which it lives
target os, target cpu: as the options
"""

import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from sigwhy.model.around import Around

HEADER = re.compile(r"^// ([a-z ]+): (.+)$", re.MULTILINE)
NAMED = {"build"}


@dataclass(frozen=True)
class Example:
    """One source."""

    path: Path
    rows: dict[str, list[str]]

    @classmethod
    def of(cls, path):
        rows = {}
        for key, words in HEADER.findall(path.read_text(encoding="utf-8")):
            rows.setdefault(key, []).append(words)
        return cls(path, rows)

    def one(self, key):
        return self.rows.get(key, [None])[0]

    def build(self, folder):
        """Build it in a folder, beside an environment, and give the file and what is around it."""
        env = folder / "env"
        site = env / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        (site / "tensorflow").mkdir(parents=True)
        (env / "bin").mkdir()
        (env / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
        words = {
            "source": self.path,
            "site": site,
            "suffix": sysconfig.get_config_var("EXT_SUFFIX"),
        }
        for command in self.rows["build"]:
            subprocess.run(
                ["sh", "-c", command.format(**words)], cwd=folder, check=True, timeout=60
            )
        name = (self.one("look at") or "example.so").format(**words)
        around = Around(
            env=str(env), target_os=self.one("target os"), target_cpu=self.one("target cpu")
        )
        return folder / name, around


LOAD = """
import ctypes, sys
ctypes.CDLL(sys.argv[1], mode=2)
print([line for line in open("/proc/self/maps") if "[stack]" in line and "x" in line.split()[1]] or "fine")
"""
IMPORT = (
    "import sys; sys.path.insert(0, sys.argv[1].rpartition('/')[0]); import example; print('fine')"
)


def outcome(program, path):
    """What a process says that loads it, and how it ends."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
        env={k: v for k, v in os.environ.items() if not k.startswith("LD_")},
    )
    ended = {-4: "SIGILL", -7: "SIGBUS", -11: "SIGSEGV", -6: "SIGABRT"}.get(done.returncode, "")
    return f"{done.stdout}{done.stderr}{ended}"
