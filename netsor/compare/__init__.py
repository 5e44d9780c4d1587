"""The judgement between the limit and finite width.

:func:`compare` decides with means of known functions and distribution functions, extrapolated to infinite width, each with its
false-alarm rate and the smallest deviation that it would have detected."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsor.compare.comparison import compare
    from netsor.compare.divergence import kl_divergence, kl_matched_gaussian, kl_of_densities
    from netsor.compare.kernel_density import kde_divergence, noise_floor
    from netsor.compare.result import Comparison
    from netsor.compare.simulation import Simulation, simulate

_PUBLIC = {
    "Comparison": "result", "Simulation": "simulation", "compare": "comparison", "kde_divergence": "kernel_density",
    "kl_divergence": "divergence", "kl_matched_gaussian": "divergence", "kl_of_densities": "divergence",
    "noise_floor": "kernel_density", "simulate": "simulation",
}

__all__ = [
    "Comparison", "Simulation", "compare", "kde_divergence", "kl_divergence", "kl_matched_gaussian",
    "kl_of_densities", "noise_floor", "simulate",
]


def __getattr__(name: str):
    """Public names are imported when they are first used: the command line reads its defaults without numpy."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'netsor.compare' has no attribute {name!r}")
    return getattr(import_module(f"netsor.compare.{_PUBLIC[name]}"), name)
