"""Gaussian expectations as formulas.

``pair_moment``, ``second_moment`` and ``mean`` give E phi(u) psi(v), E phi(u) psi(u) and E phi(u) as SymPy expressions in
whatever stands for the variances and the covariance, or None when no closed form is known.  A function is a sum of terms
(``terms``), expectations of products of terms follow from Stein's lemma and completing the square (``moments``, ``law``),
``collect`` lays the sum out.  Formulas are derived once for dummies, cached, and filled in.

Known: everything among polynomials, rectifiers, steps, error functions and gelu; sines and exponentials with one another
and with those; the Gaussian bump with everything; clips and exponential units (elu) alone, squared, and with polynomials,
exponentials and the bump.  Not known: pairs of two functions with kinks away from zero, or of such a one and an
exponential unit: they need the bivariate normal distribution function.  Products of functions of one variable (``Product``) are
functions like others: relu(u)^4, u^2 step(u).
"""

from __future__ import annotations

import functools

import sympy

from netsor.derive.closed_forms import expectations
from netsor.derive.closed_forms.activation import Activation, Product
from netsor.derive.closed_forms.families import citation_of, decompose, names
from netsor.derive.closed_forms.isserlis import polynomial_moment
from netsor.derive.closed_forms.law import Law
from netsor.derive.closed_forms.numbers import value
from netsor.derive.closed_forms.polynomials import hermite_pair
from netsor.derive.closed_forms.terms import Decomposition, Term

__all__ = [
    "Activation", "Product", "citation", "is_shorter_in_rho", "mean", "names", "pair_moment", "polynomial_moment", "second_moment", "value"]

ZERO = sympy.Integer(0)
MEAN_U, MEAN_V, VAR_U, VAR_V, COV, RHO = (sympy.Dummy(name) for name in ("mu", "nu", "a", "b", "c", "rho"))


def pair_moment(
    left: Activation | Product, right: Activation | Product, variance_left, variance_right, covariance=None, *, mean_left=0, mean_right=0, rho=None
) -> sympy.Expr | None:
    """E left(u) right(v) for jointly Gaussian u, v, or None if no closed form is known.

    Variances, covariance and means are expressions, for values that are those of a Gaussian law; symbols need no
    assumptions.  With ``rho``, the correlation, the formula is in rho and the variances, and ``covariance`` is not used.
    TypeError when there is neither, or when parameters of a function are missing.
    """
    if covariance is None and rho is None:
        raise TypeError("pair_moment needs a covariance or rho")
    a, b, mean_u, mean_v = map(sympy.sympify, (variance_left, variance_right, mean_left, mean_right))
    rho = None if rho is None else sympy.sympify(rho)
    c = sympy.sympify(covariance) if rho is None else rho * _scale(a, b)
    if a == 0 or b == 0 or c == 0:
        return _product(mean(left, mean_u, a), mean(right, mean_v, b))
    if a == b and mean_u == mean_v and c == a:
        return second_moment(left, right, a, mean=mean_u)
    if a == b and mean_u == -mean_v and c == -a:
        return second_moment(left, right, a, mean=mean_u, reflected=True)
    centred = mean_u == 0 and mean_v == 0
    formula, numbers = _pair(left, right, a == b, (mean_u != 0, mean_v != 0), centred and rho is not None)
    if formula is None:
        return None
    values = {MEAN_U: mean_u, MEAN_V: mean_v, VAR_U: a, VAR_V: b, COV: c, RHO: rho}
    return formula.xreplace({symbol: value for symbol, value in values.items() if value is not None} | numbers)


def is_shorter_in_rho(left: Activation | Product, right: Activation | Product) -> bool:
    """Whether E left(u) right(v) is shorter with the correlation than with the covariance: that of positively homogeneous functions, of
    which one has a kink (polynomials are sums of powers of the covariance)."""
    one, two = decompose(left)[0], decompose(right)[0]
    if one is None or two is None or _homogeneous(one, two) is None:
        return False
    return any(isinstance(term, Term) and term.sign is not None for each in (one, two) for term in each.terms)


