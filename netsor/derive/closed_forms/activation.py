"""What closed forms are asked about: a function of the catalogue, by name, with its parameters as expressions."""

from __future__ import annotations

from dataclasses import dataclass

import sympy


@dataclass(frozen=True)
class Activation:
    """``name`` and parameters as in the catalogue (``netsor list``), parameters that are left out being its defaults.

    Beyond the catalogue: ``constant`` (c), ``monomial`` (k) and ``polynomial`` (c0, c1, ...), lowest degree first.
    """

    name: str
    parameters: tuple[sympy.Expr, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(sympy.sympify(value) for value in self.parameters))


@dataclass(frozen=True)
class Product:
    """A product of functions of one variable, where a function is asked for."""

    factors: tuple[Activation, ...]
    name = "product"
