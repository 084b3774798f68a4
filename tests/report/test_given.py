"""What a report shows of an operation and its arguments."""

import msgspec
import pytest

from sigwhy.explain import judge
from sigwhy.model.case import Gathered
from sigwhy.model.operation import Argument, Model, Operation
from sigwhy.report import html, json, markdown, text
from sigwhy.report.given import given, type_of
from tests.report.incidents import NULL_POINTER

GATHER = Operation(
    framework="tensorflow",
    op="CropAndResize",
    tid=71,
    node="while/body/crop",
    device="/job:localhost/replica:0/task:0/device:CPU:0",
    kernel="tensorflow::CropAndResizeOp",
    found="its parameters lie on the stack",
    inputs=[
        Argument(name="image", dtype="float32", shape=[1, 4, 4, 3], values=[0.0, 0.5], elements=48),
        Argument(name="boxes", dtype="float32", shape=[0], elements=0),
        Argument(name="held", dtype="int32", shape=[], values=[7], standing="gone", variable="x"),
    ],
    attributes=[
        Argument(name="method", kind="string", values=["bilinear"]),
        Argument(name="T", kind="dtype", text="float32"),
        Argument(name="_secret", kind="string", values=["of the framework"]),
    ],
)


def report_of(*operations):
    incident = msgspec.structs.replace(NULL_POINTER, operations=list(operations))
    return judge(Gathered(()), incident)


@pytest.mark.parametrize("form", [text, markdown, html])
def test_every_form_shows_the_arguments(form):
    told = form.render(report_of(GATHER))
    for words in ("float32[1,4,4,3]", "0 0.5", "boxes", "bilinear", "while/body/crop", "CPU:0"):
        assert words in told
    assert "of the framework" not in told


def test_memory_that_is_gone_is_said_and_so_is_the_variable():
    row = given(report_of(GATHER)).rows[2]
    assert row.values == "7 (its memory is gone) (your x)"


def test_a_type_that_an_input_shows_is_not_said_again():
    assert given(report_of(GATHER)).attributes == "with method = bilinear"


def test_without_an_operation_nothing_is_shown():
    assert given(report_of()) is None


def test_of_many_inputs_the_first_are_shown_and_the_rest_counted():
    many = msgspec.structs.replace(GATHER, inputs=[Argument(name=f"i{n}") for n in range(40)])
    told = given(report_of(many))
    assert [row.name for row in told.rows] == [f"i{n}" for n in range(12)]
    assert told.untold == 28


def test_the_operator_of_a_model_has_its_place():
    one = Operation(framework="tflite", op="ADD", model=Model(path="/m/net.tflite", index=5))
    assert given(report_of(one)).place == "operator 5 of subgraph 0, model /m/net.tflite"


def test_a_scalar_has_no_brackets_and_an_unknown_rank_a_question_mark():
    assert type_of(Argument(dtype="int32", shape=[])) == "int32"
    assert type_of(Argument(dtype="int32")) == "int32[?]"


def test_json_has_the_operation_with_its_grade():
    op = json.document(report_of(GATHER)).op
    assert (op.op, op.node, op.grade, op.state) == ("CropAndResize", "while/body/crop", "fact", "running")  # fmt: skip
    assert op.inputs[0].shape == [1, 4, 4, 3]
    assert op.attributes["method"] == "bilinear"


def test_hostile_names_stay_words():
    evil = msgspec.structs.replace(
        GATHER,
        op="<script>\x1b[31m",
        node="a\nb",
        inputs=[Argument(name="</table>\x07", values=["\x1b]0;x"])],
    )
    told = html.render(report_of(evil))
    assert "<script>" not in told
    assert "</table>\x07" not in told
    assert "\x1b" not in text.render(report_of(evil))
