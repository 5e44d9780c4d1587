"""Subscripts: their normal form, and the proof that they stay in range wherever they count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from netsor.ir.expressions import Add, Call, Expr, Index, Logic, Mul, Num, Range, add, mul
from netsor.ir.labelled import Labelled, align
from netsor.ir.rewrite import free_indices
from netsor.ir.text import text
from netsor.language.constants import evaluator
from netsor.language.source import Span
from netsor.language.state import Frame, fail

CHECK_LIMIT = 10_000_000  # combinations of index values that are tried one by one


def affine(expr: Expr) -> tuple[dict[Expr, object], object]:
    """Coefficients of the terms of a sum, and the number beside them."""
    match expr:
        case Num(value=value):
            return {}, value
        case Add(terms=terms):
            total: dict[Expr, object] = {}
            constant = 0
            for coefficients, number in map(affine, terms):
                constant += number
                for atom, coefficient in coefficients.items():
                    total[atom] = total.get(atom, 0) + coefficient
            return {atom: coefficient for atom, coefficient in total.items() if coefficient}, constant
        case Mul(factors=(Num(value=factor), inner)):
            coefficients, number = affine(inner)
            return {atom: factor * coefficient for atom, coefficient in coefficients.items()}, factor * number
    return {expr: 1}, 0


def normal(expr: Expr) -> Expr:
    """Equal sums of indices in equal form, whatever the order in which they were written."""
    if isinstance(expr, (Index, Num)):
        return expr
    coefficients, constant = affine(expr)
    atoms = sorted(coefficients, key=text)
    return add(*[mul(coefficients[atom], atom) for atom in atoms], constant)


def interval(expr: Expr) -> tuple[float, float] | None:
    """Bounds of a sum of multiples of indices, and of such sums modulo a number; None for anything else."""
    coefficients, constant = affine(expr)
    low = high = constant
    for atom, coefficient in coefficients.items():
        match atom:
            case Index(range=Range(lo=first, hi=last)):
                pass
            case Call(function="mod", arguments=(inner, Num(value=size))) if interval(inner) is not None:
                first, last = 0, size - 1
            case _:
                return None
        if coefficient != int(coefficient):
            return None
        ends = coefficient * first, coefficient * last
        low, high = low + min(ends), high + max(ends)
    return (low, high) if constant == int(constant) else None


def check_subscripts(
    name: str, subscripts: Sequence[Expr], ranges: Sequence[Range | None], spans: Sequence[Span], frame: Frame
) -> None:
    """Raise N304 or N305 unless every subscript is a whole number in its range wherever the guards hold."""
    for subscript, range_, span in zip(subscripts, ranges, spans):
        if range_ is None:
            continue
        if range_.infinite and not (isinstance(subscript, Index) and subscript.range.infinite):
            fail("N313", "an infinite range has no subscript but its own index", span)
        bounds = interval(subscript)
        if bounds is not None and range_.lo <= bounds[0] and bounds[1] <= range_.hi:
            continue
        if isinstance(subscript, Num):
            _refuse(name, range_, span, {}, subscript.value)
        if any(index.range.infinite for index in free_indices(subscript)):
            fail("N313", "an infinite range has no subscript but its own index", span)
        _try_values(name, subscript, range_, span, frame)


def _refuse(name: str, range_: Range, span: Span, where: dict[Index, int], found: float) -> None:
    values = ", ".join(f"{index.name} = {value}" for index, value in where.items())
    place = f" for {values}" if values else ""
    if not math.isfinite(found) or abs(found - round(found)) > 1e-9:
        fail("N305", f"this subscript is not a whole number: it is {found}{place}", span)
    found = round(found)
    size = f"{range_.lo}..{range_.hi}"
    message = f"`{name}` has no element at {found}" if not values else f"this subscript leaves the range of `{name}`"
    label = f"the range is {size}" if not values else f"{found}{place}; the range is {size}"
    fail("N304", message, span, label)


def _try_values(name: str, subscript: Expr, range_: Range, span: Span, frame: Frame) -> None:
    guards = relevant_guards(frame.guards, free_indices(subscript))
    indices = free_indices(subscript).union(*map(free_indices, guards))
    if math.prod(index.range.size for index in indices) > CHECK_LIMIT:
        if guards:
            return  # too many cases to try, and bounds alone cannot say what the guard excludes
        guards, indices = (), free_indices(subscript)
        if math.prod(index.range.size for index in indices) > CHECK_LIMIT:
            fail("N512", "this subscript has too many cases to check that it stays in range", span)
    compute = evaluator()
    arrays = [compute.evaluate(subscript)]
    if guards:
        arrays.append(compute.evaluate(guards[0] if len(guards) == 1 else Logic("and", guards)))
    views, labels = align([*arrays, *(Labelled(compute.values(index), (index,)) for index in labels_of(arrays))])
    values = views[0]
    with np.errstate(invalid="ignore"):
        bad = ~((np.abs(values - np.rint(values)) < 1e-9) & (values >= range_.lo - 0.5) & (values <= range_.hi + 0.5))
    if guards:
        bad = bad & views[1].astype(bool)
    if bad.any():
        position = np.unravel_index(np.argmax(bad), bad.shape)
        shape = bad.shape
        where = {label: int(compute.values(label)[position[k]]) for k, label in enumerate(labels)}
        found = np.broadcast_to(values, shape)[position]
        _refuse(name, range_, span, where, float(found))


def labels_of(arrays: Iterable[Labelled]) -> tuple[Index, ...]:
    return tuple(dict.fromkeys(label for array in arrays for label in array.labels))


def relevant_guards(guards: Sequence[Expr], indices: frozenset[Index]) -> tuple[Expr, ...]:
    """The guards that can say something about these indices: those connected to them by shared indices."""
    chosen: list[Expr] = []
    reached, changed = set(indices), True
    while changed:
        changed = False
        for guard in guards:
            if guard not in chosen and (free_indices(guard) & reached):
                chosen.append(guard)
                reached |= free_indices(guard)
                changed = True
    return tuple(chosen)
