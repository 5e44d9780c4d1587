"""Laws of one coordinate in the infinite-width limit: one law a file, all used like a frozen distribution."""

from netsor.limit.laws.base import Law, LawError
from netsor.limit.laws.characteristic import ComplexEstimate
from netsor.limit.laws.constant import Constant
from netsor.limit.laws.empirical import Empirical
from netsor.limit.laws.function_of_gaussian import FunctionOfGaussian
from netsor.limit.laws.gaussian_mixture import GaussianMixture

__all__ = ["ComplexEstimate", "Constant", "Empirical", "FunctionOfGaussian", "GaussianMixture", "Law", "LawError"]
