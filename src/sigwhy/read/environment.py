"""What Python and the loader say of environment variables that point to the wrong place.

Looks like::

    Could not find platform independent libraries <prefix>
    Consider setting $PYTHONHOME to <prefix>[:<exec_prefix>]
      PYTHONHOME = '/opt/other'
    ModuleNotFoundError: No module named 'encodings'
    ERROR: ld.so: object 'libx.so' from LD_PRELOAD cannot be preloaded (wrong ELF class: ELFCLASS64): ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

LOST = "fatal-python-error"
NO_ENCODINGS = "No module named"

# (words that must stand in the line, pattern with the subject if any, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ("PYTHONHOME = '", r"^\s*(?P<subject>PYTHONHOME) = '[^'\n]{1,300}'", "pythonhome-set", None),
        ("PYTHONPATH = '", r"^\s*(?P<subject>PYTHONPATH) = '[^'\n]{1,2000}'", "pythonpath-set", None),
        (NO_ENCODINGS, r"No module named ['\"]?(?:encodings|site)['\"]?\s*$", "no-encodings", LOST),
        ("", r"(?:init_fs_encoding|initfsencoding)\b|[Uu]nable to (?:load|get) the (?:locale|file ?system) (?:codec|encoding)|failed to get the Python codec of the filesystem encoding", "no-encodings", LOST),
        ("file system codec", r"unable to load the file system codec", "no-encodings", LOST),
        ("libraries <", r"Could not find platform (?:in)?dependent libraries <(?:exec_)?prefix>", "python-home-lost", None),
        ("Consider setting $PYTHONHOME", r"Consider setting \$(?P<subject>PYTHONHOME) to", "python-home-lost", None),
        ("site", r"[Ff]ailed to import the site module|init_import_site: Failed", "no-site", None),
        ("SRE module mismatch", r"SRE module mismatch", "stdlib-of-other-python", None),
        ("from LD_PRELOAD cannot be preloaded", r"object '(?P<subject>[^'\n]{1,300})' from LD_PRELOAD cannot be preloaded", "preload-refused", None),
        ("Python version is", r"\* The Python version is: Python\d\.\d{1,2} from", "numpy-troubleshooting", None),
        ("GLIBC_PRIVATE", r"(?P<subject>GLIBC_PRIVATE)", "two-glibcs", None),
    )
)  # fmt: skip
MARKERS = (
    "No module named", "fs_encoding", "initfsencoding", "able to load the", "able to get the", "import the site", "Python version is",
    "PYTHONHOME = '", "PYTHONPATH = '", "No module named 'encodings'", "No module named encodings", "No module named site", "No module named 'site'",
    "filesystem e", "file system codec", "libraries <", "Consider setting $PYTHONHOME",
    "import the site module", "init_import_site", "SRE module mismatch", "from LD_PRELOAD cannot",
    "GLIBC_PRIVATE",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what was said of the environment."""
    for n, line in enumerate(evidence.lines):
        for hint, pattern, topic, mechanism in SENTENCES:
            if hint not in line or not (found := pattern.search(line)):
                continue
            yield Notice(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0].strip()),
                topic=topic,
                text=found[0].strip(),
                subject=found.groupdict().get("subject"),
                mechanism=mechanism,
            )
            break
