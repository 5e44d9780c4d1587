"""E phi(u) psi(v) of two decompositions, term by term; None as soon as one summand has no elementary form."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import sympy

from netsor.derive.closed_forms.collect import Collected, root, tidy
from netsor.derive.closed_forms.law import Law, tilt
from netsor.derive.closed_forms.moments import moment, one_sign, two_signs, wave_moment
from netsor.derive.closed_forms.terms import Decomposition, Term, Wave, product

ONE = sympy.Integer(1)
UNIT = Term(ONE)


class NoClosedForm(Exception):
    """A summand that has no elementary form."""


def expectation(left: Decomposition, right: Decomposition, law: Law) -> sympy.Expr | None:
    """E left(u) right(v)."""
    centred = law.mean_u == 0 and law.mean_v == 0
    if centred and left.parity * right.parity == -1:
        return sympy.Integer(0)
    if not _remainders_average_out(left, right, centred):
        return None
    found = Collected()
    try:
        for one in left.terms:
            for two in right.terms:
                # by symmetry zero, and the product of two signs, say, may have no form of its own
                if not (centred and one.parity * two.parity == -1):
                    _add(found, one, two, law)
    except NoClosedForm:
        return None
    return found.expression()


def second_moment(left: Decomposition, right: Decomposition, mean: sympy.Expr, variance: sympy.Expr) -> sympy.Expr | None:
    """E left(u) right(u): the product of two terms is a term, where signs allow."""
    law = Law(mean, mean, variance, variance, variance)
    if mean == 0 and left.parity * right.parity == -1:
        return sympy.Integer(0)
    if not _remainders_average_out(left, right, mean == 0):
        return None
    order = left.kinks if len(left.kinks) >= len(right.kinks) else right.kinks
    found, products = Collected(), defaultdict(lambda: sympy.Integer(0))
    try:
        for one in left.terms:
            for two in right.terms:
                if mean == 0 and one.parity * two.parity == -1:
                    continue
                terms = product(one, two, order)
                if terms is None:
                    _add(found, one, two, law)
                for term in terms or ():
                    products[replace(term, coefficient=ONE)] += term.coefficient
        alone = Law(sympy.Integer(0), mean, sympy.Integer(0), sympy.Integer(0), variance)
        for term, coefficient in products.items():
            _add(found, UNIT, term.times(coefficient), alone)
    except NoClosedForm:
        return None
    return found.expression()


def mean(phi: Decomposition, mean: sympy.Expr, variance: sympy.Expr) -> sympy.Expr | None:
    """E phi(u)."""
    return second_moment(phi, Decomposition((UNIT,)), mean, variance)


def _remainders_average_out(left: Decomposition, right: Decomposition, centred: bool) -> bool:
    """Whether what is unknown of one function but its parity meets only functions of the other parity."""
    for this, other in ((left, right), (right, left)):
        if this.remainder and not (centred and this.remainder * other.parity == -1):
            parities = {term.parity for term in other.terms} | ({other.remainder} if other.remainder else set())
            if not centred or parities - {-this.remainder}:
                return False
    return True


def _add(found: Collected, one: Term | Wave, two: Term | Wave, law: Law) -> None:
    if isinstance(two, Wave) and not isinstance(one, Wave):
        one, two, law = two, one, law.swapped()
    scale = one.coefficient * two.coefficient
    if isinstance(one, Wave):
        (_two_waves if isinstance(two, Wave) else _wave_and_term)(found, one, two, law, scale)
        return
    weight, exponent, law = tilt(law, one, two)
    if one.sign is not None and two.sign is not None:
        _two_signs(found, one, two, weight, exponent, law, scale)
        return
    if one.sign is not None:
        one, two, law = two, one, law.swapped()
    if two.sign is None:
        found.add(weight, exponent, ONE, scale * moment(law, one.power, two.power))
        return
    along, ridge = one_sign(law, one.power, two.power, two.sign)
    width, gap = law.var_v + two.sign.noise, law.mean_v - two.sign.at
    found.add(weight, exponent, sympy.erf(tidy(gap) / root(2 * width)), scale * along)
    found.add_ridge(weight, exponent - gap**2 / (2 * width), width, scale * ridge)


def _two_signs(found: Collected, one: Term, two: Term, weight, exponent, law: Law, scale) -> None:
    """The arcsine laws; with means or thresholds there is only the bivariate normal distribution function."""
    if any(value != 0 for value in (law.mean_u, law.mean_v, one.sign.at, two.sign.at)):
        raise NoClosedForm
    angle, ridge = two_signs(law, one.power, two.power, one.sign, two.sign)
    wide_u, wide_v = sympy.together(law.var_u + one.sign.noise), sympy.together(law.var_v + two.sign.noise)
    determinant, sine = sympy.factor_terms(wide_u * wide_v - law.cov**2), law.cov / root(wide_u * wide_v)
    if wide_u == wide_v:
        sine = law.cov / wide_u
    if law.cov == law.var_u == law.var_v:  # one variable
        determinant = sympy.expand(determinant)
        sine = sine if wide_u == wide_v else root(sympy.cancel(law.cov**2 / (wide_u * wide_v)))
    kinked = one.sign.noise == 0 and two.sign.noise == 0
    quotient = sympy.cancel(ridge / determinant)
    if sympy.denom(quotient).has(law.cov) and not kinked:
        radical, ridge = 1 / root(determinant), _in_powers(ridge, law.cov)
    else:
        radical, ridge = root(determinant), quotient
    found.add_circle(weight, exponent, sine, scale * angle, kinked, radical, scale * ridge)


def _in_powers(ridge: sympy.Expr, cov: sympy.Expr) -> sympy.Expr:
    """A polynomial in the covariance with its coefficients in lowest terms, which are symmetric in u and v where it is."""
    if not isinstance(cov, sympy.Symbol) or not ridge.is_polynomial(cov):
        return ridge
    terms = sympy.Poly(ridge, cov).terms()
    return sympy.Add(*[tidy(sympy.cancel(coefficient)) * cov**power for (power,), coefficient in terms])


def _two_waves(found: Collected, one: Wave, two: Wave, law: Law, scale) -> None:
    """e^{-(a+b)/2} times: E cos cos = C C' cosh c + S S' sinh c, E sin sin = C C' sinh c + S S' cosh c,
    E sin cos = S C' cosh c - C S' sinh c, with C = cos mean_u, S' = sin mean_v, ..."""
    if law.cov == law.var_u == law.var_v:
        _squared_waves(found, one, two, law, scale)
        return
    exponent = -(law.var_u + law.var_v) / 2
    sine_u, cosine_u, sine_v, cosine_v = (w(m) for m in (law.mean_u, law.mean_v) for w in (sympy.sin, sympy.cos))
    even, odd = sympy.cosh(law.cov), sympy.sinh(law.cov)
    if one.function is two.function:
        if one.function is sympy.sin:
            even, odd = odd, even
        found.add(ONE, exponent, even, scale * cosine_u * cosine_v)
        found.add(ONE, exponent, odd, scale * sine_u * sine_v)
        return
    if one.function is sympy.cos:
        sine_u, cosine_u, sine_v, cosine_v = sine_v, cosine_v, sine_u, cosine_u
    found.add(ONE, exponent, even, scale * sine_u * cosine_v)
    found.add(ONE, exponent, odd, -scale * cosine_u * sine_v)


