import ast
import io
import struct
import zipfile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigwhy.model.error import UsageError
from sigwhy.model.incident import Incident, PythonFrame, Signal, Thread
from sigwhy.model.operation import Argument, Model, Operation
from sigwhy.operations.keeper import Keeper
from sigwhy.report.repro import packed, repro
from sigwhy.report.repro_values import elements, listed, literal, octets, whole
from tests.tflite import models

PAYLOAD = '\'"""\n\nevil()\n#\\'
FLOATS = struct.Struct("<4f")


def incident(*operations, **more):
    more = {"threads": [Thread(tid=7, crashed=True, python=[PythonFrame(function="f")])]} | more
    return Incident(
        command=["python", "train.py"],
        pid=7,
        tid=7,
        signal=Signal(name="SIGFPE", number=8),
        python_version="3.11.7",
        packages={"tensorflow_cpu": "2.21.0", "torch": "2.13.0", "wrapt": "2.5.2"},
        operations=list(operations),
        **more,
    )


def member(data, kind, shape):
    keeper = Keeper(left=1 << 20)
    return keeper.members[keeper.keep_bytes(data, kind, shape)]


def reshape(**more):
    given = {
        "inputs": [
            Argument(name="tensor", dtype="float32", shape=[2, 2], elements=4, member="0.npy"),
            Argument(name="shape", dtype="int32", shape=[2], elements=2, values=[0, -1]),
        ],
        "attributes": [
            Argument(name="T", kind="dtype", text="float32", standing="none"),
            Argument(name="_class", kind="list", values=["loc:@x"], standing="none"),
        ],
    }
    return Operation(framework="tensorflow", tid=7, **({"op": "Reshape"} | given | more))


KEPT = {"0.npy": member(FLOATS.pack(0.1, float("nan"), 1e30, -0.0), "<f4", [2, 2])}


def code(script):
    """What of a script is no comment."""
    return "\n".join(line for line in script.splitlines() if not line.startswith("#"))


def compiled(script):
    """The script compiles, and calls nothing that came with the evidence."""
    tree = ast.parse(script)
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "evil" not in called
    return tree


def test_a_tensorflow_operation_is_written_with_its_inputs_and_attributes():
    made = repro(incident(reshape()), KEPT, name="again")
    compiled(made.script)
    assert '"tensor": tf.constant([0.1, nan, 1e+30, -0.0], tf.float32, [2, 2]),' in made.script
    assert '"shape": tf.constant([0, -1], tf.int32),' in made.script
    assert "op = tf.raw_ops.Reshape" in made.script
    assert "_class" not in made.script
    assert "# There: Python 3.11.7; tensorflow_cpu 2.21.0;" in made.script
    assert made.lacks == ()
    assert made.arrays == {}


def test_what_is_not_kept_is_zeros_and_said():
    made = repro(incident(reshape()), {}, name="again")
    assert "tf.zeros([2, 2], tf.float32)" in made.script
    assert "values of tensor were not kept whole" in made.lacks[0]
    assert "# Not as it was:\n# * the values of tensor" in made.script


def test_long_arrays_lie_beside_the_script():
    data = bytes(range(256))
    kept = {"0.npy": member(data, "|u1", [256])}
    image = Argument(name="image", dtype="uint8", shape=[256], elements=256, member="0.npy")
    made = repro(incident(reshape(inputs=[image])), kept, name="again")
    assert 'stored = np.load(Path(__file__).with_suffix(".npz"))' in made.script
    assert "tf.constant(stored['image'])" in made.script
    with zipfile.ZipFile(io.BytesIO(packed(made.arrays))) as file:
        assert file.read("image.npy") == kept["0.npy"]


def test_types_that_no_constant_has_are_made_of_their_bits():
    some = [
        Argument(name="q", dtype="qint8", shape=[2], elements=2, values=[1, -1]),
        Argument(name="b", dtype="bfloat16", shape=[], elements=1, values=[1.5]),
        Argument(name="i", dtype="int4", shape=[1], elements=1, values=[3]),
        Argument(name="c", dtype="complex64", shape=[1], elements=1, values=["(1+infj)"]),
        Argument(name="s", dtype="string", shape=[2], elements=2, values=["a", "b'\\xff'"]),
        Argument(name="f", dtype="float32", shape=[1], elements=1, values=["-inf"]),
        Argument(name="n", dtype="bool", shape=[0, 9], elements=0),
    ]
    script = repro(incident(reshape(inputs=some)), {}, name="again").script
    compiled(script)
    for line in (
        '"q": tf.bitcast(tf.constant([1, -1], tf.int8), tf.qint8)',
        '"b": tf.cast(tf.constant(1.5, tf.float32, []), tf.bfloat16)',
        '"i": tf.cast(tf.constant([3], tf.int8), tf.int4)',
        '"c": tf.constant([complex(1.0, inf)], tf.complex64)',
        "\"s\": tf.constant([b'a', b'\\xff'], tf.string)",
        '"f": tf.constant([-inf], tf.float32)',
        '"n": tf.zeros([0, 9], tf.bool)',
        "from math import inf, nan",
    ):
        assert line in script


