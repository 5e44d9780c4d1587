"""The judgement between the limit and finite width.

:func:`compare` decides with means of known functions and distribution functions, extrapolated to infinite width, each with its
false-alarm rate and the smallest deviation that it would have detected."""

from netsor.compare.comparison import compare
from netsor.compare.divergence import divergence, kl_divergence, kl_matched_gaussian
from netsor.compare.kernel_density import kde_divergence, noise_floor
from netsor.compare.result import Comparison
from netsor.compare.simulation import Simulation, simulate

__all__ = [
    "Comparison", "Simulation", "compare", "divergence", "kde_divergence", "kl_divergence", "kl_matched_gaussian",
    "noise_floor", "simulate",
]
