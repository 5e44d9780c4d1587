"""Numbers that are known while a program is read: exact where the text is, and kept from growing without bound."""

from __future__ import annotations

import math
from fractions import Fraction

from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Array, Coord, Expr, Let, Num, Range, ScalarRef, Sym, power
from netsor.ir.rewrite import free_indices, walk
from netsor.language import syntax
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.language.source import Span

EXACT_BITS = 4096  # larger exact numbers become floats
EXACT_TEXT = 60  # so do literals with more characters


def literal(number: syntax.Number) -> Num:
    """The number as written: 0.1 is 1/10."""
    if isinstance(number.value, int):
        return Num(number.value)
    if len(number.text) > EXACT_TEXT:
        return Num(number.value)
    return tidy(Fraction(number.text), number.span)


def tidy(value: int | Fraction | float, span: Span) -> Num:
    """A number in its simplest exact form; a float where it grew too long; N501 where it is too large for that."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            value = value.numerator
        elif max(value.numerator.bit_length(), value.denominator.bit_length()) > EXACT_BITS:
            return _as_float(value, span)
    if isinstance(value, int) and value.bit_length() > EXACT_BITS:
        return _as_float(value, span)
    if not math.isfinite(_as_float(value, span).value):
        raise NetsorError(Diagnostic("N501", "the result is too large for a number", span))
    return Num(value)


def _as_float(value: int | Fraction, span: Span) -> Num:
    try:
        return Num(float(value))
    except OverflowError:
        raise NetsorError(Diagnostic("N501", "the result is too large for a number", span)) from None


def raised(base: Expr, exponent: Expr, span: Span) -> Expr:
    """`base^exponent`, with powers of numbers folded where that is exact and short."""
    if isinstance(exponent, Num) and exponent.value < 0 and closed_value(base) == 0:
        raise NetsorError(Diagnostic("N513", "division by zero", span))
    if isinstance(base, Num) and isinstance(exponent, Num):
        b, e = base.value, exponent.value
        if b < 0 and e != int(e):
            raise NetsorError(Diagnostic("N502", "a negative number has no real power that is not whole", span))
        exact = not isinstance(b, float) and not isinstance(e, float)
        bits = max(Fraction(b).numerator.bit_length(), Fraction(b).denominator.bit_length()) if exact else 0
        if not exact or (bits > 1 and bits * abs(e) > EXACT_BITS):
            try:
                return tidy(float(b) ** float(e), span)
            except OverflowError:
                raise NetsorError(Diagnostic("N501", "the result is too large for a number", span)) from None
    result = power(base, exponent)
    return tidy(result.value, span) if isinstance(result, Num) else result


def functions(name: str):
    """The vectorised function behind a Call, for the Evaluator."""
    from netsor import nonlinearities
    from netsor.ir.elementary import ELEMENTARY

    return ELEMENTARY[name] if name in ELEMENTARY else nonlinearities.get(name)


class _Infinite(dict):
    """Numbers for symbols: all are infinite parameters."""

    def __missing__(self, name: str) -> float:
        return math.inf

    def __bool__(self) -> bool:
        return True  # though it lists none of them


def evaluator() -> Evaluator:
    """What computes constants."""
    return Evaluator(functions, _Infinite())


def is_closed(expr: Expr) -> bool:
    """Whether the expression is one number: no indices, infinite parameters or values of the program."""
    return not free_indices(expr) and not any(isinstance(part, (Sym, Coord, ScalarRef, Let)) for part in walk(expr))


class NeedsNumber(Exception):
    """In a derivation: what is being elaborated hinges on the numbers of these parameters."""

    def __init__(self, names: frozenset[str]):
        super().__init__(", ".join(sorted(names)))
        self.names = names


def free_parameters(expr: Expr) -> frozenset[str]:
    """The names of the parameters in an expression that have no number."""
    return frozenset(part.name for part in walk(expr) if isinstance(part, Sym) and not part.infinite)


def closed_value(expr: Expr) -> int | Fraction | float | None:
    """The number that an expression is, None if it depends on anything."""
    if isinstance(expr, Num):
        return expr.value
    if isinstance(expr, Sym) and expr.infinite:
        return math.inf
    if not is_closed(expr):
        return None
    value = evaluator().number(expr)
    if any(isinstance(part, Array) for part in walk(expr)) and value == int(value):
        return int(value)
    return value


def numbers_of(range_: Range) -> range:
    """The values of a finite range one by one.

    :raises NeedsNumber: if its bounds hinge on free parameters."""
    if range_.bounds is not None:
        raise NeedsNumber(frozenset().union(*map(free_parameters, range_.bounds)))
    return range(range_.lo, range_.hi + 1)


def is_empty(range_: Range) -> bool:
    """Whether a range has no values.

    :raises NeedsNumber: if it has none at the trial values of free parameters; with others it may have some."""
    if range_.infinite or range_.size > 0:
        return False
    return len(numbers_of(range_)) == 0


def whole(expr: Expr) -> int | None:
    """The whole number that an expression is, None if it is not one; NeedsNumber if it hinges on free parameters."""
    if names := free_parameters(expr):
        raise NeedsNumber(names)
    value = closed_value(expr)
    if value is None or not math.isfinite(value) or value != int(value):
        return None
    return int(value)
