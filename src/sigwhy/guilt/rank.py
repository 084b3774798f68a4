"""A failed check that counts dimensions: which argument has so many.

TensorFlow checks late and deep inside: ``d < dims() (1 vs. 1)`` asked a tensor of rank 1 for its second
size, ``NDIMS == dims() (4 vs. 1)`` wanted rank 4 and got rank 1, ``d >= 0 (-1 vs. 0)`` asked a scalar for
its last size. The checks do not say whose rank it is; the inputs do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.trial import Charge, is_tensor, whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.fact import Check
    from sigwhy.model.operation import Argument
    from sigwhy.model.trial import Trial

PAIR = re.compile(r"^(?P<left>-?\d{1,9}) vs\. (?P<right>-?\d{1,9})(?!\d)")
TOO_FEW = re.compile(r"^d < dims\(\)$")  # (asked for vs. rank)
EXACTLY = re.compile(r"^(?:NDIMS|\d) == (?:\w+\.)?dims\(\)$")  # (wanted vs. rank)
EXACTLY_SWAPPED = re.compile(r"^(?:\w+\.)?dims\(\) == (?:NDIMS|\d)$")  # (rank vs. wanted)
FROM_THE_END = re.compile(r"^(?:d >= 0|0 <= d)$")
OF_A_SHAPE = re.compile(r"(?:^|/)tensor_shape\.\w+$")
LAYOUT = re.compile(r"index >= 0 && index < num_total_dims")
ASKED = re.compile(r"Invalid index from the dimension: (?P<index>\d{1,3})\b")
# One number for each dimension of the input.
PER_DIMENSION = re.compile(r"(?:^|_)(?:strides|dilations|rates|ksize|kernel_size)$")
AXIS = re.compile(r"(?:^|_)(?:axis|axes|dims?|dimension|batch_dims)$")
COUNTS = frozenset({"int32", "int64"})
# What is a list of numbers, or one number, in every call: its rank of 1, or of 0, is no wonder.
LISTS = re.compile(
    r"(?:^|_)(?:\w*shape|\w*sizes?|axes|axis|perm|begin|end|strides|multiples|paddings|crops|dims|splits|lengths?"
    r"|ind(?:ex|ices)|segment_ids|seeds?|keys|labels|boundaries|reduction_indices|box_ind\w*|row_splits\w*)$"
)
NUMBERS = re.compile(
    r"(?:^|_)(?:lr|alpha|rho|beta\w*|epsilon|momentum|decay|l[12]\w*|global_step|axis|axes|dim|dimension|depth|limit|start|delta"
    r"|num\w*|size|rate|seed\w*|min\w*|max\w*|scale|threshold|\w*_threshold|on_value|off_value|index|handle|default_value|k|nbins)$"
)


def charges(trial: Trial) -> Iterator[Charge]:
    """Yield each argument whose rank is the one that the check speaks of."""
    for check in trial.checks:
        if LAYOUT.search(check.expression):
            yield from _layout(trial, check)
        elif pair := PAIR.match(check.detail):
            yield from _counted(trial, check, int(pair["left"]), int(pair["right"]))


def _counted(trial: Trial, check: Check, left: int, right: int) -> Iterator[Charge]:
    if TOO_FEW.match(check.expression):
        yield from _of_rank(trial, check, right, f"at least {left + 1}")
    elif EXACTLY.match(check.expression):
        yield from _of_rank(trial, check, right, str(left))
    elif EXACTLY_SWAPPED.match(check.expression):
        yield from _of_rank(trial, check, left, str(right))
    elif FROM_THE_END.match(check.expression) and OF_A_SHAPE.search(check.file or ""):
        # TensorFlow up to 2.16 prints the two values the other way round.
        yield from _from_the_end(trial, check, min(left, right))


def _of_rank(trial: Trial, check: Check, rank: int, wanted: str) -> Iterator[Charge]:
    found = [a for a in trial.operation.inputs if is_tensor(a) and _rank(a) == rank]
    odd = [a for a in found if not _is_usual(a, rank)] or found
    # Beside data of fractions, a list of whole numbers is a setting: its rank is what it must be.
    data = [a for a in odd if a.dtype not in COUNTS] if rank <= 1 else []
    for argument in data or odd:
        yield _charge(argument, check, rank, wanted)


def _from_the_end(trial: Trial, check: Check, asked: int) -> Iterator[Charge]:
    """Asked for a size before the first: an axis that does not exist, or a tensor without sizes."""
    astray = [c for a in trial.arguments for c in _axis(trial, a, check)]
    yield from astray
    if not astray and asked < 0:
        yield from _of_rank(trial, check, -asked - 1, f"at least {-asked}")


def _axis(trial: Trial, argument: Argument, check: Check) -> Iterator[Charge]:
    ranks = [rank for a in trial.operation.inputs if is_tensor(a) and (rank := _rank(a))]
    most = max(ranks, default=0)
    for _, value in whole_numbers(argument) if AXIS.search(argument.name) and most else ():
        if not -most <= value < most:
            yield Charge(
                argument=argument,
                rule="axis",
                says=f"{argument.name} = {value} is no dimension of an input of rank {most}",
                shown_by=check,
                value=str(value),
                wanted=f"{-most} to {most - 1}",
            )


def _layout(trial: Trial, check: Check) -> Iterator[Charge]:
    """A list with one number for each dimension, or a tensor, is shorter than its layout wants."""
    asked = ASKED.search(f"{check.expression} {check.detail} {check.span.words}")
    wanted = int(asked["index"]) + 1 if asked else 4
    for argument in trial.arguments:
        length, is_list = len(argument.values), argument.kind == "list"
        if PER_DIMENSION.search(argument.name) and (length or is_list) and length < wanted:
            yield Charge(
                argument=argument,
                rule="length",
                says=f"{argument.name} has {_counted_off(length)}, the layout needs {wanted}",
                shown_by=check,
                value=str(list(argument.values)),
                wanted=f"{wanted} values",
            )
    for argument in trial.operation.inputs:
        rank = _rank(argument)
        if not is_tensor(argument) or rank is None or _is_usual(argument, rank):
            continue
        if rank < wanted:
            yield _charge(argument, check, rank, f"at least {wanted}")


def _counted_off(length: int) -> str:
    return "1 value" if length == 1 else f"{length} values" if length else "no values"


def _rank(argument: Argument) -> int | None:
    return None if argument.shape is None else len(argument.shape)


def _is_usual(argument: Argument, rank: int) -> bool:
    name = argument.name.lower()
    return bool((rank == 1 and LISTS.search(name)) or (rank == 0 and NUMBERS.search(name)))


def _charge(argument: Argument, check: Check, rank: int, wanted: str) -> Charge:
    return Charge(
        argument=argument,
        rule="rank",
        says=f"{argument.name} has rank {rank}, the kernel wants {wanted}",
        shown_by=check,
        value=f"rank {rank}",
        wanted=f"rank {wanted}",
    )
