"""How Windows reports a crash: event log, error reporting, Visual Studio, WinDbg's analysis.

Looks like::

    Faulting application name: python.exe, version: 3.10.1150.1013, time stamp: 0x642cc427
    Faulting module name: fast_kernel.pyd, version: 0.0.0.0, time stamp: 0x6512a3b0
    Exception code: 0xc0000005
    Fault offset: 0x0000000000012a4c
    Exception thrown at 0x00007FF9 (fast_kernel.pyd) in python.exe: 0xC0000005: Access violation reading location 0x0000000000000000.
    ExceptionCode: c0000005 (Access violation)
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.machine.place import count, number
from sigwhy.model.fact import Death, Exit, Fault, Frame, Notice, Platform, Span
from sigwhy.model.frames import Head, Row, stacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Access, Fact

# The label in the tongues in which Windows writes its log; also of a full-width colon.
APPLICATION = re.compile(
    r"(?:Faulting application name|Application Name|Name der fehlerhaften Anwendung"
    r"|Nom de l[’']application d[ée]faillante|Nombre de la aplicaci[óo]n con errores"
    r"|Nome dell'applicazione che ha generato l'errore|Nome do aplicativo com falha|Nome da aplicação com falha"
    r"|Имя сбойного приложения|Nazwa aplikacji powodującej błąd|错误应用程序名称|出错应用程序名称|失敗的應用程式名稱"
    r"|障害が発生しているアプリケーション名|오류 있는 응용 프로그램 이름)\s*[:：]\s*(?P<name>[^\s,，、][^,，、\n]{0,200})"
)
MODULE = re.compile(
    r"(?:Faulting module name|Fault Module Name|Name des fehlerhaften Moduls|Nom du module d[ée]faillant"
    r"|Nombre del m[óo]dulo con errores|Nome del modulo che ha generato l'errore|Nome do m[óo]dulo com falha"
    r"|Имя сбойного модуля|Nazwa modułu powodującego błąd|错误模块名称|出错模块名称|故障模块名称|失敗的模組名稱"
    r"|障害が発生しているモジュール名|오류 있는 모듈 이름)\s*[:：]\s*(?P<name>[^\s,，、][^,，、\n]{0,200})"
)
CODE = re.compile(
    r"(?:Exception code|Exception Code|ExceptionCode|EXCEPTION_CODE|Ausnahmecode|Code d[’']exception"
    r"|C[óo]digo de excepci[óo]n|Codice eccezione|C[óo]digo de exce[çc][ãa]o|Код исключения|Kod wyjątku"
    r"|异常代码|例外狀況代碼|例外コード|예외 코드)\s*[:：]\s*(?:\([^()\n]{0,40}\) )?(?:0x)?(?P<code>[cC0-9][0-9a-fA-F]{7})\b"
)
OFFSET = re.compile(
    r"(?:Fault offset|Exception Offset|Fehleroffset|D[ée]calage d[’']erreur|Desplazamiento de errores"
    r"|Offset errore|Deslocamento d[ae] falha|Смещение ошибки|错误偏移量|错误偏移|錯誤位移|障害オフセット|오류 오프셋)"
    r"\s*[:：]\s*(?:0x)?(?P<offset>[0-9a-fA-F]{4,16})\b"
)
PATH = re.compile(r"[:：]\s*(?P<path>[A-Za-z]:\\[^\n]{1,300}\.\w{1,10})\s*$")
# The C++ run time, from elsewhere than the folder of Windows.
BROUGHT_ALONG = re.compile(
    r"[:：]\s*(?P<path>[A-Za-z]:\\(?!Windows\\)[^\n]{1,300}\\(?P<name>(?:msvcp|vcruntime|concrt)\d{3}(?:_\w{1,20})?\.dll))\s*$",
    re.IGNORECASE,
)
STUDIO = re.compile(
    r"(?:Unhandled exception|Exception thrown|First-chance exception)(?: thrown)? at 0x[0-9a-fA-F`]{4,17}"
    r"(?: \((?P<module>[^()\n]{1,120})\))? in (?P<process>[^\n:]{1,120}): 0x(?P<code>[0-9a-fA-F]{8})(?::|\.)"
)
ACCESS = re.compile(
    r"(?P<how>reading|writing|executing) location 0x(?P<address>[0-9a-fA-F`]{4,17})"
    r"|Attempt to (?P<what>read from|write to|execute non-executable) address (?P<at>[0-9a-fA-F`]{8,17})"
)
ADDRESS = re.compile(r"ExceptionAddress: [0-9a-fA-F`]{8,17}(?: \((?P<place>[^()\n]{1,400})\))?")
SYMBOL = re.compile(r"^SYMBOL_NAME:\s+(?P<place>\S{1,400})")
IMAGE = re.compile(r"^(?:IMAGE_NAME|MODULE_NAME):\s+(?P<name>\S{1,120})")
# WinDbg's k, kb, kv, kn and STACK_TEXT.
STACK_ROW = re.compile(
    r"^\s*(?:[0-9a-fA-F]{2} )?(?:[0-9a-fA-F]{8}(?:`[0-9a-fA-F]{8})? {1,12}){2,3}(?:: (?:[0-9a-fA-F]{8}(?:`[0-9a-fA-F]{8})? ){1,4} {0,8}: )?"
    r"(?P<place>[\w.]{1,120}!\S[^\n]{0,1000}|[\w.]{1,120}\+0x[0-9a-fA-F]{1,16})\s*$"
)
STACK_HEAD = re.compile(r"^STACK_TEXT:|^ # Child-SP|^Child-SP\s+RetAddr|^ChildEBP RetAddr")
SOURCE = re.compile(r"\s+\[(?P<file>[^\]\n]{1,300}) @ (?P<line>\d{1,8})\]")
PLUS = re.compile(r"\+0x(?P<offset>[0-9a-fA-F]{1,16})$")
MARKERS = (
    "aulting", "Fault Module", "xception code", "xception Code", "xceptionCode", "EXCEPTION_CODE",
    "Ausnahmecode", "Code d", "Código de exce", "Codigo de exce", "Codice ecce", "Код исключения",
    "异常代码", "例外狀況代碼", "例外コード", "예외 코드", "ception thrown at", "ception at 0x",
    "ExceptionAddress", "Attempt to ", "STACK_TEXT", "Child-SP", "SYMBOL_NAME", "Kod wyj",
    "モジュール名", "错误模块", "故障模块", "出错模块", "模組名稱", "fehlerhaften", "сбойного", "con errores", "défaillan",
)  # fmt: skip
NAMES = {
    0xC0000005: ("STATUS_ACCESS_VIOLATION", "SIGSEGV"),
    0xC0000006: ("STATUS_IN_PAGE_ERROR", "SIGBUS"),
    0xC000001D: ("STATUS_ILLEGAL_INSTRUCTION", "SIGILL"),
    0xC0000017: ("STATUS_NO_MEMORY", None),
    0xC0000094: ("STATUS_INTEGER_DIVIDE_BY_ZERO", "SIGFPE"),
    0xC0000095: ("STATUS_INTEGER_OVERFLOW", "SIGFPE"),
    0xC00000FD: ("STATUS_STACK_OVERFLOW", None),
    0xC0000135: ("STATUS_DLL_NOT_FOUND", None),
    0xC0000139: ("STATUS_ENTRYPOINT_NOT_FOUND", None),
    0xC0000374: ("STATUS_HEAP_CORRUPTION", None),
    0xC0000409: ("STATUS_STACK_BUFFER_OVERRUN", None),
    0xC0000602: ("STATUS_FAIL_FAST_EXCEPTION", None),
    0x80000002: ("STATUS_DATATYPE_MISALIGNMENT", "SIGBUS"),
    0x80000003: ("STATUS_BREAKPOINT", "SIGTRAP"),
    0x40000015: ("STATUS_FATAL_APP_EXIT", "SIGABRT"),
    0xE06D7363: ("C++ exception", None),
}
HOW: dict[str, Access] = {
    "reading": "read",
    "writing": "write",
    "executing": "execute",
    "read from": "read",
    "write to": "write",
    "execute non-executable": "execute",
}
NEAR = 8


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield the exception, the access, the module and the stack."""
    command = None
    for n, line in enumerate(evidence.lines):
        if found := APPLICATION.search(line):
            command = found["name"].strip()
        if found := BROUGHT_ALONG.search(line):
            span = Span(evidence=evidence.name, first=n, last=n, words=found["path"])
            yield Notice(
                span=span,
                topic="run-time-brought-along",
                text=found["path"],
                subject=found["name"],
            )
        if found := CODE.search(line):
            yield from _exception(evidence, n, found, command)
        if found := STUDIO.search(line):
            yield from _exception(evidence, n, found, found["process"])
        if found := ACCESS.search(line):
            yield _access(evidence, n, found)
    yield from stacks(evidence.name, _marks(evidence))


