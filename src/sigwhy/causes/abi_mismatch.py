"""A library was built against other headers than those of the library it meets at run time.

What happens: compiled code relies on names, sizes and layouts of what it was built for: TensorFlow,
PyTorch, NumPy, HDF5, Python, the C++ library. Beside another version the loader misses a name, the
library checks itself and gives up, or nobody checks and the first call across the border crashes.

How to tell: an undefined symbol that belongs to a framework; NumPy's own sentence about 1.x and
2.x; "size changed, may indicate binary incompatibility"; HDF5's "Headers are … library is …"; a
crash between an extension and a framework function that takes a std::string or std::function. In
an undefined symbol __cxx11 or B5cxx11 means: the caller has the new string ABI and the framework
the old one; Ss means the opposite.

Fix: rebuild the extension with the headers and flags of the installed framework
(tf.sysconfig.get_compile_flags(), torch.utils.cpp_extension), or install versions made together.

Folklore: reinstalling the same wheel changes nothing; HDF5_DISABLE_VERSION_CHECK only moves the crash.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import LoadFailure, Notice, Stack
from sigwhy.model.home import types_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case
    from sigwhy.model.fact import Frame

CAUSE = Cause(
    id="abi-mismatch",
    title="a library was built against other headers than it runs with",
    fix="Rebuild the extension against the installed version, or install versions made together.",
)
TF_FIX = "Rebuild it with the flags of tf.sysconfig.get_compile_flags() and get_link_flags()"
TORCH_FIX = "Rebuild it with torch.utils.cpp_extension against the installed torch"
OWNERS = (
    (re.compile(r"\d(?:10tensorflow|3tsl|3xla|6tflite)|^_*Z\w{0,8}(?:10tensorflow|3tsl|3xla|6tflite|15stream_executor)|^_?TFE?_[A-Z]|^_?SE_|^_?TfLite"), "TensorFlow", TF_FIX),
    (re.compile(r"^_*Z\w{0,8}(?:2at|3c10|5torch|6caffe2|8nvfuser)|^_?THP|^_?TH[A-Z]\w*_|^_?aoti_"), "PyTorch", TORCH_FIX),
    (re.compile(r"4absl"), "abseil", "Rebuild it with the abseil of the installed framework"),
    (re.compile(r"6google8protobuf"), "protobuf", "Rebuild it with the installed protobuf"),
    (re.compile(r"^_*Z\w{0,8}2cv"), "OpenCV", "Rebuild it against the installed OpenCV"),
    (re.compile(r"^_{0,2}Py[A-Z_a-z]|^_*Z\w{0,40}_object$|^(?:module export|init) function"), "Python", "Install a build of it for this Python version; unset PYTHONPATH if it names another's"),
    (re.compile(r"^_?H5\w"), "HDF5", "Install the package again with the HDF5 it was built for"),
    (re.compile(r"^_?iJIT_"), "MKL", "Install the MKL version that it was built with"),
)  # fmt: skip
RETURNS_STRING = re.compile(r"9NewStringEv|8ToStringEv|11DebugStringEv|10SummarizeE|5c_strEv$")
RUN_TIME = re.compile(r"^_*ZN?K?T?[VIS]?N?K?St|^_?__(?:cxa|gxx)|^_*ZN?K?(?:9__gnu_cxx|10__cxxabiv1)")  # fmt: skip
OTHER_CPP = re.compile(r"^_{1,3}Z\w")
NO_CLUE = re.compile(r"^_*(?:(?:ZNK?5)?cudnn|cublas|cusparse|cusolver|cufft|curand|cuda[A-Z_]|cu[A-Z]|nccl|nvrtc|__nv|nvJit|npp|hip)")  # fmt: skip
OLD_FIX = "Compile it without -D_GLIBCXX_USE_CXX11_ABI=0: {0} was built with the new string ABI."
NEW_FIX = "Compile it with -D_GLIBCXX_USE_CXX11_ABI=0: {0} was built with the old string ABI."
# topic: weight, what it says, who is to blame, fix
TOPICS = {
    "numpy-abi": (Weight.PROOF, "a module was built for another NumPy", "NumPy", 'Install a version of the module that supports this NumPy, or pip install "numpy<2".'),
    "struct-size": (Weight.PROOF, "a class has another size than when the module was built", None, "Install the module again, built against the installed version."),
    "c-signature": (Weight.STRONG, "a C function has another signature than when the module was built", None, "Install both packages again, in versions made for each other."),
    "init-without-error": (Weight.STRONG, "a module failed to start without saying why", None, "Install versions that fit: numba and its like need an exact range of NumPy."),
    "numpy-other-python": (Weight.STRONG, "NumPy's compiled part is there for another Python only", "NumPy", "Unset PYTHONPATH and install NumPy for this Python."),
    "python-abi": (Weight.PROOF, "a module was built for another Python", "Python", "Install a build of the module for this Python version."),
    "python-abi-warned": (Weight.FAIR, "a module warns that it was built for another Python", "Python", None),
    "hdf5-abi": (Weight.PROOF, "HDF5 says that headers and library differ", "HDF5", "Reinstall h5py (and tables, netCDF4) so that one HDF5 is used: pip install --force-reinstall h5py."),
    "hdf5-abi-warned": (Weight.FAIR, "h5py runs with another HDF5 than it was built with", "HDF5", None),
    "torch-abi": (Weight.STRONG, "torchvision was built for another torch", "torchvision", "Install the torch and torchvision releases that belong together."),
    "library-replaced": (Weight.SLIGHT, "a library was replaced by another build while the process used it", None, "Let no program run while packages are installed or upgraded; start it anew."),
    "framework-abi": (Weight.STRONG, "an extension was built for another framework version", None, "Reinstall the extension after the framework: pip install --no-cache-dir --force-reinstall."),
}  # fmt: skip
INSTALLED = re.compile(r"(?:site|dist)-packages/|^/(?:usr/)?lib|/lib/[^/]+$")
REGISTERS = re.compile(r"OpDefBuilder|KernelDefBuilder|InitOnStartup|OpKernelRegistrar")
OLD_STRING = re.compile(r"std::string::_Rep|_ZNSs")
PYTHON_OF = re.compile(r"cpython-3(\d{1,2})|python3\.(\d{1,2})|python3(\d{1,2})\.dll|cp3(\d{1,2})-")
SITE = re.compile(r"(?:site|dist)-packages/(?P<package>[\w.-]+)/")
FRAMEWORK = re.compile(r"libtensorflow|_pywrap_tensorflow|libtorch|libc10|/torch/_C")
CROSSES = re.compile(r"St8function|std::function|basic_string|RKSs|\bstd::string|OpDefBuilder|OpRegist")  # fmt: skip
SYSTEM = re.compile(r"lib(?:c|pthread|stdc\+\+|gcc_s|m|dl)[-.]|ld-linux|libpython|^python\d?")


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for parts that were built for something else."""
    for failure in case.all(LoadFailure):
        if failure.kind == "symbol" and failure.missing and not NO_CLUE.match(failure.missing):
            yield from _symbol(failure, failure.missing)
    for notice in case.all(Notice):
        if row := TOPICS.get(notice.topic):
            weight, says, blamed, fix = row
            subject = notice.subject or ""
            name, path = blamed or subject.split(".")[0], subject if subject[:1] == "/" else None
            name = PurePosixPath(path).name if path else "NumPy" if name == "numpy" else name
            whom = Culprit(kind="library" if path else "package", name=name, library=path)
            yield Clue(weight, notice, says, whom if name else None, fix)
    for stack in case.all(Stack):
        if stack.crashed and stack.language == "native":
            yield from _crossing(stack)


