"""Whom a way into native code blames: the call in your source, and where it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.cause import Culprit

if TYPE_CHECKING:
    from sigwhy.model.cause import Kind
    from sigwhy.model.fact import Entered


def whom(
    entered: Entered,
    *,
    kind: Kind = "api",
    name: str | None = None,
    argument: str | None = None,
    value: str | None = None,
) -> Culprit:
    """The call as it is written, the function and the library in which it died, and your line."""
    return Culprit(
        kind=kind,
        name=name or entered.api or entered.written or entered.function or entered.died_function,
        argument=argument,
        value=value,
        function=entered.died_function or entered.function,
        library=entered.died_library or entered.library,
        file=entered.file,
        line=entered.line,
    )


def is_of_others(entered: Entered) -> bool:
    """Whether your line called a function of a package, and nothing of your own was on the way."""
    others = {entered.whose, entered.died_whose} & {"package", "framework"}
    own = entered.through or entered.wrapper or entered.died_whose in {"own", "nobody"}
    return bool(others and not own and entered.way != "interpreter" and entered.written)


def of_own(entered: Entered) -> Culprit:
    """The innermost function of the user's own library, with its source where that is known."""
    in_it = entered.died_whose == "own"
    library = entered.died_library if in_it else entered.through or entered.library
    function = entered.died_function if in_it else entered.through_function or entered.function
    source = entered.died_file if in_it else None
    return Culprit(
        kind="file" if source else "library",
        name=function or library,
        argument=entered.written,
        function=function,
        library=library,
        file=source or entered.file,
        line=entered.died_line if source else entered.line,
    )