def test_inputs_of_a_list_stand_together_and_those_without_names_are_named_later():
    one = Argument(name="values[0]", dtype="int32", shape=[], elements=1, values=[1])
    two = Argument(name="values[1]", dtype="int32", shape=[], elements=1, values=[2])
    script = repro(incident(reshape(op="Pack", inputs=[one, two])), {}, name="again").script
    assert '"values": [tf.constant(1, tf.int32), tf.constant(2, tf.int32)],' in script
    plain = Argument(dtype="int32", shape=[], elements=1, values=[1])
    script = repro(incident(reshape(op="Pack", inputs=[plain])), {}, name="again").script
    assert 'op_def_registry.get("Pack")' in script
    compiled(script)


def test_attributes_of_all_kinds_are_written():
    some = [
        Argument(name="strides", kind="list", values=[1, 2], elements=2),
        Argument(name="types", kind="list", text="dtypes", values=["int32", "qint8"], elements=2),
        Argument(name="shapes", kind="list", text="shapes", values=["[1,?]", "?"], elements=2),
        Argument(name="mode", kind="string", values=["SAME"]),
        Argument(name="raw", kind="string", values=["b'\\x00'"]),
        Argument(name="open", kind="shape", shape=[1, -1]),
        Argument(name="any", kind="shape"),
        Argument(name="f", kind="function", values=["g"]),
        Argument(name="long", kind="list", values=[1], elements=900),
    ]
    made = repro(incident(reshape(attributes=some)), KEPT, name="again")
    compiled(made.script)
    for line in (
        '"strides": [1, 2],',
        '"types": [tf.int32, tf.qint8],',
        '"shapes": [[1, None], None],',
        '"mode": "SAME",',
        "\"raw\": b'\\x00',",
        '"open": [1, None],',
        '"any": None,',
    ):
        assert line in made.script
    assert [lack.split()[2] for lack in made.lacks] == ["f", "long"]


def test_a_node_of_a_graph_runs_in_a_graph_and_one_of_tf_data_there():
    graph = repro(incident(reshape(node="loop/inner")), KEPT, name="again").script
    assert "@tf.function(input_signature=[specs])" in graph
    data = repro(incident(reshape(pipeline="Iterator::Root::Map")), KEPT, name="again").script
    assert "from_tensors(inputs).map(call)" in data
    pool = incident(reshape(), threads=[Thread(tid=7, crashed=True)])
    assert "@tf.function" in repro(pool, KEPT, name="again").script


def test_an_operation_of_the_user_is_loaded_from_its_library():
    script = repro(incident(reshape(op="MyOp", library="/home/ann/my.so")), KEPT, name="x").script
    assert 'library = tf.load_op_library("/home/ann/my.so")' in script
    assert '== "myop"' in script


def test_handles_are_made_anew_and_that_is_said():
    variable = Argument(
        name="resource", kind="resource", dtype="resource", shape=[], text="tensorflow::Var"
    )
    made = repro(incident(reshape(op="ReadVariableOp", inputs=[variable])), {}, name="x")
    assert "tf.Variable(tf.zeros([4], tf.float32)" in made.script
    assert "the contents of resource (tensorflow::Var) are not known" in made.lacks[0]
    known = [msgspec.structs.replace(variable, text="tensorflow::Var of int32[2,?]")]
    made = repro(incident(reshape(op="ReadVariableOp", inputs=known)), {}, name="x")
    assert "tf.Variable(tf.zeros([2, 1], tf.int32)" in made.script


def test_a_kernel_that_was_being_made_gets_inputs_of_the_right_types():
    made = repro(incident(reshape(state="constructing", inputs=[])), {}, name="x")
    script = made.script
    compiled(script)
    assert 'for one in op_def_registry.get("Reshape").input_arg:' in script
    assert made.lacks[0].startswith("the kernel was being made")


def test_switches_are_set_before_the_framework_is_loaded():
    around = {
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "TF_CLI_CONFIG_FILE": "x",
        "MALLOC_PERTURB_": "7",
        "HOME": "/",
    }
    script = repro(incident(reshape(), environment=around), KEPT, name="x").script
    assert script.index('os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"') < script.index(
        "import tensorflow"
    )
    assert "# Set MALLOC_PERTURB_=7 before Python starts" in script
    assert "TF_CLI" not in script
    assert "HOME" not in script


