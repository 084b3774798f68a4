"""Takes secrets out of what is kept, when it is written and not only when it is shown."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from sigwhy.model.error import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigwhy.model.incident import Incident

HIDDEN = "[redacted]"
# Names of variables, options and fields whose values nobody else may see.
NAMES = re.compile(
    r"(?i)(?:^|[_\-.])(?:pass(?:wd|word|phrase)?|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key"
    r"|auth|authorization|bearer|credential|credentials|cookie|session[_-]?id|signature|sas|dsn|connection[_-]?string)s?(?:$|[_\-.\d])"
    r"|(?i:(?:key|token|secret|password|passwd|passphrase|credentials?)$)"
)
# A name and its value in free text, as programs print them: password=X, "api_key": "X".
NAMED = (
    r"(?i)((?<![\w-])[\w.-]{0,60}(?:pass(?:wd|word|phrase)|pwd|secret|credentials?|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|client[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?id|cookie)[\"']?\s{0,3}[:=]\s{0,3}[\"']?)"
    r"(?!\[redacted\])[^\s\"',;&<>]{4,2000}"
)
VALUES = tuple(
    (re.compile(pattern), put)
    for pattern, put in (
        (r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^\s/@:]{0,200}:[^\s/@]{1,500}@", rf"\1{HIDDEN}@"),
        (r"(?i)\b(https?://)[A-Za-z0-9_-]{16,400}@", rf"\1{HIDDEN}@"),
        (r"(?i)\b(bearer|basic|token|apikey)\s{1,3}(?=[^\s\"']{0,2000}\d)[A-Za-z0-9._~+/=-]{16,2000}", rf"\1 {HIDDEN}"),
        (r"(?i)\b(bearer|basic)\s{1,3}[A-Za-z0-9._~+/=-]{8,2000}", rf"\1 {HIDDEN}"),
        (r"(?i)([?&](?:[\w-]*(?:token|key|secret|sig|signature|password|passwd|auth|credential)[\w-]*)=)[^&\s#\"']{1,2000}", rf"\1{HIDDEN}"),
        (r"\b(?:AKIA|ASIA|AGPA|AROA|ABIA)[A-Z0-9]{16}\b", HIDDEN),
        (r"\b(?:ghp|gho|ghu|ghs|ghr|github_pat)_[A-Za-z0-9_]{20,255}", HIDDEN),
        (r"\bgl(?:pat|dt|rt|ptt|oas|soat|cbt|ft|imt|agent)-[A-Za-z0-9_.-]{16,128}", HIDDEN),
        (r"\bxox[abceoprs]-[A-Za-z0-9-]{10,255}|\bxapp-[A-Za-z0-9-]{10,255}", HIDDEN),
        (r"(https://hooks\.slack\.com/(?:services|workflows)/)[A-Za-z0-9/_-]{10,200}", rf"\1{HIDDEN}"),
        (r"(https://(?:\w{1,20}\.)?discord(?:app)?\.com/api/webhooks/)[\w/-]{10,200}", rf"\1{HIDDEN}"),
        (r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct)?[-_]?(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,255}", HIDDEN),
        (r"\bhf_[A-Za-z0-9]{20,64}|\bapi_org_[A-Za-z0-9]{20,64}", HIDDEN),
        (r"\bAIza[A-Za-z0-9_-]{30,50}|\bGOCSPX-[A-Za-z0-9_-]{20,60}", HIDDEN),
        (r"\bya29\.[A-Za-z0-9_-]{20,500}", HIDDEN),
        (r"\b(?:npm|dop_v1|doo_v1|dor_v1|shpat|shpca|shppa|shpss|lin_api|glsa|nvapi|gsk|r8|tvly|pplx|secret|ntn|pat|rubygems)[-_](?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{24,255}", HIDDEN),
        (r"\bpypi-[A-Za-z0-9_-]{40,400}", HIDDEN),
        (r"\bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{30,80}", HIDDEN),
        (r"\b(?:AC|SK)[0-9a-f]{32}\b|\bdapi[0-9a-f]{32}(?:-\d)?|\bkey-[0-9a-f]{32}\b", HIDDEN),
        (r"\bhv[sbr]\.[A-Za-z0-9_-]{20,300}|\bdp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{20,120}", HIDDEN),
        (r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,120}", HIDDEN),
        (r"\b\d{8,10}:AA[A-Za-z0-9_-]{30,40}\b", HIDDEN),
        (r"\bey[JK][A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,4000}(?:\.[A-Za-z0-9_-]{0,2000})?", HIDDEN),
        (r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", HIDDEN),
        (r"(?i)\b(machine\s{1,3}\S{1,200}\s{1,3}login\s{1,3}\S{1,200}\s{1,3}password\s{1,3})\S{1,500}", rf"\1{HIDDEN}"),
        (r"(?i)((?:^|\s)(?:-u|--user|--proxy-user)[\s=]{1,3}[^\s:]{1,100}:)[^\s]{1,200}", rf"\1{HIDDEN}"),
        (r"(?i)((?:^|\s)--?[\w-]{0,40}(?:password|passwd|passphrase|secret|token|api-?key|credentials?)[= ])(?!\[)[^\s-][^\s]{0,500}", rf"\1{HIDDEN}"),
        (NAMED, rf"\1{HIDDEN}"),
    )
)  # fmt: skip
OPTION = re.compile(r"^(--?[\w-]+)=(.*)$", re.DOTALL)


def redacted(text: str, patterns: tuple[re.Pattern[str], ...] = ()) -> str:
    """The text without what looks like a secret, and without what ``patterns`` name."""
    for pattern, put in VALUES:
        text = pattern.sub(put, text)
    for own in patterns:
        text = own.sub(HIDDEN, text)
    return text


def is_secret(name: str) -> bool:
    """Whether the value of this name is nobody else's business."""
    return bool(NAMES.search(name))


