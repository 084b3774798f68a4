"""Where well-known names are at home, so that one taken from elsewhere is seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Culprit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.fact import Frame

# A function, and the library where it belongs.
HOMES = tuple(
    (re.compile(function), re.compile(home, re.IGNORECASE), name)
    for function, home, name in (
        (r"^uv_", r"libuv|node|julia|uvloop", "libuv"),
        (r"^png_", r"libpng|libfreeimage", "libpng"),
        (r"^(?:jpeg|jinit|jpeg_\w+|tj[A-Z])\w*_", r"libjpeg|turbojpeg", "libjpeg"),
        (r"^(?:inflate|deflate|crc32_z|adler32)", r"libz[.-]|zlib|libpython", "zlib"),
        (r"^TIFF[A-Z]", r"libtiff", "libtiff"),
        (r"^H5[A-Z]{1,2}_{0,2}\w", r"hdf5|h5py|tables", "HDF5"),
        (r"^(?:SSL|EVP|CRYPTO|BIO|X509|OPENSSL|RSA)_", r"libssl|libcrypto|_ssl|_hashlib|boring", "OpenSSL"),
        (r"^XML_[A-Z]", r"expat|pyexpat|libpython", "expat"),
        (r"^sqlite3_?[A-Z_a-z]", r"sqlite", "SQLite"),
        (r"^(?:av|avcodec|avformat|sws)_", r"libav|libsw|ffmpeg|av/", "FFmpeg"),
        (r"^curl_", r"libcurl|pycurl", "curl"),
        (r"^(?:lzma|BZ2|ZSTD|LZ4)_", r"lzma|bz2|zstd|lz4|blosc|arrow|libpython", "a compressor"),
        (r"^(?:void )?std::(?:__\w+::)?__once_call_impl|^_ZSt16__once_call_impl", r"libstdc\+\+|libc\+\+", "the C++ run time (call_once)"),
        (r"^ffi_(?:call|prep|closure)", r"libffi|_ctypes|_cffi", "libffi"),
    )
)  # fmt: skip
# Packages that bring compiled libraries of some size.
NATIVE = {
    "tensorflow", "torch", "torchvision", "torchaudio", "pyarrow", "cv2", "numpy", "scipy", "pandas", "sklearn", "open3d",
    "faiss", "xgboost", "lightgbm", "jax", "paddle", "mxnet", "onnxruntime", "tensorrt", "h5py", "matplotlib", "dlib", "pcl",
    "gdal", "osgeo", "rasterio", "vtk", "PyQt5", "av", "decord", "spacy", "transformers", "keras", "theano", "caffe", "zmq",
    "pymesh", "igl", "cupy", "numba", "grpc", "google", "datasets", "ray", "tensorflow_io", "sentencepiece", "tokenizers",
}  # fmt: skip
# The length in front of each identifier of a mangled name.
LENGTH = re.compile(r"[1-9]\d{0,3}")
# The run time of C and C++, which everybody calls.
CXX = re.compile(r"libstdc\+\+|libc\+\+|libgcc_s|libpthread|libc[.-]|ld-linux")
# Its parts that keep state in the process: two copies of them do not agree.
LOCALE = re.compile(r"St6locale|std::(?:__\w+::)?(?:locale|codecvt|ctype|num_put|num_get|use_facet|ios_base::Init)|St7codecvt|St5ctype|7num_put|St8ios_base4Init|S_initialize_once")  # fmt: skip
STREAM = re.compile(r"std::(?:__\w+::)?(?:basic_)?(?:ostream|istream|stringstream)|^_ZNSo|^_ZStls")
ONCE = re.compile(r"call_once|__once_proxy|__pthread_once|__once_callable|St9call_once")
INNERMOST = 6
CALLERS = 8


def borrowed(frames: Sequence[Frame]) -> Iterator[tuple[Frame, str]]:
    """The innermost frames that run a function of one library out of the file of another.

    A package may link a library into itself and call it there; it is borrowed where somebody else
    calls it.
    """
    for n, frame in enumerate(frames[:INNERMOST]):
        for function, home, name in HOMES:
            place = where(frame)
            if place and function.match(frame.function or "") and not home.search(place):
                outer = frames[n + 1 : n + CALLERS]
                if _called_from_elsewhere(outer, place, function):
                    yield frame, name


def where(frame: Frame) -> str:
    """The file that a frame lies in, as far as it was said."""
    return frame.library or frame.file or ""


def _called_from_elsewhere(outer: Sequence[Frame], place: str, same: re.Pattern[str]) -> bool:
    others = (f for f in outer if where(f) and not same.match(f.function or ""))
    caller = next(others, None)
    return caller is not None and where(caller) != place


def types_of(symbol: str) -> str:
    """What remains of a mangled name without its identifiers: the letters of the types."""
    rest, at = [], 0
    while at < len(symbol):
        if found := LENGTH.match(symbol, at):
            at = found.end() + int(found[0])
            rest.append(" ")
        else:
            rest.append(symbol[at])
            at += 1
    return "".join(rest)


def user(frames: Sequence[Frame]) -> Culprit | None:
    """The package that called into the system's libraries."""
    for frame in frames:
        if frame.library and not CXX.search(frame.library) and "libpython" not in frame.library:
            return Culprit(kind="library", name=frame.function, library=frame.library)
    return None