# ---- PyTorch, NumPy, TensorFlow Lite ----------------------------------------------------------


def test_a_tensor_of_pytorch_has_its_strides_and_a_storage_that_is_too_small():
    x = Argument(
        name="self",
        dtype="float32",
        shape=[4],
        strides=[1],
        offset=0,
        elements=4,
        storage=(4096, 4),
    )
    y = Argument(
        name="other", dtype="float32", shape=[1], elements=1, values=[2.0], storage=(8192, 4)
    )
    of = Operation(
        framework="torch",
        op="aten::add",
        inputs=[x, y],
        attributes=[Argument(name="alpha", kind="int", values=[1])],
    )
    script = repro(incident(of), {}, name="x").script
    compiled(script)
    assert '"self": view(torch.float32, [4], [1], 0, 4),' in script
    assert '"other": torch.tensor([2.0], dtype=torch.float32),' in script
    assert '"alpha": 1,' in script
    assert "torch.ops.aten.add(**inputs)" in script


def test_memory_that_is_gone_is_taken_away_again():
    x = Argument(
        name="input", dtype="float32", shape=[4], elements=4, standing="gone", storage=(4096, 16)
    )
    script = repro(
        incident(Operation(framework="torch", op="sum", inputs=[x])), {}, name="x"
    ).script
    compiled(script)
    assert 'view(torch.float32, [4], [1], 0, 16, "forbid")' in script
    a = Argument(
        name="a",
        kind="array",
        dtype="float64",
        shape=[4],
        elements=4,
        standing="protected",
        address=4096,
        storage=(4096, 32),
    )
    script = repro(
        incident(Operation(framework="numpy", op="numpy.add", inputs=[a, a])), {}, name="x"
    ).script
    compiled(script)
    assert 'view(np.float64, (4,), [1], 0, 32, "forbid")' in script
    assert "call = np.add" in script


def test_a_backward_pass_has_no_repro_and_says_why():
    of = Operation(framework="torch", op="MulBackward0")
    with pytest.raises(UsageError, match="backward pass"):
        repro(incident(of), {}, name="x")


def test_a_model_is_cut_to_the_operator_and_fed():
    data = models.bytes_of()
    kept = {
        "0.npy": member(data, "|u1", [len(data)]),
        "1.npy": member(FLOATS.pack(1, 2, 3, 4), "<f4", [1, 4]),
    }
    of = Operation(
        framework="tflite",
        op="FULLY_CONNECTED",
        phase="invoke",
        model=Model(member="0.npy", subgraph=0, index=1),
        inputs=[Argument(name="a", dtype="float32", shape=[1, 4], number=1, member="1.npy")],
    )
    made = repro(incident(of), kept, name="x")
    compiled(made.script)
    assert (
        "interpreter.set_tensor(1, np.array([1.0, 2.0, 3.0, 4.0], np.float32).reshape((1, 4)))"
        in made.script
    )
    assert made.model is not None
    assert made.model != data


def test_a_damaged_model_stays_whole():
    data = models.bytes_of()[:200]
    kept = {"0.npy": member(data, "|u1", [len(data)])}
    of = Operation(framework="tflite", op="ABS", model=Model(member="0.npy", subgraph=0, index=0))
    made = repro(incident(of), kept, name="x")
    assert made.model == data
    assert "not cut to the operator" in made.lacks[0]


def test_a_file_that_is_no_model_is_never_copied(tmp_path):
    secret = tmp_path / "key.pem"
    secret.write_text("-----BEGIN PRIVATE KEY-----")
    of = Operation(framework="tflite", op="ABS", model=Model(path=str(secret), subgraph=0, index=0))
    with pytest.raises(UsageError, match="was changed"):
        repro(incident(of), {}, name="x")


# ---- hostile Incidents ------------------------------------------------------------------------


def test_without_an_operation_there_is_nothing_to_write():
    with pytest.raises(UsageError, match="no operation was found"):
        repro(incident(), {}, name="x")
    with pytest.raises(UsageError, match="none can be written"):
        repro(incident(Operation(framework="opencv", op="cv2.resize")), {}, name="x")


def test_what_tensorflow_makes_of_a_whole_function_has_no_repro():
    with pytest.raises(UsageError, match="no operation that can be called"):
        repro(incident(reshape(op="__inference_train_92")), {}, name="x")


@pytest.mark.parametrize("framework", ["tensorflow", "torch", "numpy"])
@pytest.mark.parametrize(
    "op",
    [PAYLOAD, "import", "a b", "x;y", "os.system('x')#", "", "aten::x;evil()", "numpy.x\nevil()"],
)
def test_a_name_that_is_none_is_refused(framework, op):
    with pytest.raises(UsageError, match=r"^no repro: [^\n]*$"):
        repro(incident(Operation(framework=framework, op=op)), {}, name="x")


