"""Affine combinations of Gaussian leaves as leaves of their own.

With a mask or a phase held, ``cos(z + b)`` is a function of the one Gaussian variable z + b, of mean E z + b, and ``relu(m*z)`` of m*z:
closed forms and one- and two-dimensional quadrature apply to these, not to functions with parameters.
"""

from __future__ import annotations

from collections.abc import Callable

from netsor.ir.expressions import ONE, ZERO, Add, Expr, Leaf, Mul, add, mul
from netsor.ir.rewrite import children, rebuild, walk
from netsor.limit.cells import has_leaf

Combination = tuple[dict[int, Expr], Expr]  # coefficients by slot, and the constant


def in_affine_parts(
    factors: list[Expr], mean: Callable[[int], Expr], covariance: Callable[[int, int], Expr]
) -> tuple[list[Expr], list[Expr], list[list[Expr]]] | None:
    """Factors in new leaves 0, 1, … that are the largest affine parts of the old ones, with their means and covariances.

    None where that is no gain: nothing to combine, leaves with subscripts, or more parts than there are leaves."""
    parts = list(dict.fromkeys(part for factor in factors for part in _largest(factor)))
    leaves = {part for factor in factors for part in walk(factor) if isinstance(part, Leaf)}
    if any(leaf.subscripts for leaf in leaves) or all(isinstance(part, Leaf) for part in parts) or len(parts) > len(leaves):
        return None
    forms = [affine(part) for part in parts]
    means = [add(constant, *[mul(c, mean(slot)) for slot, c in form.items()]) for form, constant in forms]
    covariances = [
        [add(*[mul(a, b, covariance(m, k)) for m, a in left.items() for k, b in right.items()]) for right, _ in forms]
        for left, _ in forms
    ]
    names = {part: Leaf(position) for position, part in enumerate(parts)}
    return [_named(factor, names) for factor in factors], means, covariances


def affine(expr: Expr) -> Combination | None:
    """``expr`` as an affine combination of leaves without subscripts."""
    if not has_leaf(expr):
        return {}, expr
    match expr:
        case Leaf(subscripts=()):
            return {expr.slot: ONE}, ZERO
        case Add(terms=terms):
            found = [affine(term) for term in terms]
            if None in found:
                return None
            slots = sorted({slot for form, _ in found for slot in form})
            return {slot: add(*[form.get(slot, ZERO) for form, _ in found]) for slot in slots}, add(*[c for _, c in found])
        case Mul(factors=factors):
            random = [factor for factor in factors if has_leaf(factor)]
            inner = affine(random[0]) if len(random) == 1 else None
            if inner is None:
                return None
            scale = mul(*[factor for factor in factors if not has_leaf(factor)])
            return {slot: mul(scale, c) for slot, c in inner[0].items()}, mul(scale, inner[1])
    return None


def _largest(expr: Expr) -> list[Expr]:
    if not has_leaf(expr):
        return []
    if affine(expr) is not None:
        return [expr]
    return [part for child in children(expr) for part in _largest(child)]


def _named(expr: Expr, names: dict[Expr, Expr]) -> Expr:
    if expr in names:
        return names[expr]
    return rebuild(expr, lambda child: _named(child, names)) if has_leaf(expr) else expr