def second_moment(phi: Activation | Product, psi: Activation | Product, variance, *, mean=0, reflected: bool = False) -> sympy.Expr | None:
    """E phi(u) psi(u), u ~ N(mean, variance), or None; ``reflected``: E phi(u) psi(-u)."""
    variance, mean = sympy.sympify(variance), sympy.sympify(mean)
    formula, numbers = _second(phi, psi, mean != 0, reflected)
    return None if formula is None else formula.xreplace({MEAN_U: mean, VAR_U: variance} | numbers)


def mean(phi: Activation | Product, mean, variance) -> sympy.Expr | None:
    """E phi(u), u ~ N(mean, variance), or None; at variance 0 phi(mean)."""
    mean, variance = sympy.sympify(mean), sympy.sympify(variance)
    formula, numbers = _mean(phi, mean != 0, variance == 0)
    return None if formula is None else formula.xreplace({MEAN_U: mean, VAR_U: variance} | numbers)


def citation(*activations: Activation) -> str:
    """Where the formulas of functions, or of their products, come from; "" where there are none."""
    sources = [citation_of(activation.name) for activation in activations]
    return "; ".join(dict.fromkeys(source for source in sources if source))


def _product(one: sympy.Expr | None, two: sympy.Expr | None) -> sympy.Expr | None:
    if one == 0 or two == 0:
        return ZERO
    return None if one is None or two is None else one * two


def _scale(a: sympy.Expr, b: sympy.Expr) -> sympy.Expr:
    """sqrt(ab), which is a for equal variances: they are not negative."""
    return a if a == b else sympy.sqrt(a * b)


@functools.lru_cache(maxsize=4096)
def _pair(left: Activation, right: Activation, same: bool, means: tuple[bool, bool], with_rho: bool):
    """The formula in dummies, and the numbers of its parameters; ``same``: both variances are called VAR_U."""
    (one, numbers), (two, more) = decompose(left), decompose(right)
    if one is None or two is None:
        return None, {}
    var_v = VAR_U if same else VAR_V
    law = Law(MEAN_U if means[0] else ZERO, MEAN_V if means[1] else ZERO, VAR_U, COV, var_v)
    if left.name == right.name == "hermite" and not any(means):
        formula = hermite_pair(int(left.parameters[0]), int(right.parameters[0]), VAR_U, COV, var_v)
    elif with_rho and (degrees := _homogeneous(one, two)):
        # positively homogeneous functions: the variances come out as powers
        unit = expectations.expectation(one, two, Law(ZERO, ZERO, sympy.Integer(1), RHO, sympy.Integer(1)))
        formula = unit and unit * _powers(VAR_U, var_v, *degrees)
    else:
        formula = expectations.expectation(one, two, law)
    if formula is not None and with_rho:
        formula = formula.xreplace({COV: RHO * _scale(VAR_U, var_v)})
    return formula, numbers | more


def _homogeneous(one: Decomposition, two: Decomposition) -> tuple[int, int] | None:
    """The degrees of two positively homogeneous functions."""
    degrees = (one.degree, two.degree)
    return None if None in degrees else degrees


def _powers(a: sympy.Expr, b: sympy.Expr, j: int, k: int) -> sympy.Expr:
    """a^{j/2} b^{k/2}."""
    least = min(j, k)
    return _scale(a, b) ** least * sympy.sqrt(a) ** (j - least) * sympy.sqrt(b) ** (k - least)


@functools.lru_cache(maxsize=4096)
def _second(phi: Activation, psi: Activation, shifted: bool, reflected: bool):
    (one, numbers), (two, more) = decompose(phi), decompose(psi)
    if one is None or two is None:
        return None, {}
    two = two.reflected() if reflected else two
    return expectations.second_moment(one, two, MEAN_U if shifted else ZERO, VAR_U), numbers | more


@functools.lru_cache(maxsize=4096)
def _mean(phi: Activation, shifted: bool, constant: bool):
    decomposition, numbers = decompose(phi)
    if decomposition is None:
        return None, {}
    place = MEAN_U if shifted else ZERO
    if constant:
        return decomposition(place), numbers
    return expectations.mean(decomposition, place, VAR_U), numbers