WORDS = st.one_of(
    st.text(max_size=30), st.just(PAYLOAD), st.just("evil()"), st.just("\r# \u2028evil()")
)
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(), WORDS, st.booleans(), st.none())
SIZES = st.one_of(st.none(), st.lists(st.integers(-3, 2**62), max_size=4))
KINDS = st.sampled_from(
    [
        "tensor",
        "resource",
        "variant",
        "dtype",
        "list",
        "shape",
        "string",
        "int",
        "bool",
        "float",
        "function",
        "array",
        "object",
        "none",
    ]
)
TYPES = st.one_of(
    WORDS,
    st.sampled_from(
        [
            "float32",
            "int8",
            "string",
            "resource",
            "variant",
            "bfloat16",
            "complex64",
            "qint8",
            "bool",
        ]
    ),
)
STANDINGS = st.sampled_from(["there", "gone", "protected", "missing", "device", "none"])
ARGUMENTS = st.builds(
    Argument,
    name=st.one_of(WORDS, st.sampled_from(["x", "y[0]", "y[1]", "self", "x.indices"])),
    kind=KINDS, dtype=TYPES, shape=SIZES, strides=SIZES, offset=st.one_of(st.none(), st.integers(-9, 2**62)),
    values=st.lists(NUMBERS, max_size=4), text=st.one_of(WORDS, st.sampled_from(["sparse", "float32", "dtypes", "shapes"])),
    elements=st.one_of(st.none(), st.integers(0, 9)), address=st.one_of(st.none(), st.integers(0, 2**64)),
    storage=st.one_of(st.none(), st.tuples(st.integers(0, 2**64), st.integers(0, 2**63))), standing=STANDINGS,
    variable=WORDS, member=st.one_of(WORDS, st.just("0.npy")), number=st.one_of(st.none(), st.integers(-3, 9)), note=WORDS,
)  # fmt: skip
OPERATIONS = st.builds(
    Operation,
    framework=st.sampled_from(["tensorflow", "torch", "numpy", "scipy", "tflite"]),
    op=st.one_of(st.sampled_from(["Reshape", "aten::add", "numpy.add", "numpy.ndarray.sum", "scipy.x.y", "_Mkl"]), WORDS),
    node=WORDS, device=WORDS, kernel=WORDS, library=WORDS, phase=st.sampled_from(["load", "invoke", ""]), delegate=WORDS,
    pipeline=WORDS, inner=st.one_of(WORDS, st.just("add")), inputs=st.lists(ARGUMENTS, max_size=3),
    attributes=st.lists(ARGUMENTS, max_size=3), trace=st.lists(WORDS, max_size=2), missing=st.lists(WORDS, max_size=2),
    model=st.one_of(st.none(), st.builds(Model, member=st.just("1.npy"), subgraph=st.integers(-1, 2), index=st.integers(-1, 4))),
)  # fmt: skip
MODEL = models.bytes_of()
HOSTILE = {**KEPT, "1.npy": member(MODEL, "|u1", [len(MODEL)])}


@given(
    OPERATIONS,
    st.dictionaries(st.one_of(WORDS, st.just("TF_X")), WORDS, max_size=3),
    st.dictionaries(st.one_of(WORDS, st.just("torch")), WORDS, max_size=2),
    WORDS,
)
def test_no_word_of_an_incident_becomes_code(operation, environment, packages, word):
    around = incident(operation, environment=environment, system=word, cpu=word)
    try:
        made = repro(around, HOSTILE, name="x")
    except UsageError as error:
        assert "\n" not in str(error)  # noqa: PT017 -- either of the two is right
        return
    compiled(made.script)
    assert code(made.script).isascii()
    assert all(name.replace("_", "").isalnum() and name.isascii() for name in made.arrays)


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\x93NUMPY\x01\x00",
        KEPT["0.npy"][:-1],
        KEPT["0.npy"] + b"x",
        KEPT["0.npy"].replace(b"<f4", b"|O4"),
        b"PK" + KEPT["0.npy"],
    ],
)
def test_a_member_that_is_none_is_not_believed(broken):
    assert whole(broken) is None


def test_values_are_short_and_pack_into_the_same_bytes():
    assert elements(whole(member(struct.pack("<2f", 0.1, 1 / 3), "<f4", [2]))) == [0.1, 0.33333334]
    assert elements(whole(member(b"ab\1c\0\1", "|S3", [2]))) == [b"ab", b"c\0"]
    assert listed([1, 2, 3, 4], [2, 2]) == "[[1, 2], [3, 4]]"
    assert literal(complex(1, float("inf"))) == "complex(1.0, inf)"
    assert octets("b'x' * 9**9") == b"b'x' * 9**9"
