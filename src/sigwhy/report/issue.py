"""The text that maintainers ask for when something native died, filled in as far as it is known.

Each project has its own form; whose it is, is told by the package that is to blame. What is not known
is marked, so that the reporter sees what is left to do. Secrets and the name of the user are taken out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sigwhy.autopsy.redact import redacted
from sigwhy.autopsy.wheels import by_library
from sigwhy.model.blame import FRAMEWORKS, file_name, owner, package_of
from sigwhy.model.fact import Op, Platform, Stack, Version
from sigwhy.report.harmless import harmless, one_line
from sigwhy.report.markdown import code, fenced, plain, stack_line
from sigwhy.report.story import tell
from sigwhy.report.threads import threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Frame
    from sigwhy.model.incident import Incident
    from sigwhy.model.report import Report
    from sigwhy.report.story import Story

HOME = re.compile(r"(?<![\w.~-])/(?:home|Users)/[^/\s:\"']{1,64}(?=[/\s:\"']|$)")
CUDA = re.compile(r"^lib(?:cuda|cudart|cudnn\w*|cublas|nccl|amdhip64|rocblas)\b[^/]*\.so[\d.]*$")
LAST_WORDS, MOST_CALLS = 40, 120
FLAGS = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_bf16", "amx_bf16"),
    *("asimd", "asimddp", "sve", "bf16"),
)
UNKNOWN = "_not known; please fill in_"
UPSTREAM = "_not known; please try: {0}_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """A project's form: rows of label and what goes there, and the headings of its sections.

    A row names one of the values of ``_values``, or is a question that only the reporter can answer.
    """

    project: str
    where: str
    packages: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    behaviour: str = "Current behavior?"
    reproduce: str = "Standalone code to reproduce the issue"
    output: str = "Relevant log output"
    environment: str | None = None


TENSORFLOW = Tracker(
    project="TensorFlow",
    where="https://github.com/tensorflow/tensorflow/issues/new",
    packages=("tensorflow", "tensorflow_cpu", "tensorflow_intel", "tf_nightly"),
    rows=(
        ("Issue type", "Bug"),
        ("Have you reproduced the bug with TensorFlow Nightly?", "pip install tf-nightly"),
        ("Source", "install"),
        ("TensorFlow version", "version"),
        ("Custom code", "custom"),
        ("OS platform and distribution", "system"),
        ("Mobile device", "mobile"),
        ("Python version", "python"),
        ("CUDA/cuDNN version", "cuda"),
        ("GPU model and memory", "?"),
        ("CPU", "cpu"),
        ("Other packages", "packages"),
    ),
)
KERAS = Tracker(
    project="Keras",
    where="https://github.com/keras-team/keras/issues/new",
    packages=("keras", "tf_keras"),
    rows=(
        ("Keras version", "version"),
        ("Backend and its version", "backend"),
        ("Have I written custom code", "custom"),
        ("OS platform and distribution", "system"),
        ("Installed from", "install"),
        ("Python version", "python"),
        ("CUDA/cuDNN version", "cuda"),
        ("GPU model and memory", "?"),
        ("Other packages", "packages"),
    ),
)
LITERT = Tracker(
    project="LiteRT",
    where="https://github.com/google-ai-edge/LiteRT/issues/new",
    packages=("ai_edge_litert", "tflite_runtime", "ai_edge_torch"),
    rows=(
        ("LiteRT version", "version"),
        ("OS platform and distribution", "system"),
        ("Device", "cpu"),
        ("Installed from", "install"),
        ("Python version", "python"),
        ("The model file, or how it was converted", "?"),
        ("Delegate and its options", "?"),
        ("Other packages", "packages"),
    ),
)
PYTORCH = Tracker(
    project="PyTorch",
    where="https://github.com/pytorch/pytorch/issues/new",
    packages=("torch", "torchvision", "torchaudio", "functorch"),
    behaviour="🐛 Describe the bug",
    reproduce="Minimal example",
    output="Error message and stack",
    environment="Versions",
    rows=(
        ("PyTorch version", "version"),
        ("CUDA used", "cuda"),
        ("OS", "system"),
        ("Python version", "python"),
        ("GPU models and configuration", "?"),
        ("CPU", "cpu"),
        ("Installed from", "install"),
        ("Does it happen with the nightly build?", "the newest nightly of torch"),
        ("Other packages", "packages"),
    ),
)
NUMPY = Tracker(
    project="NumPy",
    where="https://github.com/numpy/numpy/issues/new",
    packages=("numpy",),
    behaviour="Describe the issue:",
    reproduce="Reproduce the code example:",
    output="Error message:",
    environment="Python and NumPy Versions:",
    rows=(
        ("NumPy", "version"),
        ("Python", "python"),
        ("OS", "system"),
        ("CPU", "cpu"),
        ("BLAS and OpenMP that were loaded", "blas"),
        ("Installed from", "install"),
        ("Other packages", "packages"),
    ),
)
ANYBODY = Tracker(
    project="",
    where="",
    packages=(),
    behaviour="What happened",
    reproduce="How to reproduce it",
    output="Output and stack",
    environment="Environment",
    rows=(
        ("Version", "version"),
        ("Python", "python"),
        ("OS", "system"),
        ("CPU", "cpu"),
        ("Installed from", "install"),
        ("CUDA", "cuda"),
        ("Other packages", "packages"),
    ),
)
TRACKERS = (LITERT, KERAS, TENSORFLOW, PYTORCH, NUMPY)


def render(report: Report) -> str:
    """Write the text."""
    blamed = blamed_package(report)
    tracker = next((t for t in TRACKERS if _key(blamed or "") in t.packages), ANYBODY)
    return HOME.sub("~", redacted("\n".join(_lines(report, tracker, blamed))))


def blamed_package(report: Report) -> str | None:
    """The distribution that the verdict blames, else the one it died in."""
    return next(_suspects(report), None)


def _suspects(report: Report) -> Iterator[str]:
    if op := report.case.first(Op):
        lite = op.framework.lower() in {"tflite", "tensorflow lite"}
        yield "ai-edge-litert" if lite else op.framework
    if culprit := report.culprit:
        places = (culprit.library, culprit.file)
        yield from (found for place in places if (found := _distribution(report, place)))
        if culprit.kind == "package" and culprit.name:
            yield culprit.name
    for stack in report.case.all(Stack):
        if stack.crashed:
            yield from (found for frame in stack.frames if (found := _of_frame(report, frame)))


def _of_frame(report: Report, frame: Frame) -> str | None:
    whose = owner(frame)
    framework = whose.name if whose.whose == "framework" and whose.name in FRAMEWORKS else None
    return _distribution(report, frame.library or frame.file) or framework


def _distribution(report: Report, path: str | None) -> str | None:
    for incident in report.incidents:
        module = by_library(incident.modules)(path)
        if module and module.distribution:
            return module.distribution
    return package_of(path) if path else None


def _key(package: str) -> str:
    return re.sub(r"[-.]", "_", package).lower()


# ---- the text -------------------------------------------------------------------------------


def _lines(report: Report, tracker: Tracker, blamed: str | None) -> Iterator[str]:
    story = tell(report)
    yield f"<!-- for {tracker.where or _tracker_of(blamed)} -->"
    yield f"# {plain(story.headline.removeprefix('undecided: '))}"
    rows = list(_rows(report, tracker, blamed))
    if not tracker.environment:
        yield from ("", *rows)
    yield from ("", f"### {tracker.behaviour}", "", *_behaviour(story))
    yield from ("", f"### {tracker.reproduce}", "", *_reproduce(report, story))
    yield from ("", f"### {tracker.output}", "", *_output(report))
    if tracker.environment:
        yield from ("", f"### {tracker.environment}", "", *rows)
    yield from ("", *_not_known(report, story))


def _tracker_of(blamed: str | None) -> str:
    name = re.sub(r"[^\w. -]", "", one_line(blamed or "", most=80))
    return (
        f"the tracker of {name}" if name else "nobody but yourself: no package is to blame so far"
    )


def _rows(report: Report, tracker: Tracker, blamed: str | None) -> Iterator[str]:
    values = _values(report, blamed)
    for label, what in tracker.rows:
        if what == "?":
            said = UNKNOWN
        elif what in values:
            said = plain(one_line(values[what], most=600)) if values[what] else UNKNOWN
        elif what == "Bug":
            said = what
        else:
            said = UPSTREAM.format(what)
        yield f"* **{label}:** {said}"


def _behaviour(story: Story) -> Iterator[str]:
    yield plain(story.headline.removeprefix("undecided: "))
    yield from ("", plain(story.why))
    if story.where:
        yield from ("", f"Where: {'; '.join(code(place) for place in story.where)}")
    for point in story.speaks_for:
        yield f"* {plain(point.says)} ({point.kind})"
    if story.memory:
        yield from ("", f"Memory: {plain(story.memory)}")
    if story.doubt:
        yield from ("", f"Found by sigwhy; its doubt: {plain(story.doubt)}")


def _reproduce(report: Report, story: Story) -> Iterator[str]:
    first = report.incidents[0] if report.incidents else None
    if first and first.command:
        yield f"It was run as {code(one_line(' '.join(first.command), most=400))}."
    if mine := next((row for row in story.stack if getattr(row, "yours", False)), None):
        yield f"The call is at {code(getattr(mine, 'brief', ''))}."
    yield from ("", f"_A script of a few lines that dies the same way:_ {UNKNOWN}")


def _output(report: Report) -> Iterator[str]:
    for incident in report.incidents[:1]:
        words = [harmless(line) for line in incident.stderr.splitlines()[-LAST_WORDS:]]
        if any(words):
            yield from ("Last lines of standard error:", "", *fenced(words), "")
    for thread in threads(report):
        if thread.crashed or thread.merged:
            yield from (f"{plain(thread.title)}, innermost call first:", "")
            yield from fenced([stack_line(call) for call in thread.calls[:MOST_CALLS]])
            return
    yield UNKNOWN


def _not_known(report: Report, story: Story) -> Iterator[str]:
    blind = [one_line(what) for incident in report.incidents for what in incident.blind]
    if not story.decided:
        blind.append("the cause: sigwhy could not decide")
    if blind:
        yield from ("### Not known", "", *(f"* {plain(what)}" for what in blind))


# ---- what is known --------------------------------------------------------------------------


def _values(report: Report, blamed: str | None) -> dict[str, str]:
    packages = {**{v.package: v.version for v in report.case.all(Version)}}
    first = report.incidents[0] if report.incidents else None
    if first:
        packages |= first.packages
    version = next((v for k, v in packages.items() if blamed and _key(k) == _key(blamed)), "")
    backends = [f"{k} {v}" for k, v in packages.items() if _key(k) in _BACKENDS]
    values = {
        "version": f"{blamed} {version}" if version else "",
        "backend": ", ".join(backends),
        "packages": ", ".join(f"{name} {number}" for name, number in packages.items()),
        "python": (first.python_version or "") if first else packages.get("python", ""),
        "system": _system(report, first),
    }
    for what in ("cpu", "install", "custom", "cuda", "blas", "mobile"):
        values[what] = _OF_INCIDENTS[what](first) if first else ""
    return values


_BACKENDS = frozenset(
    {"tensorflow", "tensorflow_cpu", "tensorflow_intel", "tf_nightly", "torch", "jax"}
)


def _system(report: Report, incident: Incident | None) -> str:
    if incident and incident.system:
        return f"{incident.system}, {incident.machine}"
    told = report.case.first(Platform)
    said = (told.system, told.detail, told.machine) if told else ()
    return ", ".join(part for part in said if part)


def _cpu(incident: Incident) -> str:
    flags = [flag for flag in FLAGS if flag in incident.cpu_flags]
    has = f"with {' '.join(flags)}" if flags else ""
    return " ".join(part for part in (incident.cpu or incident.machine, has) if part)


def _install(incident: Incident) -> str:
    """Wheels lie in site-packages with a record; conda leaves its own folder beside them."""
    paths = [module.path for module in incident.modules if module.distribution]
    if not paths:
        return ""
    conda = any(re.search(r"conda|mamba|/envs/[^/]+/lib/", path) for path in paths)
    name = incident.environment.get("CONDA_PREFIX") if conda else None
    return (
        "binary (conda environment, packages by their RECORD)" if name else "binary (wheel by pip)"
    )


def _custom(incident: Incident) -> str:
    """Native code that no distribution brought, and that is not of the system."""
    own = [
        file_name(module.path)
        for module in incident.modules
        if not module.distribution and not SYSTEM.search(module.path)
    ]
    return f"yes, native: {', '.join(own[:5])}" if own else "no native code of one's own was loaded"


SYSTEM = re.compile(
    r"^/(?:usr/)?lib|/python[\d.]*$|libpython|lib-dynload/|^/usr/bin/|/ld-linux|^\[|/conda\w*/|^/opt/"
)


def _cuda(incident: Incident) -> str:
    found = [name for m in incident.modules if CUDA.match(name := file_name(m.path))]
    return ", ".join(found[:6]) if found else "no library of CUDA or ROCm was loaded"


def _blas(incident: Incident) -> str:
    names = (file_name(module.path) for module in incident.modules)
    found = [n for n in names if re.match(r"lib(?:\w*blas\w*|mkl\w*|gomp|iomp5|omp)\b", n)]
    return ", ".join(found[:8]) if found else "none that is known by its name"


def _mobile(incident: Incident) -> str:
    return f"no ({incident.machine})"


_OF_INCIDENTS = {
    "cpu": _cpu,
    "install": _install,
    "custom": _custom,
    "cuda": _cuda,
    "blas": _blas,
    "mobile": _mobile,
}
