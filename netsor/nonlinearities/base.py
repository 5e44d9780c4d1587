"""What a nonlinearity declares, and what follows from the declaration."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

GROWTHS = ("bounded", "linear", "polynomial", "exponential", "too fast")

_REQUIRED = {
    "name": "the name programs call it by",
    "citation": "where its definition or closed forms come from",
    "growth": f"one of {', '.join(map(repr, GROWTHS))}",
    "strip": "the half-width of the strip around the real line where each analytic piece continues",
    "function": "a method (self, x, *parameters) on arrays",
    "derivative": "a method (self, x, *parameters), almost everywhere",
    "kinks": "a method (self, *parameters) returning the points where it is not analytic, () if none",
}

# Methods that take the parameters, and how many arrays come before those.
_TAKE_PARAMETERS = {"derivative": 1, "kinks": 0, "parity": 0, "polynomial": 0, "form": 0, "mean": 1, "pairs": 0}


class Nonlinearity:
    """A coordinatewise function, declared by a subclass and used through one frozen instance.

    A subclass states ``name``, ``citation``, ``growth``, ``strip`` and the methods ``function``,
    ``derivative`` and ``kinks``; everything else has a safe default::

        class Softsign(Nonlinearity):
            name, growth, strip = "softsign", "bounded", math.inf
            citation = "Turian, Bergstra & Bengio 2009"

            def function(self, x): return x / (1 + abs(x))
            def derivative(self, x): return 1 / (1 + abs(x))**2
            def kinks(self): return (0.0,)
            def parity(self): return -1
            def pairs(self): return {"softsign": lambda var_u, cov, var_v: ...}   # if one is known

        register(Softsign())

    Further arguments of the function (``def function(self, x, slope=0.01)``) are its parameters.  The
    other methods take the same ones and need not repeat the defaults: callers may leave them out.  All closed forms are centred expectations and must broadcast.
    """

    name: str
    citation: str
    growth: str
    strip: float
    domain: tuple[float, float] = (-np.inf, np.inf)
    """Where the function is a number; outside it is NaN."""

    def __init__(self) -> None:
        missing = [f"{part} ({meaning})" for part, meaning in _REQUIRED.items() if not hasattr(self, part)]
        label = getattr(self, "name", type(self).__name__)
        if missing:
            raise TypeError(f"the nonlinearity {label!r} is incomplete: it does not declare {', '.join(missing)}")
        if self.growth not in GROWTHS:
            raise TypeError(f"the nonlinearity {label!r} declares growth {self.growth!r}, not one of {GROWTHS}")
        if not self.strip > 0:
            raise TypeError(f"the nonlinearity {label!r} declares strip {self.strip!r}, which is not positive")
        extra = list(inspect.signature(self.function).parameters.values())[1:]
        declared = tuple(
            (argument.name, None if argument.default is argument.empty else float(argument.default))
            for argument in extra
            if argument.kind is not argument.VAR_POSITIONAL
        )
        object.__setattr__(self, "parameters", declared)
        for part, leading in _TAKE_PARAMETERS.items():
            object.__setattr__(self, part, self._with_defaults(getattr(self, part), leading))

    parameters: tuple[tuple[str, float | None], ...]
    """Names and defaults of the extra arguments; None marks one that must be given."""

    def _with_defaults(self, method: Callable, leading: int) -> Callable:
        """``method`` with the parameters that follow its ``leading`` arrays completed by the defaults."""

        @functools.wraps(method)
        def completed(*arguments):
            arrays = [np.asarray(array, dtype=float) for array in arguments[:leading]]
            with np.errstate(all="ignore"):
                return method(*arrays, *self.arguments(*arguments[leading:]))

        return completed

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the nonlinearity {self.name!r} is a declaration and cannot be changed")

    def __repr__(self) -> str:
        return f"<nonlinearity {self.name}>"

    def arguments(self, *params: float) -> tuple[float, ...]:
        """``params`` completed by the defaults; TypeError when there are too few or too many."""
        names = [name for name, _ in self.parameters]
        given = len(params)
        if given > len(names):
            raise TypeError(f"{self.name} takes {len(names)} parameters ({', '.join(names)}), {given} were given")
        absent = [name for name, default in self.parameters[given:] if default is None]
        if absent:
            raise TypeError(f"{self.name} needs a value for {', '.join(absent)}")
        return (*params, *(default for _, default in self.parameters[given:]))

    def __call__(self, x: Any, *params: Any) -> np.ndarray:
        """The function of an array, in float64.  Overflow gives inf, outside the domain NaN; never a warning.

        :raises PluginError: if a plug-in's function fails, or does not return one real number for each."""
        x, params = np.asarray(x, dtype=float), self.arguments(*params)
        with np.errstate(all="ignore"):
            if type(self).__module__.startswith("netsor."):
                return np.asarray(self.function(x, *params))
            return self._checked(x, params)

    def _checked(self, x: np.ndarray, params: tuple) -> np.ndarray:
        from netsor.nonlinearities.plugin_error import PluginError

        shape = np.broadcast_shapes(x.shape, *map(np.shape, params))
        try:
            values = np.asarray(self.function(x.copy(), *params))
            if np.iscomplexobj(values):
                raise TypeError("its values are complex")
            values = values.astype(float)
        except Exception as error:
            raise PluginError(f"the nonlinearity {self.name!r} fails: {type(error).__name__}: {error}") from error
        if values.shape != shape:
            raise PluginError(f"the nonlinearity {self.name!r} returns shape {values.shape} for an argument of shape {shape}")
        return values

    # ---- what a declaration may add ------------------------------------------------------------

    def check(self, *params: Any) -> None:
        """ValueError, with the reason, for values of the parameters that have no function: what a program is told (N502)."""

    def slope(self, z: Any, of: Callable[..., Any], *params: Any) -> Any:
        """The derivative as a formula in ``z`` and in functions of the catalogue, ``of(name, argument, *parameters)``: numbers, arrays
        and expressions alike.  It holds almost everywhere, for a continuous function.  None where none is known, and for functions
        with jumps: then expectations of the derivative are found by Stein's lemma."""
        return None

    def parity(self, *params: float) -> int:
        """+1 for an even function, -1 for an odd one, 0 for neither."""
        return 0

    def polynomial(self, *params: float) -> tuple[float, ...] | None:
        """Coefficients, lowest degree first, if the function is a polynomial."""
        return None

    def form(self, *params: float) -> Any:
        """Its representation in a family with closed forms (``netsor.nonlinearities.forms``), or None."""
        return None

    def mean(self, variance: Any, *params: float) -> np.ndarray | None:
        """E phi(Z) for Z ~ N(0, variance), or None if no closed form is known."""
        form = self.form(*params)
        return None if form is None else form.mean(0.0, variance)

    def pairs(self, *params: float) -> Mapping[str, Callable[..., np.ndarray]]:
        """Closed forms of E phi(u) psi(v), by the name of psi: functions (var_u, cov, var_v, *psi's parameters)."""
        return {}


def pair_closed_form(
    first: Nonlinearity, first_params: tuple[float, ...], second: Nonlinearity, second_params: tuple[float, ...]
) -> Callable[..., np.ndarray] | None:
    """The centred closed form of E first(u) second(v) as a function (var_u, cov, var_v), or None."""
    one, other = first.form(*first_params), second.form(*second_params)
    if one is not None and other is not None:
        from netsor.nonlinearities.forms import pair_of_forms

        formula = pair_of_forms(one, other)
        if formula is not None:
            return lambda var_u, cov, var_v: formula(0.0, 0.0, var_u, cov, var_v)
    declared = first.pairs(*first_params).get(second.name)
    if declared is not None:
        return lambda var_u, cov, var_v: declared(var_u, cov, var_v, *second_params)
    declared = second.pairs(*second_params).get(first.name)
    if declared is not None:
        return lambda var_u, cov, var_v: declared(var_v, cov, var_u, *first_params)
    return None
