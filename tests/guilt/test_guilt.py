"""What holds for every rule: none raises, none tells of another operation, and each can be quoted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sigwhy import guilt
from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.fact import Guilty
from sigwhy.model.operation import Argument, Operation
from tests.guilt.tried import incident, operation, report, tensor

SAYS = "Check failed: d < dims() (1 vs. 1)"
CROP = operation("Crop", [tensor("image", [1, 4, 4, 3]), tensor("boxes", [3])], node="a/crop")

names = st.sampled_from(
    ["", "axis", "strides", "ksize", "indices", "input", "x" * 300, "size", "lr"]
)
numbers = st.one_of(
    st.integers(-(1 << 70), 1 << 70), st.sampled_from([0, -1, 1 << 31, 1 << 63]), st.floats(), st.text(max_size=4), st.none(), st.booleans()
)  # fmt: skip
arguments = st.builds(
    Argument,
    name=names,
    kind=st.sampled_from(["tensor", "int", "list", "dtype", "resource", "shape", "?"]),
    dtype=st.sampled_from(["", "float32", "int64", "resource", "string", "nonsense", "complex"]),
    shape=st.none() | st.lists(st.integers(-3, 1 << 40), max_size=6),
    values=st.lists(numbers, max_size=6),
    text=st.sampled_from(["", "DT_FLOAT", "int32"]),
    elements=st.none() | st.integers(-1, 1 << 50),
    address=st.none() | st.integers(0, 1 << 64),
    storage=st.none() | st.tuples(st.integers(0, 1 << 64), st.integers(0, 1 << 40)),
    standing=st.sampled_from(["there", "gone", "protected", "missing", "device", "none"]),
    mapped=st.sampled_from(["", "/srv/x"]),
)
operations = st.builds(
    Operation,
    framework=st.sampled_from(["tensorflow", "tflite", "torch", "numpy"]),
    op=st.sampled_from(["Some", "Reshape", "TensorListSetItem", "DecodeBmp", ""]),
    state=st.sampled_from(["running", "constructing", "left", "beside"]),
    is_hint=st.booleans(),
    inputs=st.lists(arguments, max_size=4),
    outputs=st.lists(arguments, max_size=2),
    attributes=st.lists(arguments, max_size=4),
)
texts = st.sampled_from(
    [
        "",
        SAYS,
        "Check failed: d >= 0 (-1 vs. 0)",
        "Check failed: NDIMS == dims() (4 vs. 1)",
        "Check failed: 1 == NumElements() (1 vs. 0)",
        "Check failed: dtype() == expected_dtype (1 vs. 3) int32 expected, got float",
        "Check failed: strides.size() == 4 (99999999999999999999999 vs. 4)",
        "Check failed: index >= 0 && index < num_total_dims Invalid index from the dimension: 3, 0, C",
        "Non-OK-status: x status: INVALID_ARGUMENT: overflow when multiplying 9 with -9223372036854775808",
    ]
)


@given(
    operations=st.lists(operations, max_size=3),
    says=texts,
    signal=st.sampled_from(["SIGSEGV", "SIGABRT", "SIGFPE", "SIGBUS"]),
    address=st.none() | st.integers(0, 1 << 64),
    code=st.sampled_from(["", "8b0488", "48f7f9", "f7f9"]),
    registers=st.dictionaries(
        st.sampled_from(["rax", "rcx", "rip", "rsp"]), st.integers(0, 1 << 64)
    ),
)
@settings(max_examples=150, deadline=None)
def test_no_incident_makes_a_rule_raise(operations, says, signal, address, code, registers):
    of = incident(
        *operations, signal=signal, says=says, address=address, code=code, registers=registers
    )
    found = judge(Gathered(()), of)
    assert not [note for note in found.notes if "broke" in note]
    for guilty in found.case.all(Guilty):
        assert found.case.quote(guilty.span).text


def test_each_rule_says_on_its_first_line_what_it_looks_at():
    for name, rule in guilt.rules().items():
        assert rule.__doc__, name


def test_the_quote_is_the_line_of_the_argument():
    told = report(CROP, says=SAYS)
    guilty = told.case.first(Guilty)
    assert told.case.quote(guilty.span).text.strip() == "boxes = float32[3]"


def test_an_operation_that_may_be_old_news_counts_one_grade_less():
    hint = operation("Crop", CROP.inputs, is_hint=True)
    assert report(hint, says=SAYS).case.first(Guilty).fit == "likely"


def test_an_operation_of_another_thread_is_not_tried():
    beside = operation("Crop", CROP.inputs, state="beside")
    assert report(beside, says=SAYS).case.first(Guilty) is None


def test_the_innermost_operation_with_somebody_to_blame_is_tried_first():
    outer = operation("Outer", [tensor("other", [3])])
    assert report(CROP, outer, says=SAYS).case.first(Guilty).op == "Crop"


def test_the_verdict_names_operation_argument_value_and_node():
    culprit = report(CROP, says=SAYS).culprit
    assert (culprit.name, culprit.argument, culprit.value, culprit.node) == (
        "Crop",
        "boxes",
        "rank 1",
        "a/crop",
    )


def test_a_broken_rule_is_told_and_silences_nobody(monkeypatch):
    class Broken:
        def charges(self, trial):
            raise ZeroDivisionError

    monkeypatch.setattr(guilt, "rules", lambda: {"broken": Broken(), **RULES})
    told = report(CROP, says=SAYS)
    assert told.case.first(Guilty).argument == "boxes"
    assert any("the rule broken broke" in note for note in told.notes)


RULES = dict(guilt.rules())


OWN, FRAMEWORK = (
    "/home/me/job/libops.so",
    "/srv/env/lib/python3.11/site-packages/tensorflow/libtensorflow_cc.so.2",
)


def test_an_operation_of_your_own_library_speaks_for_that_library():
    own = operation("Mine", [tensor("x", [3])], library=OWN)
    assert report(own, signal="SIGSEGV", address=8).findings[0].cause.id == "custom-op-bug"


def test_an_operation_of_the_framework_does_not():
    theirs = operation("Theirs", [tensor("x", [3])], library=FRAMEWORK)
    found = report(theirs, signal="SIGSEGV", address=8).findings
    assert not next(f for f in found if f.cause.id == "custom-op-bug").clues


def test_an_operation_that_is_old_news_speaks_less():
    hint = operation("Mine", [tensor("x", [3])], library=OWN, is_hint=True, state="left")
    found = report(hint, signal="SIGSEGV", address=8).findings
    (clue,) = next(f for f in found if f.cause.id == "custom-op-bug").clues
    assert clue.weight == 10