def _exception(
    evidence: Evidence, n: int, found: re.Match[str], command: str | None
) -> Iterator[Fact]:
    status = number(found["code"]) or 0
    if status not in NAMES:
        return
    name, signal = NAMES[status]
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0].rstrip())
    yield Exit(span=span, status=status, means=name, command=command)
    yield Platform(span=span, system="windows")
    if signal:
        yield Death(span=span, signal=signal, code=name, command=command)


def _access(evidence: Evidence, n: int, found: re.Match[str]) -> Fact:
    span = Span(evidence=evidence.name, first=n, last=n, words=found[0])
    address = number((found["address"] or found["at"] or "").replace("`", ""))
    # Windows writes minus one where the CPU told no address: a pointer that is not canonical.
    told = address is not None and address != 2**64 - 1
    return Fault(
        span=span,
        address=address if told else None,
        access=HOW[found["how"] or found["what"]],
        canonical=told,
    )


def _marks(evidence: Evidence) -> Iterator[Head | Row]:
    """The stack; where there is none, the one place that the report names."""
    rows = [(n, f) for n, line in enumerate(evidence.lines) if (f := STACK_ROW.match(line))]
    if not rows:
        yield from _places(evidence)
        return
    frames, begun = dict(rows), False
    for n, line in enumerate(evidence.lines):
        if STACK_HEAD.match(line):
            yield Head(line=n, crashed=not begun)
        if n in frames:
            begun = True
            yield Row(first=n, last=n, number=None, frame=_frame(frames[n]["place"]))


