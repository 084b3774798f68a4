"""Peels off what other programs put around a crash text: prefixes, quote marks, colours, wraps.

Looks like::

    trainer-1  | 2026-01-07T09:12:44.1234567Z > Segmentation fault (core dumped)

The raw line is kept beside each peeled one, so that a quote shows what the user will find.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING

from sigwhy.evidence.wrap import joined
from sigwhy.model.case import Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# "\x1b[31mred\x1b[0m", "\x1b]8;;link\x07": colours, cursor moves and links of terminals.
ANSI = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_=>])")
INVISIBLE = re.compile("[\x00\x07\x08\u200b\u200e\u200f\u2060\ufeff]")
# "&lt;module&gt;": a paste that went through a web form.
ESCAPED = re.compile(r"&(?:lt|gt|amp|quot|nbsp|apos|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
# "<pre><code>", "</details>": mark-up around a paste.
MARKUP = re.compile(
    r"^\s*(?:</?(?:pre|code|details|summary|p|br|div|blockquote)\b[^>]{0,200}>\s*)+|</?(?:pre|code|br|p)\s*/?>\s*$"
)
# "```text" and "~~~": the fences of Markdown.
FENCE = re.compile(r"^\s{0,3}(?:`{3,}|~{3,})\s*[\w.+#-]{0,30}\s*$")
# As in: Mar  1 12:00:00 node7 kernel: …, 2026-01-07T09:12:44.12+00:00 node7 python[12]: …
SYSLOG = r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)) [\w.-]+ [\w./@-]+(?:\[\d+\])?: "
PREFIX = re.compile(
    "|".join(  # noqa: FLY002 -- a list of rows reads better than one string
        (
            SYSLOG,
            # "2026-01-07T09:12:44.1234567Z ": GitHub Actions, docker logs -t, kubectl --timestamps
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)(?: (?:stdout|stderr) [FP])?(?: |$)",
            # "22:57:04 ", "[22:57:04] ", "[2026-01-07 22:57:04] ": Jenkins, Travis, Buildkite
            r"\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?: |$)(?!\d+:)",
            r"\[(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?\](?: |$)",
            # "trainer-1  | ": docker compose
            r"[A-Za-z][\w.-]{0,60}[-_]\d{1,4}\s*\| ?",
            # "[1,0]<stderr>:", "[node7:0]<stdout>: ": mpirun --tag-output
            r"\[[\w.,:-]{1,60}\]<(?:stdout|stderr|stddiag)>:",
            # "(raylet) ", "(train pid=812, ip=10.0.0.1) ": Ray
            r"\((?:raylet|autoscaler[^)]{0,60}|[^()]{0,80}\bpid=\d+[^()]{0,80})\) ?",
            # "[rank0]:", "[default0]:[rank0]: ": torchrun
            r"\[(?:rank|default|trainer|worker)\d+\]: ?",
            # "12-15 17:22:46.719 17395 17450 F libc    : ": logcat threadtime
            r"(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\s+\d+\s+\d+ [VDIWEFA] [^:]{1,40}: ",
            # "2020-12-15 17:22:46.719 17395-17450/org.app A/libc: ": Android Studio
            r"(?:(?:\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\s+\d+-\d+/\S{1,120} )?[VDIWEFA]/[\w.-]{1,60}(?:\s*\(\s*\d+\))?: ",
            # "##[error]": GitHub Actions and Azure
            r"##\[(?:error|warning|group|endgroup|section|command|debug)\]",
            # "stderr: ", "stderr | ": notebooks and test runners
            r"(?:stderr|stdout)\s?[|:] ",
        )
    )
)
# '    "==7==ERROR: …\n",': the lines of a log as a list of JSON
JSON_STRING = re.compile(r'^\s*"(?P<words>[^\n]*?)\\n",?\s*$')
# "> text", "> > text", ">> text"; but ">>> import x" is a Python prompt.
QUOTE = re.compile(r">(?: |(?=[^ >]|$))|>>(?!>) ?")
TWO_COLUMNS = re.compile(r"^[A-Za-z][\w.-]{0,60}\s*\| ?")
RANKS = re.compile(r"^\s?\d{1,4}: ")
MOST_LAYERS = 8
MOST_LINES = 0.6


def peel(name: str, rows: Sequence[tuple[int, str]]) -> Evidence:
    """The lines of a text, without their envelopes, beside the lines as they were."""
    layer = _shared_layer([text for _, text in rows])
    peeled = [(number, raw, line) for number, raw in rows for line in _peeled(raw, layer)]
    told = list(joined(peeled))
    return Evidence(
        name,
        tuple(line for _, _, line in told),
        tuple(raw for _, raw, _ in told),
        tuple(place for place, _, _ in told),
    )


def _shared_layer(lines: Sequence[str]) -> re.Pattern[str] | None:
    """A prefix that proves nothing on one line, and much when most lines have it."""
    full = [line for line in lines if line.strip()]
    for pattern in (TWO_COLUMNS, RANKS):
        having = sum(bool(pattern.match(line)) for line in full)
        if len(full) >= 2 and having >= MOST_LINES * len(full):
            return pattern
    return None


def _peeled(raw: str, layer: re.Pattern[str] | None) -> Iterator[str]:
    line = _plain(raw)
    if line.startswith('{"log":'):
        line = _docker_json(line)
    if layer:
        line = layer.sub("", line, count=1)
    is_syslog = False
    for _ in range(MOST_LAYERS):
        found = PREFIX.match(line) or QUOTE.match(line)
        if not found or not found.end():
            break
        is_syslog = is_syslog or found[0].endswith(": ")
        line = line[found.end() :]
    if found := JSON_STRING.match(line):
        line = found["words"].replace('\\"', '"').replace("\\t", "\t")
    if FENCE.match(line):
        line = ""
    if "<" in line:
        line = MARKUP.sub("", line)
    yield from line.split("#012") if is_syslog and "#012" in line else (line,)


def _plain(raw: str) -> str:
    line = ANSI.sub("", raw) if "\x1b" in raw else raw
    line = INVISIBLE.sub("", line).replace("\xa0", " ")
    return html.unescape(line) if ESCAPED.search(line) else line


def _docker_json(line: str) -> str:
    """The words of one line of docker's json-file log."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return str(record.get("log", line)).rstrip("\n") if isinstance(record, dict) else line
