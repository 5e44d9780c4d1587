"""Integrals over the unit interval of polynomials times waves or exponentials: expectations over a uniform variable.

By parts, with products of waves written as sums: 2 sin A sin B = cos(A - B) - cos(A + B), and so on.
"""

from __future__ import annotations

import sympy

from netsor.derive.objects import GaussianExpectation

MOST_TERMS = 64
HIGHEST_POWER = 8
Waves = dict[tuple[str, sympy.Expr], sympy.Expr]  # (cos or sin, argument) -> coefficient


def unit_integral(body: sympy.Expr, u: sympy.Symbol) -> sympy.Expr | None:
    """The integral over u from 0 to 1 of a sum of products of powers of u, sines and cosines of a u + b, or of an exponential of it;
    None for any other integrand.  Slopes a must be known not to be zero."""
    named = (sympy.Indexed, sympy.Sum, sympy.Integral, GaussianExpectation)
    names = {part: sympy.Dummy(real=True) for part in body.atoms(*named) if u not in part.free_symbols}
    back = {name: part for part, name in names.items()}
    expanded = sympy.expand(body.xreplace(names), trig=False, power_exp=False, log=False)
    terms = sympy.Add.make_args(expanded)
    if len(terms) > MOST_TERMS:
        return None
    total = sympy.S.Zero
    for term in terms:
        value = _term(term, u)
        if value is None:
            return None
        total += value
    if total.has(sympy.sinh, sympy.cosh):
        total = min(total, sympy.expand(total.rewrite(sympy.exp)), key=sympy.count_ops)
    return total.xreplace(back)


def _term(term: sympy.Expr, u: sympy.Symbol) -> sympy.Expr | None:
    coefficient, power, exponent = sympy.S.One, 0, sympy.S.Zero
    waves: Waves = {("cos", sympy.S.Zero): sympy.S.One}
    for factor in sympy.Mul.make_args(term):
        base, count = (factor, sympy.S.One) if isinstance(factor, sympy.exp) else factor.as_base_exp()
        if u not in factor.free_symbols:
            coefficient *= factor
        elif base == u and count.is_Integer and 0 < count <= HIGHEST_POWER:
            power += int(count)
        elif isinstance(factor, sympy.exp):
            exponent += factor.args[0]
        elif isinstance(base, (sympy.sin, sympy.cos)) and count.is_Integer and 0 < count <= HIGHEST_POWER:
            for _ in range(int(count)):
                waves = _times(waves, type(base).__name__, base.args[0])
        else:
            return None
    single = set(waves) == {("cos", sympy.S.Zero)}
    if exponent != 0:
        value = _exponential(power, exponent, u) if single else None
        return None if value is None else coefficient * value
    total = sympy.S.Zero
    for (kind, argument), weight in waves.items():
        value = _wave(power, kind, argument, u)
        if value is None:
            return None
        total += weight * value
    return coefficient * total


def _times(waves: Waves, kind: str, argument: sympy.Expr) -> Waves:
    """A sum of waves times one more."""
    found: Waves = {}
    for (own, other), weight in waves.items():
        total, difference = sympy.expand(other + argument), sympy.expand(other - argument)
        result = "cos" if own == kind else "sin"
        signs = {("cos", "cos"): (1, 1), ("sin", "sin"): (-1, 1), ("sin", "cos"): (1, 1), ("cos", "sin"): (1, -1)}[own, kind]
        for place, sign in zip((total, difference), signs):
            found[result, place] = found.get((result, place), sympy.S.Zero) + sign * weight / 2
    return found


def _linear(argument: sympy.Expr, u: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr] | None:
    """Slope and constant of a u + b, where it is known whether a is 0."""
    argument = sympy.expand(argument)
    slope = argument.coeff(u)
    rest = sympy.expand(argument - slope * u)
    known = slope == 0 or slope.is_nonzero
    return (slope, rest) if known and u not in rest.free_symbols | slope.free_symbols else None


def _wave(power: int, kind: str, argument: sympy.Expr, u: sympy.Symbol) -> sympy.Expr | None:
    """The integral of u^power cos(a u + b) or u^power sin(a u + b)."""
    found = _linear(argument, u)
    if found is None:
        return None
    a, b = found
    sine, cosine = sympy.sin, sympy.cos
    if a == 0:
        return (cosine if kind == "cos" else sine)(b) / (power + 1)
    at_one, at_zero = ((sine(a + b), sine(b)) if kind == "cos" else (-cosine(a + b), -cosine(b)))
    boundary = (at_one - (at_zero if power == 0 else 0)) / a
    if power == 0:
        return boundary
    other = _wave(power - 1, "sin" if kind == "cos" else "cos", argument, u)
    return boundary + (-1 if kind == "cos" else 1) * power / a * other


def _exponential(power: int, exponent: sympy.Expr, u: sympy.Symbol) -> sympy.Expr | None:
    """The integral of u^power e^{a u + b}."""
    found = _linear(exponent, u)
    if found is None:
        return None
    a, b = found
    if a == 0:
        return sympy.exp(b) / (power + 1)
    if power == 0:
        return (sympy.exp(a + b) - sympy.exp(b)) / a
    return sympy.exp(a + b) / a - power / a * _exponential(power - 1, exponent, u)
