"""What is reported about a program: one file for each kind of quantity."""

from __future__ import annotations

from netsor.ir.program import Output
from netsor.limit.analysis import Analysis
from netsor.limit.outputs.base import Quantity
from netsor.limit.outputs.constant import ConstantOutput
from netsor.limit.outputs.function import FunctionOutput
from netsor.limit.outputs.gaussian import GaussianOutput
from netsor.limit.outputs.scalar import ScalarOutput
from netsor.limit.outputs.score import ExactScoreOutput


def quantity(output: Output, analysis: Analysis) -> Quantity:
    """The quantity that reports ``output``."""
    families = [part.reference.family for part in output.parts]
    if output.is_vector:
        gaussian = all(analysis.recursion.forms.is_gaussian(family) for family in families)
        return (GaussianOutput if gaussian else FunctionOutput)(output, analysis)
    if not any(analysis.randomness.scores(family) for family in families):
        return ConstantOutput(output, analysis)
    if all(f.is_sampled and analysis.randomness.scores(f) == {f} for f in families):
        return ExactScoreOutput(output, analysis)
    return ScalarOutput(output, analysis)


__all__ = ["Quantity", "quantity"]
