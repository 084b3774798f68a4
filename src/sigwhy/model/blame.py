"""Which frame of a stack tells something, and whose code it is.

Most frames carried a fault that others made: the C library, allocators, signal handlers, the
interpreter, executors and thread pools are on every stack. The tables say which, as rows.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sigwhy.model.cause import Culprit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sigwhy.model.fact import Frame, Stack

# Functions that carry, by what they are there for. A row is matched against the whole bare name.
CARRIERS = {
    "signals and ends": (
        r"raise|abort|kill|tgkill|p?thread_kill\w*|_?exit|quick_exit|on_exit|_run_exit_handlers|restore_rt|sigaction"
        r"|sigtramp|sigpanic|killpg|<signal handler called>|libc_message\w*|libc_fatal|fortify_fail\w*"
        r"|chk_fail|stack_chk_fail\w*|assert\w*_fail\w*|assert_fail_base|assert_rtn|assert2?|android_log_assert"
        r"|abort_message|abort_with_payload\w*|abort_report|kernel_rt_sigreturn|pthread_kill_implementation"
        r"|pthread_kill_internal|fatal_error|FatalError|handle_fatal_error|cxa_bad_cast|fdelt_\w+|vfortify\w*"
        r"|report_\w*error|report_\w*warn\w*|purecall|invalid_parameter\w*|_?invoke_watson|terminate\w*|unexpected"
    ),
    "memory": (
        r"malloc\w*|calloc\w*|realloc\w*|reallocarray|free|cfree|free_base|memalign|posix_memalign|aligned_alloc"
        r"|_?int_(?:free|malloc|realloc|memalign)\w*|unlink_chunk\w*|arena_for_chunk|arena_get\w*|tcache_\w+|sysmalloc"
        r"|systrim\w*|munmap_chunk|munmap|mmap|brk|sbrk|operator (?:new|delete)(?:\[\])?|je_\w+|jemalloc\w*|tc_\w+|mi_\w+"
        r"|szone_\w+|tiny_\w+|small_\w+|nano_\w+|large_\w+_malloc|free_(?:tiny|small|list)\w*|default_zone_\w+|scudo\w*"
        r"|ifree|ialloc\w*|RtlFreeHeap|RtlAllocateHeap|Rtl\w*Heap\w*|HeapFree|HeapAlloc|heap_\w*corrupt\w*"
    ),
    "strings and bytes": (
        r"mem(?:cpy|move|set|cmp|chr|rchr|pcpy|mem)\w*|str(?:n?len|n?cpy|n?cmp|n?cat|r?chr|str|n?casecmp|dup|tol|tod)\w*"
        r"|platform_\w+|bcopy|bzero|wcs\w+|libc_\w+|v?f?s?n?printf\w*|intel_(?:fast|ssse3|avx)\w*|rep_\w+"
    ),
    "C++ run time": (
        r"cxa_\w+|gxx_personality\w*|Unwind_\w+|CxxThrowException|cxxabiv1::.+|gnu_cxx::.+"
        r"|verbose_terminate_handler|demangling_terminate_handler|objc_(?:terminate|exception_\w+|msgSend\w*)"
    ),
    "threads and starts": (
        r"clone3?\w*|start_thread|thread_start|pthread_(?:start|body|create|cond_\w+|mutex_\w+|join|once|exit)\w*|start|main"
        r"|libc_start\w*|Dl_start\w*|dl_\w+|call_init\w*|execute_native_thread_routine\w*|BaseThreadInitThunk"
        r"|RtlUserThreadStart\w*|ThreadStarter|invoke_main|syscall|futex\w*|lll_lock_\w+|psynch_\w+|thread_proxy\w*"
    ),
    "the interpreter": (
        r"Py(?!Array|Init|UFunc|Ufunc|Torch|Arrow|Dataset|Bool_Check_)[A-Z][A-Za-z]*_\w+|PyEval\w*|Py_\w+|Py(?:Object|Function|Eval|Run|Import)\w*"
        r"|pymain_\w+|run_(?:mod|eval_code_obj|pyc_file|command|file)|cfunction_\w+|cmpwrapper|method_vectorcall\w*|vectorcall\w*|vectorcall_\w+"
        r"|(?:fast|call|do_call|ext_do_call)_?(?:function|core|method)\w*|function_code_fastcall|type_call|object_vacall"
        r"|slot_\w+|builtin_\w+|gen_send_ex\w*|gen_(?:iternext|close)|method_call|partial_call\w*|subtype_dealloc|wrap_\w+"
        r"|(?:dict|list|tuple|func|frame|cell|code|type|module|set|unicode|gen|object|instance|method)_?dealloc|wrapper_call"
        r"|bytecode|gc_collect\w*|collect\w*_?generations?|collect|visit_decref|subtract_refs|finalize_\w+|exec_code_in_module"
        r"|load_source_module|import_\w+|thread_run|t_bootstrap|bootstrap_\w+|descriptor_\w+|property_\w+|lookup_\w+|_?INCREF|_?DECREF"
    ),
    "bridges": (
        r"ffi_call\w*|ffi_\w+|ctypes_\w+|pybind11::.+|nanobind::.+|boost::python::.+|swig_\w+|SWIG_\w+|JNI_\w+|art_\w+|JVM_\w+"
        r"|JavaCalls::.+|Java(?:Main|Thread::.+)|StubRoutines.*|~StubRoutines.*|invoke\(.*|Reflection::.+|jni_\w+"
    ),
    "reporters": (
        r"faulthandler_\w+|ucs_\w+|(?:absl::|google::)\S*(?:Failure\w*|LogMessage\w*|log_internal\S*|DumpStack\w*).*"
        r"|(?:tsl|tensorflow)::internal::LogMessage\S*.*|tsl::testing::\S+|crashpad\S*|mono_\w+|show_stackframe\w*|opal_\w+"
        r"|(?:c10|torch)::\S*(?:FatalSignalHandler|torchCheckFail|torchInternalAssertFail|get_backtrace|Error::Error)\S*.*"
        r"|backtrace\w*|print_?trace\w*|paddle::\S*SignalHandle\S*"
    ),
    "executors": (
        r"(?:tensorflow|tsl)::\S*(?:ExecutorState|ExecutorImpl|KernelAndDevice\w*|EagerExecute|EagerLocalExecute|EagerKernelExecute"
        r"|ExecuteNode\S*|EagerContext|ThreadPoolDevice::Compute|BaseGPUDevice::Compute|Device::Compute|EigenEnvironment"
        r"|thread::ThreadPool|FunctionLibraryRuntimeImpl|DirectSession|SessionRef|CustomDevice|EagerOperation::Execute).*"
        r"|TFE_\w+|TF_SessionRun\w*|TF_Run_Helper|Eigen::\S*(?:ThreadPool|NonBlockingThreadPool|EventCount|Barrier)\S*.*"
        r"|torch::autograd::\S*(?:Engine|Node::operator|PythonEngine)\S*.*|torch::(?:Pyt?hon|jit)\S*::(?:invoke|run)\S*.*"
        r"|c10::\S*(?:Dispatcher|KernelFunction|BoxedKernel|make_boxed|wrap_kernel|callUnboxed|callBoxed)\S*.*"
        r"|GOMP_\w+|gomp_\w+|kmp_invoke\w*|kmp_launch\w*|kmpc_fork\w*|kmp_fork_call|tbb::\S*(?:custom_scheduler|arena::process|market::process|rml::|start_for|start_reduce|task_dispatcher|finish_reduce)\S*.*|dispatch_\w+|start_wqthread|pthread_wqthread"
        r"|THPVariable_\w+|THPEngine_\w+|CFRunLoop\w*|NSApplicationMain"
    ),
    "sanitizers": (
        r"interceptor_\w+|(?:asan|tsan|msan|ubsan|lsan|sanitizer|hwasan)_\w+|(?:__)?(?:asan|sanitizer|tsan|msan|lsan|hwasan)::.+"
        r"|wrap_\w+|vgPlug\w+|vg_replace_\w+"
    ),
}  # fmt: skip
CARRIES = re.compile(rf"^(?:GI_)*_*(?:{'|'.join(CARRIERS.values())})$")
# The standard library of C++, with or without the type that a template gives back.
STANDARD = re.compile(
    r"^(?:\w[\w:]{0,60}[&*]? )?(?:std|__gnu_cxx|__cxxabiv1)::|^core::|^alloc::|^rust_|^runtime\."
)
UNDERSCORES = re.compile(r"^(?:__GI_+|_+)")
BARE = re.compile(
    r"^(?P<name>~?[\w.]+|operator (?:new|delete)(?:\[\])?)\([^)]*\)(?: const)?(?: \[clone [^\]]{1,60}\])*$|^(?P<cut>[\w.]+)(?:@@?[\w.]+|\.(?:part|isra|constprop|cold)[\w.]*)$"
)
# Files of the C library and of the interpreter: their frames carry whatever they are called.
SYSTEM_FILES = re.compile(
    r"^(?:\.{1,2}/)*(?:sysdeps|nptl|malloc|stdlib|signal|csu|elf|string|debug|misc|posix|libio|assert|stdio-common)/"
    r"|^(?:dl-[\w-]{1,30}|(?:str|mem|raw)\w{1,12})\.[cS]$|/glibc[-/]|/libsanitizer/|/compiler-rt/|/sanitizer_common/|vg_replace_"
    r"|^(?:\./|.*/(?:cpython|[Pp]ython-\d)[^/]*/)?(?:Objects|Python|Modules|Include|Parser)/[\w/]+\.[ch]$"
    r"|^/usr/include/c\+\+/|/include/c\+\+/\d|/libstdc\+\+-v3/|/rustc/|/pybind11/|[\\/]vctools[\\/]|minkernel|onecore"
)
# Libraries whose frames carry: what every process has.
CARRIER_LIBRARIES = re.compile(
    r"(?:^|[/\\!])(?:libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|libc\+\+(?:abi)?(?:_shared)?|libunwind|ld-linux[-\w]*|ld-[\d.]+|ld-musl[-\w]*|linux-vdso|linux-gate"
    r"|lib(?:asan|tsan|ubsan|lsan)|libclang_rt[\w.-]*|vgpreload_\w+[-\w]*|libffi|_ctypes|libsystem_\w+|libSystem|libdyld|libobjc|libdispatch|libxpc|CoreFoundation"
    r"|libpython[\d.]*\w?|ntdll|kernelbase|kernel32|ucrtbased?|msvcrt|vcruntime\d+(?:_1)?d?|msvcp\d+\w*|verifier"
    r"|libart|libbacktrace|libsigchain|app_process\d*|libjvm|jvm|libjli|libopen-(?:pal|rte)|libucs|libmpi)(?:[-.][\w.+-]*)?$"
    r"|(?:^|[/\\])(?:dyld|Python|python[\d.]*m?|python\d+\.dll|python3?\.exe|python\d*t?\.dll|\[vdso\]|app_process\d*|linker64|linker|WerFault\.exe)$",
    re.IGNORECASE,
)
PACKAGE = re.compile(r"(?:site|dist)-packages[/\\](?P<package>[^/\\]+)(?:[/\\]|$)")
LIBRARY_FOLDER = re.compile(r"(?:\.libs|\.dylibs|_libs)$")
EXTENSION = re.compile(
    r"\.(?:cpython-[\w-]+|cp\d+-[\w-]+|abi3|pypy\w*)?\.?(?:so|pyd|dylib|dll)(?:[.\d]*)$"
)
SYSTEM_PLACE = re.compile(
    r"^(?:/usr/lib|/lib|/usr/local/lib|/usr/local/cuda|/opt|/System|/usr/lib64|/lib64|/vendor|/system|/apex|[A-Za-z]:\\(?:Windows|Program Files))",
    re.IGNORECASE,
)
INSTALLED = re.compile(
    r"(?:^|/)(?:opt|envs?|miniconda\d?|anaconda\d?|mambaforge|miniforge\d?|conda|\.pyenv|homebrew|Cellar)/.*?/?lib(?:64)?/|^/opt/"
)
BUILT_ELSEWHERE = re.compile(
    r"^/(?:build|builddir|opt/_internal|opt/conda|home/(?:runner|conda|buildozer|jenkins|builder)|croot|tmp/pip-|project/|io/|usr/|var/tmp/portage|work/|wheel|root/\.cache/bazel)"
    r"|bazel-out/|(?:^|/)external/|third_party/|execroot|feedstock_root|^[A-Za-z]:\\(?:a|b|bld|ci)\\|site-packages|dist-packages|^(?:\./)?(?:build|_build)/"
    r"|^(?:aten|torch/csrc|c10|caffe2|tensorflow|tsl|xla|jaxlib|numpy|scipy|pandas|sklearn|modules|arrow)/|/node_modules/|\.pyx?$|^/Users/(?:runner|distiller|travis|builder)/"
)
PYTHON_INSTALLED = re.compile(r"site-packages|dist-packages")
PYTHON_OWN = re.compile(
    r"[/\\]lib(?:64)?[/\\]python[\d.]+\w?[/\\]|[/\\]Lib[/\\][\w.]+\.py$|[/\\]Python\d+[/\\]lib[/\\]|^<frozen |^<__array_function__|python\d*\.zip[/\\]"
)
FRAMEWORKS = frozenset(
    {"tensorflow", "tensorflow_core", "tensorflow_cpu", "tensorflow_intel", "tensorflow-plugins", "keras", "tf_keras", "torch", "functorch", "jax", "jaxlib", "tflite_runtime", "ai_edge_litert", "paddle", "mxnet", "onnxruntime", "tensorflow_io", "tensorflow_text", "tensorrt", "org_tensorflow", "eigen_archive", "eigen", "eigen3", "mkl_dnn", "mkl_dnn_v1", "onednn", "ideep", "xnnpack", "ruy", "gemmlowp", "fbgemm", "qnnpack", "cpuinfo", "pytorch", "local_xla", "local_tsl", "xla", "tsl", "flatbuffers", "com_google_absl"}
)  # fmt: skip
FRAMEWORK_SYMBOLS = re.compile(
    r"^(?:[\w:]+[&*]? )?(?:tensorflow|tsl|xla|tflite|stream_executor|absl|at|c10|torch|caffe2|mkldnn|dnnl|Eigen|paddle|mxnet|onnxruntime|mlir|nvinfer1)::|^TfLite|^TF_|^TFL_|^THP|^TH[A-Z]\w+_"
)
FRAMEWORK_LIBRARIES = re.compile(
    r"(?:^|[/\\])_?(?:lib)?(?:tensorflow\w*|_?pywrap_tensorflow\w*|torch\w*|c10\w*|caffe2\w*|tflite\w*|tensorflowlite\w*|LiteRt\w*|xla_extension|jaxlib\w*|mxnet|paddle\w*|onnxruntime\w*)[.\-]"
    r"|[/\\]torchinductor_\w+[/\\]|[/\\]\.triton[/\\]cache[/\\]"
)

# Where distributions, CI and vendors build: the folder is named after what is built there.
BUILT = re.compile(
    r"(?:/var/tmp/portage/(?:work/|[\w.-]+/(?!work/))?|/build(?:dir)?/(?:BUILD/|source/)?|/usr/src/debug/|/builds?/(?:reproducible-path/)?"
    r"|/feedstock_root/build_artifacts/|/croot/|/tmp/pip-(?:install|req-build)-\w+/|/Users/runner/work/|/home/runner/work/"
    r"|/home/buildozer/aports/\w+/|/nix/store/\w{32}-|(?:^|/)(?:third_party|3rdparty|thirdparty|external|vendor|deps|contrib)/)"
    r"(?P<name>[A-Za-z][\w+]*(?:-[A-Za-z]\w*)*)"
)
BUILT_SUFFIX = re.compile(r"[-_.]v?\d[\w.]*$|[-_](?:src|source|archive|work|\d{6,}\w*)$")
# The name spaces and prefixes of libraries, and what users call them.
PROJECTS = (
    ("TBB", re.compile(r"^tbb::")),
    ("gRPC", re.compile(r"^grpc(?:_core|_impl|_event_engine)?(?:::|_)|^gpr_")),
    ("OpenCV", re.compile(r"^cv::|^(?:pycv|pyopencv)_|^cvAlloc|^icv_")),
    ("Arrow", re.compile(r"^(?:arrow|parquet)::|^__pyx_\w+_7pyarrow_")),
    ("HDF5", re.compile(r"^H5[A-Z]{0,3}_+\w+$")),
    ("XGBoost", re.compile(r"^xgboost::|^XGB\w+$")),
    ("LightGBM", re.compile(r"^LightGBM::|^LGBM_")),
    ("faiss", re.compile(r"^faiss::")),
    ("OpenBLAS", re.compile(r"^(?:openblas_|cblas_|[sdcz](?:gemm|gemv|axpy|dot|scal|trsm|syrk|potrf|gesv|getrf)\w*_(?:ZEN|HASWELL|SKYLAKEX|SANDYBRIDGE|NEHALEM|COOPERLAKE|NEOVERSE\w*|ARMV8)$)|^(?:blas_thread|exec_blas)\w*")),
    ("NumPy", re.compile(r"^(?:PyArray|PyUFunc|npy|NpyIter|_?array)_\w+$")),
    ("Boost", re.compile(r"^boost::")),
    ("FFmpeg", re.compile(r"^(?:av|sws|swr|ff)_\w+$|^avcodec_|^avformat_")),
    ("libpng", re.compile(r"^png_\w+$")),
    ("libjpeg", re.compile(r"^(?:jpeg|jinit|jsimd)_\w+$")),
    ("libtiff", re.compile(r"^TIFF\w+$")),
    ("SQLite", re.compile(r"^sqlite3\w*$")),
    ("libxml2", re.compile(r"^xml[A-Z]\w+$")),
    ("ZeroMQ", re.compile(r"^zmq(?:::|_)")),
    ("GDAL", re.compile(r"^(?:GDAL|OGR|CPL|VSI)\w+$|^OSR\w+$")),
    ("VTK", re.compile(r"^vtk[A-Z]\w+")),
    ("Qt", re.compile(r"^(?:Q[A-Z]\w+|QtPrivate)::")),
    ("OpenSSL", re.compile(r"^(?:SSL|EVP|BIO|OPENSSL|CRYPTO|ERR|RSA|X509|ASN1)_\w+$")),
    ("protobuf", re.compile(r"^google::protobuf::|^upb_|^PyUpb")),
    ("OR-tools", re.compile(r"^operations_research::")),
    ("UCX", re.compile(r"^(?:uct|ucp|ucm)_\w+$")),
    ("PSM2", re.compile(r"^psm[i23]?2?_\w+$")),
    ("Open MPI", re.compile(r"^(?:ompi|mca|opal|orte|prte|PMPI|MPI)_\w+$")),
)  # fmt: skip

# Python functions of packages that only pass a call on.
WRAPS = re.compile(
    r"^(?:error_handler|_?wrapp(?:er|ed)\w*|inner\w*|decorated?|op_dispatch_handler|_?wrapped_call_impl|_call_impl|__array_function__)$"
)

Whose = Literal["own", "package", "system", "framework", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose code a frame is: the user's, a package's, the system's, a framework's.

    ``name`` is the package (``horovod``) or the library file (``libpsm2.so.2.1``).
    """

    whose: Whose
    name: str | None


