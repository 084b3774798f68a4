import math

import msgspec

from sigwhy.model.operation import Argument, Operation
from sigwhy.operations.writable import writable


def test_an_incident_with_infinite_scales_can_be_read_again():
    odd = Argument(name="x", values=[1.0, math.inf, True, "a"], scales=[0.5, math.inf, math.nan])
    found = writable(Operation(framework="tflite", op="SUB", inputs=[odd], outputs=[odd]))
    again = msgspec.json.decode(msgspec.json.encode(found), type=Operation)
    assert again == found
    assert again.inputs[0].scales == [0.5, "inf", "nan"]
    assert again.outputs[0].values == [1.0, "inf", True, "a"]


def test_what_json_holds_stays_the_very_same():
    plain = Argument(name="x", values=[1, 2.5, None])
    assert writable(Operation(framework="torch", op="add", inputs=[plain])).inputs[0] is plain
