"""Families of functions whose Gaussian expectations are known in closed form.

A form has ``mean(mean, variance)``, the expectation of one variable, and pairs of forms have formulas
``formula(mean_u, mean_v, var_u, cov, var_v)``.  All arguments broadcast.  Variances are positive: the
caller treats a constant variable.  Correlations up to and including +-1 are exact limits.
"""

from netsor.nonlinearities.forms.dispatch import mean_of_form, pair_of_forms
from netsor.nonlinearities.forms.error_function import ErrorFunction
from netsor.nonlinearities.forms.geometry import pair_geometry, pair_sine
from netsor.nonlinearities.forms.hinges import Hinges
from netsor.nonlinearities.forms.kink_at_zero import KinkAtZero
from netsor.nonlinearities.forms.polynomial import PolynomialForm
from netsor.nonlinearities.forms.waves import Waves

__all__ = [
    "ErrorFunction", "Hinges", "KinkAtZero", "PolynomialForm", "Waves", "mean_of_form", "pair_geometry",
    "pair_of_forms", "pair_sine",
]