def carries(frame: Frame) -> bool:
    """Whether a frame only carried what others did, or tells nothing at all."""
    if not (frame.function or frame.library or frame.file):
        return True
    if frame.language == "python" and is_installed(frame) and WRAPS.match(frame.function or ""):
        return True
    if frame.language == "python":
        return bool(frame.file and PYTHON_OWN.search(frame.file) and not is_installed(frame))
    if frame.function and _is_carrier(frame.function):
        # The user's own main() with its line is as good as any other function.
        return not (frame.file and frame.function == "main")
    if frame.file and SYSTEM_FILES.search(frame.file):
        return True
    return bool(frame.library and CARRIER_LIBRARIES.search(frame.library))


def _is_carrier(function: str) -> bool:
    name = function[:600]
    if STANDARD.match(name):
        return True
    if bare := BARE.match(name):
        name = bare["name"] or bare["cut"]
    return bool(CARRIES.match(name) or CARRIES.match(UNDERSCORES.sub("", name)))


def is_installed(frame: Frame) -> bool:
    """Whether a Python frame is of a package that was installed."""
    return bool(frame.file and PYTHON_INSTALLED.search(frame.file))


def telling(frames: Sequence[Frame]) -> Iterator[Frame]:
    """The frames that could be to blame, innermost first."""
    return (frame for frame in frames if not carries(frame))


