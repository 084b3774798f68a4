"""A process that looks at files: a plan on each line of its input, a result on each line of its output.

It is started as ``python -m sigwhy.inspection.worker``. Forking would be shorter to write, but the
library is called in programs that run TensorFlow; and a file that kills its reader kills only this one.
"""

from __future__ import annotations

import sys

import msgspec

from sigwhy.inspection.one_file import inspected
from sigwhy.inspection.plan import Plan


def main() -> None:
    """Answer until the input ends."""
    decoder = msgspec.json.Decoder(Plan)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(msgspec.json.encode(inspected(decoder.decode(line))) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
