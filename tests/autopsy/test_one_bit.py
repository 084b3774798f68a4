"""An address one bit away from a good one is a weak hint at broken memory, and a rare one."""

import random

import pytest

from sigwhy.autopsy import autopsy
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Notice
from sigwhy.model.incident import Incident, Mapping, Signal, Thread

HEAP, END = 0x7F12_3400_0000, 0x7F12_3800_0000
GOOD = HEAP + 0x123450
READ = bytes.fromhex("488b07")  # mov rax, [rdi]


def died(rdi, *, told=True, **registers):
    signal = Signal(
        name="SIGSEGV", number=11, code_number=1 if told else 128, address=rdi if told else 0
    )
    thread = Thread(tid=1, crashed=True, registers={"rip": HEAP, "rdi": rdi, **registers})
    heap = Mapping(HEAP, END, "rw-p", 0, "")
    return Incident(pid=1, tid=1, signal=signal, threads=[thread], mappings=[heap], code=READ)


def notices(incident):
    return [f for f in autopsy(incident).facts if isinstance(f, Notice) and f.topic == "one-bit"]


@pytest.mark.parametrize("bit", [34, 41, 45])
def test_a_flipped_bit_of_an_address_that_another_register_holds_is_told(bit):
    (found,) = notices(died(GOOD ^ 1 << bit, rbx=GOOD))
    assert f"bit {bit}" in found.text
    assert found.subject == "rbx"


def test_a_pointer_that_is_none_for_one_bit_is_told_by_the_register():
    (found,) = notices(died(GOOD ^ 1 << 50, told=False, r12=GOOD))
    assert "bit 50" in found.text


def test_its_probability_is_small_and_it_is_no_verdict():
    report = judge(Gathered(()), died(GOOD ^ 1 << 41, rbx=GOOD))
    found = next(f for f in report.findings if f.cause.id == "hardware-fault")
    assert report.verdict is None
    assert 0 < found.probability < 0.3


@pytest.mark.parametrize(
    "incident",
    [
        died(GOOD ^ 1 << 41),  # nobody holds the good one
        died(GOOD ^ 1 << 41, rbx=GOOD + 0x10_0000),  # nor its page
        died(GOOD ^ 1 << 20, rbx=GOOD),  # a stride of a power of two
        died(GOOD ^ 1 << 30, rbx=GOOD),
        died(GOOD ^ 1 << 62, rbx=GOOD, told=False),  # a tag in the top byte
        died(GOOD & 0xFFFF_FFFF, rbx=GOOD),  # cut to 32 bits
        died(0, rbx=1 << 40),
        died(8, rbx=GOOD),
        died(END + 8, rbx=GOOD),  # past the end
        died(0x4141_4141_4141_4141, rbx=GOOD, told=False),  # overwritten by text
        died(0xDDDD_DDDD_DDDD_DDDD, rbx=GOOD, told=False),
        died(GOOD + (1 << 41) + (1 << 42), rbx=GOOD),
    ],
)
def test_ordinary_wild_pointers_are_not_told(incident):
    assert not notices(incident)


def test_of_two_thousand_wild_pointers_none_is_told():
    dice = random.Random(5)  # noqa: S311 -- chance, not secrets
    base = died(GOOD ^ 1 << 41, rbx=GOOD)
    assert notices(base)
    told = 0
    from sigwhy.autopsy import one_bit

    for _ in range(2_000):
        registers = {f"r{n}": HEAP + dice.randrange(END - HEAP) for n in range(8, 16)}
        incident = died(dice.randrange(1 << 47), **registers)
        told += len(list(one_bit.tell(incident)))
    assert told == 0
