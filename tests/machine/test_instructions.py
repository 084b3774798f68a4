"""Bytes to what an instruction does; the bytes were assembled by gcc and read with objdump."""

import subprocess
import sys

import pytest

from sigwhy.machine import arm64, x86
from sigwhy.model.fact import Span

SPAN = Span(evidence="e", first=0, last=0)
pytestmark = pytest.mark.skipif(x86._iced() is None, reason="needs iced-x86")
X86 = (
    # bytes, text, access, through, feature, aligned
    ("8b07", "mov eax,[rdi]", "read", "rdi", None, None),
    ("c7400801000000", "mov dword ptr [rax+8],1", "write", "rax", None, None),
    ("488b04c8", "mov rax,[rax+rcx*8]", "read", "rax", None, None),
    ("f00fc10f", "lock xadd [rdi],ecx", "write", "rdi", None, None),
    ("f348a5", "rep movsq [rdi],[rsi]", "unknown", None, None, None),
    ("ff10", "call qword ptr [rax]", "read", "rax", None, None),
    ("ffe0", "jmp rax", "execute", "rax", None, None),
    ("c3", "ret", "execute", "rsp", None, None),
    ("50", "push rax", "write", "rsp", None, None),
    ("488b0500100000", "mov rax,[1007h]", "read", None, None, None),
    ("0f2906", "movaps [rsi],xmm0", "write", "rsi", None, 16),
    ("0f28c1", "movaps xmm0,xmm1", "unknown", None, None, None),
    ("0f1106", "movups [rsi],xmm0", "write", "rsi", None, None),
    ("660fef06", "pxor xmm0,[rsi]", "read", "rsi", None, 16),
    ("c5fc1007", "vmovups ymm0,[rdi]", "read", "rdi", "AVX", None),
    ("c5fd6f07", "vmovdqa ymm0,[rdi]", "read", "rdi", "AVX", 32),
    ("c4e2f5b80f", "vfmadd231pd ymm1,ymm1,[rdi]", "read", "rdi", "FMA", None),
    ("62f17c482807", "vmovaps zmm0,[rdi]", "read", "rdi", "AVX512F", 64),
    ("c5fdfe07", "vpaddd ymm0,ymm0,[rdi]", "read", "rdi", "AVX2", None),
    ("f3480fb8c1", "popcnt rax,rcx", "unknown", None, "POPCNT", None),
    ("c4e2f3f7c0", "shrx rax,rax,rcx", "unknown", None, "BMI2", None),
)


def decode(code):
    return x86.instruction(bytes.fromhex(code), span=SPAN)


@pytest.mark.parametrize(("code", "text", "access", "through", "feature", "aligned"), X86)
def test_an_instruction_is_told_by_its_bytes(code, text, access, through, feature, aligned):
    it = decode(code)
    assert (it.text, it.access, it.through, it.feature, it.aligned) == (
        text,
        access,
        through,
        feature,
        aligned,
    )
    assert it.code == bytes.fromhex(code)


@pytest.mark.parametrize("code", ["0f0b", "cc", "f4", "cd29", "0fb9c0"])
def test_a_trap_is_no_missing_feature(code):
    assert decode(code).traps
    assert decode(code).feature is None


@pytest.mark.parametrize("code", ["f7f9", "f7f1", "48f7f9", "f73f"])
def test_a_division_is_seen(code):
    assert decode(code).divides


@pytest.mark.parametrize("code", ["", "ff", "06", "62"])
def test_no_instruction_is_made_of_bytes_that_are_none(code):
    assert decode(code) is None


def test_a_low_stack_means_a_32_bit_program():
    code = bytes.fromhex("40")
    assert x86.instruction(code, span=SPAN, address=0x8048000, stack=0xFFD00000).text == "inc eax"


def test_without_a_decoder_there_is_no_instruction(monkeypatch):
    monkeypatch.setattr(x86, "_iced", lambda: None)
    monkeypatch.setattr(arm64, "_engine", lambda: None)
    assert decode("0f0b") is None
    assert arm64.instruction(b"\0\0\0\0", span=SPAN) is None


def test_no_decoder_is_imported_before_it_is_needed():
    code = "import sys, sigwhy; print({'iced_x86', 'capstone', 'elftools'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"


ARM64 = (
    (0xB9000020, "str w0, [x1]", "write", "x1", None, False),
    (0xF9400000, "ldr x0, [x0]", "read", "x0", None, False),
    (0xD4200000, "brk #0", "unknown", None, None, True),
    (0x00000000, "udf #0", "unknown", None, None, True),
    (0xD63F0020, "blr x1", "execute", "x1", None, False),
    (0xB8200041, "ldadd w0, w1, [x2]", "write", "x2", "LSE", False),
    (0x4E829420, "sdot v0.4s, v1.16b, v2.16b", "unknown", None, "dotprod", False),
    (0x2598E3E0, "ptrue p0.s", "unknown", None, "SVE", False),
)


@pytest.mark.parametrize(("word", "text", "access", "through", "feature", "traps"), ARM64)
def test_an_arm64_instruction_is_told_by_its_word(word, text, access, through, feature, traps):
    pytest.importorskip("capstone")
    it = arm64.instruction(word.to_bytes(4, "little"), span=SPAN)
    told = (it.text, it.access, it.through, it.feature, it.traps)
    assert told == (text, access, through, feature, traps)


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("vfmadd213ss %xmm1,%xmm2,%xmm0", "FMA"),
        ("vmovdqu64 zmm0,ZMMWORD PTR [rdi]", "AVX512F"),
        ("vmovups %ymm16,(%rdi)", "AVX512F"),
        ("vpaddd %ymm1,%ymm2,%ymm0", "AVX2"),
        ("vmovups (%rdi),%ymm0", "AVX"),
        ("vzeroupper", "AVX"),
        ("shlx %rax,%rbx,%rcx", "BMI2"),
        ("crc32b (%rdi),%eax", "SSE4.2"),
        ("ldadd w0, w1, [x2]", "LSE"),
        ("mov %rax,(%rdi)", None),
        ("andnps xmm0,xmm1", None),
        ("movaps xmm0,xmm1", None),
        ("ud2", None),
    ],
)
def test_a_debuggers_line_names_the_feature(text, feature):
    assert x86.feature_written(text) == feature
