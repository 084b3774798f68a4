"""Where the address of a fault lies among the mappings."""

import pytest

from sigwhy.autopsy import fault as topic
from sigwhy.model.fact import Fault, Instruction, Place
from sigwhy.model.incident import Buffer, Incident, Signal
from tests.autopsy.made import HIGH, LOW, PACKAGE, SCRIPT, fault, mapped, told

HEAP, PAGE = 0x5600_0000_0000, 4096
DATA = "/srv/data.bin"


def place(address, **known):
    return told(topic, fault(address, **known), Place)


def test_below_a_stack_without_a_stack_is_its_guard():
    found = place(HIGH - 0x5008, stack=HIGH - 0x5000)
    assert found.relation == "guard"


def test_a_page_without_rights_at_the_stack_pointer_is_a_guard():
    for rights in ("---p", "---s"):
        guard = mapped(HIGH - 0x5000, 1, rights)
        found = place(
            HIGH - 0x4010, stack=HIGH - 0x3FF0, mappings=[guard, mapped(HIGH - 0x4000, 8)]
        )
        assert found.relation == "guard"


def test_the_first_stack_that_may_not_grow_is_full():
    main = mapped(HIGH - 0x4000, 8, path="[stack]")
    found = place(HIGH - 0x4010, stack=HIGH - 0x3FF0, mappings=[main])
    assert (found.relation, found.mapping) == ("guard", "[stack]")
    far = place(
        HIGH - 0x4010, stack=HIGH + 0x10_0000, mappings=[mapped(HIGH - 0x4000, 999, path="[stack]")]
    )
    assert far.relation == "before"


def test_behind_the_end_of_memory():
    found = place(HEAP + PAGE + 16, mappings=[mapped(HEAP, 1, path=DATA)])
    assert (found.relation, found.distance, found.size, found.mapping) == ("behind", 16, PAGE, DATA)
    assert place(HEAP + 18 * PAGE, mappings=[mapped(HEAP, 1)]).relation == "nowhere"


def test_before_the_begin_of_memory():
    found = place(HEAP - 16, mappings=[mapped(HEAP, 1, path=DATA)])
    assert (found.relation, found.distance) == ("before", 16)


@pytest.mark.parametrize(
    ("rights", "path", "relation"),
    [
        ("---p", "", "behind"),
        ("---p", "/usr/lib/libx.so.1", "behind"),
        ("r--p", "/usr/lib/libx.so.1.2", "behind"),  # the head of a library: nobody writes it
        ("r--s", DATA, "inside"),  # a file that was mapped to be read
        ("r--p", "", "inside"),
    ],
)
def test_a_fence_behind_memory_tells_an_overrun_and_a_read_only_map_does_not(
    rights, path, relation
):
    maps = [mapped(HEAP, 4), mapped(HEAP + 4 * PAGE, 2, rights, path)]
    found = place(HEAP + 4 * PAGE + 8, code="8907", kind=2, mappings=maps)
    assert (found.relation, found.access) == (relation, "write")


def test_where_your_source_gives_memory_back_what_is_behind_may_be_what_is_gone():
    sources = {SCRIPT: {3: "libc.munmap(p, 4096)"}}
    maps = [mapped(HEAP, 1)]
    assert place(HEAP + PAGE + 16, mappings=maps, sources=sources).relation == "nowhere"
    said = {SCRIPT: {3: "print('munmap')"}}
    assert place(HEAP + PAGE + 16, mappings=maps, sources=said).relation == "behind"


def test_memory_of_an_array_that_is_gone():
    array = Buffer(name="x", address=HEAP, size=8 * PAGE, shape=[8], dtype="int64", start=HEAP)
    found = place(HEAP + 100, buffers=[array])
    assert (found.relation, found.owner) == ("gone", "x (int64[8])")