def _squared_waves(found: Collected, one: Wave, two: Wave, law: Law, scale) -> None:
    """sin^2 x = (1 - cos 2x)/2, cos^2 x = (1 + cos 2x)/2, sin x cos x = sin(2x)/2."""
    half, decay = scale / 2, -2 * law.var_u
    if one.function is not two.function:
        found.add(ONE, decay, sympy.sin(2 * law.mean_u), half)
        return
    found.add(ONE, sympy.Integer(0), ONE, half)
    found.add(ONE, decay, sympy.cos(2 * law.mean_u), half if one.function is sympy.cos else -half)


def _wave_and_term(found: Collected, one: Wave, two: Term, law: Law, scale) -> None:
    """Real exponentials tilt the law; a sign then meets e^{iu}, which moves the mean of v by i cov."""
    weight, exponent, law = tilt(law, UNIT, two)
    exponent -= law.var_u / 2
    if two.sign is None:
        found.add(weight, exponent, ONE, scale * wave_moment(law, two.power, one.function))
        return
    if any(value != 0 for value in (law.mean_u, law.mean_v, two.sign.at)):
        raise NoClosedForm  # the error function of a complex number
    turned = Law(law.mean_u, sympy.I * law.cov, law.var_u, law.cov, law.var_v)
    along, ridge = one_sign(turned, 0, two.power, two.sign)
    if one.function is sympy.sin:
        scale = -sympy.I * scale
    width = law.var_v + two.sign.noise
    # erf(ix) = i erfi(x)
    found.add(weight, exponent, sympy.erfi(law.cov / root(2 * width)), sympy.expand(sympy.I * scale * along))
    found.add_ridge(weight, exponent + law.cov**2 / (2 * width), width, sympy.expand(scale * ridge))
