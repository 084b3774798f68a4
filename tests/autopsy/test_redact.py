"""No secret reaches what is kept."""

import msgspec
import pytest

from sigwhy.autopsy import redact
from sigwhy.model.error import UsageError
from sigwhy.model.incident import Incident, Process, PythonFrame, Thread
from tests.kinds_of_secrets import SECRETS, WITH_NAMES


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_that_looks_like_one_is_hidden_wherever_it_stands(kind):
    text, secret = SECRETS[kind]
    for around in (f"{text}", f"trying {text} now", f"x\n  [{text}]\n"):
        assert secret not in redact.redacted(around)
    assert secret in text


@pytest.mark.parametrize("name", WITH_NAMES)
def test_a_value_is_hidden_whose_name_says_what_it_is(name):
    assert redact.redacted_value(name, "plain") == redact.HIDDEN


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: unexpected keyword argument 'tokens' in tokenizer(tokens=512)",
        "OP_REQUIRES failed at strided_slice_op.cc:117 : INVALID_ARGUMENT: slice index 5",
        "/usr/lib/python3.11/site-packages/numpy/_core/_multiarray_umath.so",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "https://github.com/numpy/numpy/issues/13859?q=is%3Aopen",
        "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED at 0x7f00deadbeef",
        "monkey = 3, keyboard=us, hockey: puck",
        "tf.Session: session closed; key: layer1/kernel",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact.redacted(text) == text


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (["a", "--token=x1", "b"], ["a", "--token=[redacted]", "b"]),
        (["a", "--password", "x1", "b"], ["a", "--password", "[redacted]", "b"]),
        (["a", "--api-key", "-x"], ["a", "--api-key", "-x"]),
        (["curl", "https://u:p4ss@h/"], ["curl", "https://[redacted]@h/"]),
        (["a", "--keep", "3"], ["a", "--keep", "3"]),
    ],
)
def test_a_command_line_is_shown_without_its_secrets(given, shown):
    assert redact.redacted_command(given) == shown


def _incident(text):
    return Incident(
        command=["run", text],
        stderr=text,
        environment={"TF_X": text},
        files={"3": text},
        kernel=[text],
        sources={"/a.py": {3: text}},
        notes=[text],
        abort_message=text,
        exception_says=text,
        processes=[Process(pid=1, command=["x", text])],
        threads=[Thread(tid=1, python=[PythonFrame(function="f", file="/a", locals={"v": text})])],
        code=b"\x0f\x0b",
    )


@pytest.mark.parametrize("kind", SECRETS)
def test_no_field_of_an_incident_keeps_a_secret(kind):
    text, secret = SECRETS[kind]
    cleaned = redact.whole(_incident(text))
    assert secret.encode() not in msgspec.json.encode(cleaned)
    assert cleaned.code == b"\x0f\x0b"


def test_a_pattern_of_the_users_hides_also_in_paths_and_names():
    incident = msgspec.structs.replace(
        _incident("x"),
        threads=[Thread(tid=1, python=[PythonFrame(function="f", file="/c/ACME/a.py")])],
    )
    cleaned = redact.whole(incident, redact.compiled([r"AC\w+"]))
    assert cleaned.threads[0].python[0].file == "/c/[redacted]/a.py"
    assert cleaned.code == b"\x0f\x0b"
    assert cleaned.way == "trace"


@pytest.mark.parametrize("pattern", ["(", "[", "*x", "(?P<", "a*", ""])
def test_a_pattern_that_cannot_be_is_refused_in_one_line(pattern):
    with pytest.raises(UsageError) as refused:
        redact.compiled([pattern])
    assert "\n" not in str(refused.value)
    assert "--redact" in str(refused.value)


def test_a_long_text_without_secrets_takes_no_time():
    for text in ("a" * 200_000, "a-b." * 50_000, "key=" * 50_000, "://" * 60_000, "ey" * 100_000):
        redact.redacted(text)