def test_strides_that_lead_out_of_an_array():
    array = Buffer(name="x", address=HEAP, size=99 * PAGE, shape=[8], dtype="int64", start=HEAP)
    found = place(HEAP + 50 * PAGE, buffers=[array], mappings=[mapped(HEAP, 1)])
    assert (found.relation, found.owner) == ("behind", "x (int64[8])")


@pytest.mark.parametrize("lost", [0, 0xFFFF_FFFF_0000_0000])
def test_half_an_address(lost):
    heap = HEAP + 0x8000_0000
    found = place(lost | (heap + 8) % 2**32, mappings=[mapped(heap, 4)])
    assert (found.relation, found.cut) == ("nowhere", True)


def test_in_a_process_with_huge_memory_any_low_address_may_be_half_of_one():
    found = place(0x7000_0000, mappings=[mapped(HEAP, 2**32 // PAGE)])
    assert (found.relation, found.cut) == ("nowhere", False)


def test_beyond_the_end_of_a_file():
    maps = [mapped(HEAP, 4, "rw-s", DATA)]
    found = place(HEAP + 2 * PAGE, signal="SIGBUS", kind=2, mappings=maps, sizes={DATA: PAGE})
    assert (found.relation, found.mapping, found.file_size) == ("beyond-file", DATA, PAGE)
    whole = place(HEAP + 2 * PAGE, signal="SIGBUS", kind=2, mappings=maps, sizes={DATA: 4 * PAGE})
    assert whole.relation == "inside"
    later = [mapped(HEAP, 4, "rw-s", DATA, offset=4 * PAGE)]  # the map begins within the file
    assert (
        place(HEAP, signal="SIGBUS", kind=2, mappings=later, sizes={DATA: 4 * PAGE}).relation
        == "beyond-file"
    )


def test_inside_says_the_rights():
    found = place(LOW + 8, code="8907", kind=2)
    assert (found.relation, found.mapping, found.rights) == ("inside", PACKAGE, "r-xp")


def test_far_from_all_memory():
    assert place(0x1234_0000_0000).relation == "nowhere"
    assert place(0x18).relation == "nowhere"


def test_without_mappings_no_place_is_told():
    assert place(8, mappings=[]) is None


@pytest.mark.parametrize(("machine", "canonical"), [("x86_64", False), ("aarch64", True)])
def test_what_is_an_address_depends_on_the_machine(machine, canonical):
    code = "8b07" if machine == "x86_64" else "000040f9"
    registers = {"rdi": 0xFFFF_9C00_0000, "x0": 0xFFFF_9C00_0000, "pc": LOW}
    of = fault(None, kind=128, registers=registers, machine=machine, code=code)
    assert told(topic, of, Fault).canonical is canonical
    assert (told(topic, of, Place) is not None) is canonical


def test_a_non_canonical_address_is_told_by_its_register():
    of = fault(None, kind=128, registers={"rdi": 0xDDDD_DDDD_DDDD_DDDD})
    found = told(topic, of, Fault)
    assert (found.address, found.canonical, found.pointer) == (None, False, 0xDDDD_DDDD_DDDD_DDDD)
    assert told(topic, of, Place) is None


def test_a_misaligned_operand_lies_where_memory_is():
    of = fault(None, kind=128, code="0f2807", registers={"rdi": HIGH - 0x3FFF})
    assert told(topic, of, Instruction).aligned == 16
    assert told(topic, of, Place).relation == "inside"


def test_a_jump_to_the_address_of_the_fault_is_an_execution():
    of = fault(LOW + 0x10)
    assert told(topic, of, Fault).access == "execute"


def test_of_a_division_only_the_instruction_is_told():
    of = fault(LOW, code="f7f1", signal="SIGFPE", registers={"ecx": 0})
    assert told(topic, of, Instruction).divides
    assert told(topic, of, Fault) is None


def test_a_signal_that_somebody_sent_is_no_fault():
    sent = Incident(signal=Signal(name="SIGSEGV", number=11, code="SI_USER", code_number=0))
    assert list(topic.tell(sent)) == []
