"""A convolution cannot be computed with its strides, dilations, filter or groups.

What happens: the kernel divides by the stride and by the number of groups, which is input channels through filter channels. A
stride, a dilation or a filter of 0 is SIGFPE in AllocateTensors or at the first invoke, on TensorFlow up to 2.16 and tflite-runtime; later
runtimes refuse some of them. Strides and dilations beyond 32767 are cut to 16 bits, and become 0 or negative on the way.

How to tell: strides and dilations from 1 to 32767; four dimensions (five for 3D) of which none of the filter is 0; input channels a multiple of those of
the filter, and output channels a multiple of the groups; a bias for each output channel.

Fix: correct the layer and convert it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sigwhy.model.check import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.problem import Problem
    from sigwhy.subjects.tflite_model import Node, Tensor, TfliteModel

CHECK = Check(
    id="tflite-convolution",
    title="a convolution cannot be computed with its strides, filter or groups",
    fix="correct the layer and convert it again",
)
# Of each operator: which input is the picture, which the filter, where the filter has its output channels, how many dimensions.
OPERATORS = {
    "CONV_2D": (0, 1, 0, 4),
    "DEPTHWISE_CONV_2D": (0, 1, 3, 4),
    "TRANSPOSE_CONV": (2, 1, 0, 4),
    "CONV_3D": (0, 1, 4, 5),
    "CONV_3D_TRANSPOSE": (2, 1, 3, 5),
}
STEPS = ("stride_w", "stride_h", "stride_d")
DILATIONS = ("dilation_w_factor", "dilation_h_factor", "dilation_d_factor")
BIAS = {
    "CONV_2D": 2,
    "DEPTHWISE_CONV_2D": 2,
    "CONV_3D": 2,
    "TRANSPOSE_CONV": 3,
    "CONV_3D_TRANSPOSE": 3,
}
LARGEST = 2**15 - 1


def look(model: TfliteModel) -> Iterator[Problem]:
    """Yield what cannot be, convolution by convolution."""
    for node in model.named(*OPERATORS):
        at_picture, at_filter, at_outputs, rank = OPERATORS[node.name]
        yield from _steps(node, three=rank == 5)
        picture, weights = node.input(at_picture), node.input(at_filter)
        if not picture or not weights:
            continue
        if picture.rank != rank or weights.rank != rank:
            says = f"input and filter have {picture.rank} and {weights.rank} dimensions; {rank} are wanted"
            yield CHECK.problem(says, place=node.place())
        elif not weights.count:
            says = f"its filter {list(weights.shape)} is empty"
            yield CHECK.problem(says, place=node.place("filter"))
        else:
            yield from _channels(node, picture, weights, weights.shape[at_outputs])
            yield from _output_shape(node, picture, weights)


def _steps(node: Node, *, three: bool) -> Iterator[Problem]:
    absent = dict.fromkeys(DILATIONS, 1)  # a dilation that was not written is 1
    for name in (*STEPS, *DILATIONS):
        if (name in ("stride_d", "dilation_d_factor")) > three or (
            node.name == "TRANSPOSE_CONV" and name in DILATIONS
        ):
            continue
        value = node.option(name, absent.get(name, 0) if node.options else 0)
        if not 1 <= value <= LARGEST:
            says = f"it is {value}; the kernel divides by it and keeps 16 bits of it"
            yield CHECK.problem(says, place=node.place(name))


def _channels(node: Node, picture: Tensor, weights: Tensor, outputs: int) -> Iterator[Problem]:
    given = picture.shape[-1]
    if node.name in ("CONV_2D", "CONV_3D"):
        taken = weights.shape[-1] if node.name == "CONV_2D" else weights.shape[3]
        groups = given // taken
        if given % taken:
            says = f"{given} input channels are no multiple of the {taken} of the filter"
            yield CHECK.problem(says, place=node.place("filter"))
        elif not groups or outputs % groups or outputs < groups:
            says = f"{outputs} filters cannot be shared out to {groups} groups"
            yield CHECK.problem(says, place=node.place("filter"))
    elif node.name == "DEPTHWISE_CONV_2D" and (not given or outputs % given):
        says = f"{outputs} output channels are no multiple of the {given} of the input"
        yield CHECK.problem(says, place=node.place("filter"))
    bias = node.input(BIAS[node.name])
    if bias and bias.count != outputs:
        says = f"{bias.count} numbers are given for {outputs} output channels"
        yield CHECK.problem(says, place=node.place("bias"))


def _output_shape(node: Node, picture: Tensor, weights: Tensor) -> Iterator[Problem]:
    """Of the transposed ones, which are told how large their output is."""
    if node.name not in ("TRANSPOSE_CONV", "CONV_3D_TRANSPOSE"):
        return
    shape = node.values(0)
    if shape is None:
        return
    channels = weights.shape[0] if node.name == "TRANSPOSE_CONV" else weights.shape[3]
    wanted = f"{picture.rank} sizes above 0, for {picture.shape[0]} pictures of {channels} channels"
    fits = (
        len(shape) == picture.rank
        and min(shape) >= 1
        and shape[0] == picture.shape[0]
        and shape[-1] == channels
    )
    if not fits:
        says = f"the output shape is {list(shape)[:8]}; wanted are {wanted}"
        yield CHECK.problem(says, place=node.place("output_shape"))