def crashed(stacks: Iterator[Stack], language: str) -> Iterator[Stack]:
    """The stacks of the threads that died, with frames of this language."""
    return (
        stack
        for stack in stacks
        if stack.crashed
        and stack.role == "fault"
        and any(frame.language == language for frame in stack.frames)
    )


def owner(frame: Frame) -> Owner:
    """Whose code a native frame is, as far as its names tell."""
    place = frame.library or ""
    library = file_name(place) if place else None
    package = (
        package_of(place)
        or package_of(frame.file or "")
        or project_of(frame.function or "")
        or _built(frame.file or "")
    )
    return Owner(whose=_whose(frame, package, place), name=package or library)


def whom(frame: Frame, whose: Owner) -> Culprit:
    """The package or library of a frame, with its function and place."""
    library = short_path(frame.library) if frame.library else None
    return Culprit(
        kind="package" if whose.whose == "package" else "library",
        name=whose.name,
        library=library or (file_name(frame.file) if frame.file and not frame.line else None),
        function=frame.function,
        file=frame.file,
        line=frame.line,
    )


def _whose(frame: Frame, package: str | None, place: str) -> Whose:
    framework = (package or "").lower() in FRAMEWORKS or FRAMEWORK_LIBRARIES.search(place)
    if framework or (frame.function and FRAMEWORK_SYMBOLS.match(frame.function[:400])):
        return "framework"
    if package:
        return "package"
    if frame.file and not BUILT_ELSEWHERE.search(frame.file):
        return "own"
    if SYSTEM_PLACE.match(place) or INSTALLED.search(place):
        return "system"
    return "own" if "/" in place or "\\" in place else "unknown"


def _built(file: str) -> str | None:
    """``libebur128`` of a source file where a distribution or a vendor keeps it."""
    found = BUILT.search(file)
    return BUILT_SUFFIX.sub("", found["name"]) if found else None


def project_of(function: str) -> str | None:
    """The library whose name space or prefix a function has."""
    name = function[:200]
    return next((project for project, form in PROJECTS if form.match(name)), None)


def package_of(path: str) -> str | None:
    """The installed package that a path belongs to; a bundled library to the one it came with."""
    found = PACKAGE.search(path)
    if not found:
        return None
    name = LIBRARY_FOLDER.sub("", found["package"])
    return EXTENSION.sub("", name).removesuffix(".py") or None


def file_name(path: str) -> str:
    """The last part of a path of any system."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def short_path(path: str) -> str:
    """A path from the package on: ``horovod/tensorflow/mpi_lib.so``."""
    if "/../" in path:
        path = posixpath.normpath(path)
    found = PACKAGE.search(path)
    return path[found.start("package") :] if found else path