def _places(evidence: Evidence) -> Iterator[Head | Row]:
    begun = False
    for n, line in enumerate(evidence.lines):
        if found := (MODULE.search(line) or IMAGE.match(line)):
            last, offset = _offset(evidence, n)
            library = _path(evidence, n, found["name"].strip())
            frame = Frame(library=library, offset=offset)
        elif found := (ADDRESS.search(line) or SYMBOL.match(line)):
            if not found["place"]:
                continue
            last, frame = n, _frame(found["place"])
        elif (found := STUDIO.search(line)) and found["module"]:
            last, frame = n, Frame(library=found["module"].strip())
        else:
            continue
        yield Head(line=n, crashed=not begun)
        yield Row(first=n, last=last, number=None, frame=frame)
        begun = True


def _path(evidence: Evidence, n: int, module: str) -> str:
    """The module with its folder, which a later line of the report tells in any tongue."""
    for line in evidence.lines[n : n + NEAR]:
        if (found := PATH.search(line)) and found["path"].lower().endswith(f"\\{module.lower()}"):
            return found["path"]
    return module


def _offset(evidence: Evidence, n: int) -> tuple[int, int | None]:
    for m in range(n, min(n + NEAR, len(evidence.lines))):
        if found := OFFSET.search(evidence.lines[m]):
            return m, number(found["offset"])
    return n, None


def _frame(place: str) -> Frame:
    """``module!function+0x12 [file @ 7]``, or ``module+0x12``."""
    file, line = None, None
    if source := SOURCE.search(place):
        file, line, place = source["file"], count(source["line"]), place[: source.start()]
    plus = PLUS.search(place)
    name = place[: plus.start()] if plus else place
    module, found, function = name.strip().partition("!")
    return Frame(
        function=function if found else None,
        library=module,
        offset=number(plus["offset"]) if plus and not found else None,
        file=file,
        line=line,
    )