def _symbol(failure: LoadFailure, symbol: str) -> Iterator[Clue]:
    library = failure.needed_by or failure.library
    name = PurePosixPath(library).name if library else None
    whom = Culprit(kind="library", name=name, library=library, function=symbol)
    for pattern, owner, fix in OWNERS:
        if pattern.search(symbol):
            says = f"a name of {owner} is missing that the library was built with"
            strings = _string_abi(symbol, owner)
            whom = replace(whom, argument="_GLIBCXX_USE_CXX11_ABI" if strings else None)
            yield Clue(Weight.PROOF, failure, says, whom, strings or fix)
            return
    if RUN_TIME.match(symbol):
        return
    if OTHER_CPP.match(symbol):
        says = "a C++ name is missing that the library was built with"
        yield Clue(Weight.STRONG, failure, says, whom)
    else:
        plain = ", version " not in symbol and INSTALLED.search(library or "")
        weight = Weight.STRONG if plain else Weight.SLIGHT
        yield Clue(weight, failure, "a name is missing that the library wants", whom)


def _string_abi(symbol: str, owner: str) -> str | None:
    """Which of the two std::string ABIs the caller was built with, as the fix."""
    if "__cxx11" in symbol or "B5cxx11" in symbol:
        return NEW_FIX.format(owner)
    old = "Ss" in types_of(symbol) or RETURNS_STRING.search(symbol)
    return OLD_FIX.format(owner) if old else None


def _crossing(stack: Stack) -> Iterator[Clue]:
    """A crash where two parts meet that were not built for each other."""
    near = [f for f in stack.frames[:8] if f.library and not SYSTEM.search(f.library)]
    if len(near) > 1 and not FRAMEWORK.search(near[0].library or ""):
        site = SITE.search(near[0].library or "")
        outer = next((f for f in near if FRAMEWORK.search(f.library or "")), None)
        if outer and site and CROSSES.search(outer.function or ""):
            says = "it died in another vendor's library, handed over by a function of the framework"
            yield Clue(Weight.STRONG, stack, says, _blame(near[0], site["package"]))
    words = " ".join(f.function or "" for f in stack.frames[:40])
    if REGISTERS.search(words) and near and not FRAMEWORK.search(near[-1].library or ""):
        says = "it died while an extension registered itself with the framework"
        yield Clue(Weight.STRONG, stack, says, _blame(near[-1]))
    if "__cxx11" in words and OLD_STRING.search(words):
        yield Clue(Weight.STRONG, stack, "both std::string ABIs are on one stack")
    made_for = {n: f for f in stack.frames[:30] for n in _pythons(f)}
    if len(made_for) > 1 and (odd := next((f for f in made_for.values() if f.library), None)):
        yield Clue(Weight.STRONG, stack, "it has parts for different Python versions", _blame(odd))


def _pythons(frame: Frame) -> set[str]:
    """The version of Python that a compiled file was made for."""
    name = PurePosixPath(frame.library or "").name
    return {next(n for n in found if n) for found in PYTHON_OF.findall(name)}


def _blame(frame: Frame, name: str | None = None) -> Culprit:
    name = name or frame.library or ""
    return Culprit(kind="library", name=name, library=frame.library, function=frame.function)