def redacted_value(name: str, value: str, patterns: tuple[re.Pattern[str], ...] = ()) -> str:
    """A value with its name: hidden whole where the name says so."""
    return HIDDEN if is_secret(name) else redacted(value, patterns)


def redacted_command(
    words: tuple[str, ...] | list[str], patterns: tuple[re.Pattern[str], ...] = ()
) -> list[str]:
    """A command line: ``--token=X``, ``--token X`` and secrets inside words are hidden."""
    shown: list[str] = []
    hide_next = False
    for word in words:
        option = OPTION.match(word)
        if hide_next and not word.startswith("-"):
            shown.append(HIDDEN)
        elif option and is_secret(option[1].lstrip("-")):
            shown.append(f"{option[1]}={HIDDEN}")
        else:
            shown.append(redacted(word, patterns))
        hide_next = word.startswith("-") and "=" not in word and is_secret(word.lstrip("-"))
    return shown


def whole(incident: Incident, patterns: tuple[re.Pattern[str], ...] = ()) -> Incident:
    """An Incident without secrets, in every field where the program's own words can be."""
    own = partial(redacted, patterns=patterns)
    threads = [
        replace(
            thread,
            name=own(thread.name),
            python=[
                replace(f, locals=_named(f.locals, patterns), globals=_named(f.globals, patterns))
                for f in thread.python
            ],
        )
        for thread in incident.threads
    ]
    processes = [
        replace(p, command=redacted_command(p.command, patterns)) for p in incident.processes
    ]
    cleaned = replace(
        incident,
        command=redacted_command(incident.command, patterns),
        environment=_named(incident.environment, patterns),
        files={handle: own(what) for handle, what in incident.files.items()},
        threads=threads,
        processes=processes,
        stderr=own(incident.stderr),
        sources={
            file: {n: own(line) for n, line in lines.items()}
            for file, lines in incident.sources.items()
        },
        kernel=[own(line) for line in incident.kernel],
        notes=[own(line) for line in incident.notes],
        abort_message=own(incident.abort_message) if incident.abort_message else None,
        exception_says=own(incident.exception_says) if incident.exception_says else None,
    )
    return _by_own_patterns(cleaned, patterns) if patterns else cleaned


def _named(values: dict[str, str], patterns: tuple[re.Pattern[str], ...]) -> dict[str, str]:
    return {name: redacted_value(name, value, patterns) for name, value in values.items()}


def _by_own_patterns(incident: Incident, patterns: tuple[re.Pattern[str], ...]) -> Incident:
    """What the user named is hidden wherever it stands, also in paths and names."""

    def hidden(value: object) -> object:
        match value:
            case str():
                for own in patterns:
                    value = own.sub(HIDDEN, value)
                return value
            case list():
                return [hidden(one) for one in value]
            case dict():
                return {hidden(name): hidden(one) for name, one in value.items()}
            case _:
                return value

    kept = ("way", "machine", "schema", "sigwhy", "at")
    plain = msgspec.to_builtins(incident, builtin_types=(bytes,))
    cleaned = {name: value if name in kept else hidden(value) for name, value in plain.items()}
    return msgspec.convert(cleaned, type(incident), builtin_types=(bytes,))


def compiled(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """The user's own patterns; raises ``UsageError`` where one is none."""
    found = []
    for pattern in patterns:
        try:
            found.append(re.compile(pattern))
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(
                f"--redact {pattern!r} is no regular expression ({error}); to hide plain words, put a backslash before . * + ? ( ) [ ] {{ }} | ^ $"
            ) from None
        if found[-1].search(""):
            raise UsageError(f"--redact {pattern!r} fits everything; name what is to be hidden")
    return tuple(found)
