"""Every function with a closed form, by name: its decomposition and the source of its formulas."""

from __future__ import annotations

import functools
import inspect

import sympy

from netsor.derive.closed_forms import (
    by_symmetry, clips, error_function, exponential, hinges, polynomials, steps, waves,
)  # fmt: skip
from netsor.derive.closed_forms.activation import Activation, Product
from netsor.derive.closed_forms.terms import Decomposition, decomposition_product

FAMILIES = (polynomials, hinges, clips, steps, error_function, waves, exponential, by_symmetry)
FUNCTIONS = {name: build for family in FAMILIES for name, build in family.FUNCTIONS.items()}
LONGEST_DECIMAL = 6


def names() -> tuple[str, ...]:
    """Functions that have at least one closed form, sorted."""
    return tuple(sorted(FUNCTIONS))


def citation_of(name: str) -> str:
    """The source of the formulas of a function, "" where there are none."""
    found = next((family.CITATION for family in FAMILIES if name in family.FUNCTIONS), "")
    return found if isinstance(found, str) else found[name]


@functools.lru_cache(maxsize=1024)
def decompose(activation: Activation | Product) -> tuple[Decomposition | None, dict[sympy.Dummy, sympy.Expr]]:
    """The decomposition, exact, and the numbers that stand for its dummies.

    Numbers with a short decimal expansion become fractions, longer ones dummies: algebra on floating-point numbers is slow
    and loses digits.  TypeError for a wrong number of parameters.
    """
    if isinstance(activation, Product):
        return _product(activation)
    build = FUNCTIONS.get(activation.name)
    if build is None:
        return None, {}
    defaults = [p.default for p in inspect.signature(build).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    parameters = (*activation.parameters, *defaults[len(activation.parameters) :])
    if inspect.Parameter.empty in parameters:
        raise TypeError(f"{activation.name} needs {len(defaults)} parameters")
    if build(*parameters) is None:
        return None, {}
    numbers = {}
    exact = tuple(_exact(value, numbers) for value in parameters)
    return build(*exact), numbers


def _product(product: Product) -> tuple[Decomposition | None, dict[sympy.Dummy, sympy.Expr]]:
    """The decomposition of a product, factor by factor."""
    whole, numbers = decompose(product.factors[0])
    for factor in product.factors[1:]:
        if whole is None:
            break
        part, more = decompose(factor)
        whole, numbers = part and decomposition_product(whole, part), numbers | more
    return whole, numbers


def _exact(value: sympy.Expr, numbers: dict) -> sympy.Expr:
    if not isinstance(value, sympy.Float):
        return value
    if len(written := repr(float(value)).removesuffix(".0")) <= LONGEST_DECIMAL + 1 and "e" not in written:
        return sympy.Rational(written)
    dummy = sympy.Dummy()
    numbers[dummy] = value
    return dummy
