"""The numeric reading of the scalar language: expressions to arrays with named axes.

:class:`Evaluator` knows everything that needs neither random scalars nor expectations; the limit's evaluator extends it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from netsor.ir.elementary import COMPARISONS
from netsor.ir.expressions import (
    Add, Array, Call, Compare, Expr, Index, Indicator, Leaf, Logic, Mul, Num, Pow, Range, Reduce, Softmax, Sym, Where, Width, add,
    mul, total,
)
from netsor.ir.labelled import LEADING, Labelled, align, arrange, check_size, constant, contract
from netsor.ir.rewrite import free_indices, substitute, walk

LARGE_SUM = 2**22  # elements beyond which sums over shifted arrays are done shift by shift
MOST_SHIFTS = 2**10
SHORT = 8  # axes that are reduced slice by slice
_NEUTRAL = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_REDUCERS = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}


class Evaluator:
    """Evaluates expressions over all values of their free indices.

    ``functions(name)`` returns the vectorised function of a ``Call``; ``symbols`` gives numbers to free symbols.
    Arithmetic follows IEEE rules without warnings: what a guard excludes may be NaN; who reports numbers must look."""

    def __init__(self, functions: Callable[[str], Callable], symbols: dict[str, float] | None = None):
        self.functions = functions
        self.symbols = symbols or {}
        self._indicators: dict[Expr, Labelled] = {}

    # --- public ------------------------------------------------------------------------------------------------------

    def evaluate(self, expr: Expr) -> Labelled:
        """The value as an array over the free indices that it depends on."""
        with np.errstate(all="ignore"):
            return self._evaluate(expr)

    def array(self, expr: Expr, indices: tuple[Index, ...]) -> np.ndarray:
        """The value as a plain array over exactly these indices."""
        return arrange(self.evaluate(expr), indices, {index: self.size(index) for index in indices})

    def number(self, expr: Expr) -> float:
        """The value of an expression without free indices."""
        return float(self.evaluate(expr).data)

    # --- indices -----------------------------------------------------------------------------------------------------

    def size(self, index: Index) -> int:
        return index.range.size

    def values(self, index: Index) -> np.ndarray:
        """The values of an index, in order."""
        check_size([self.size(index)])
        return np.arange(index.range.lo, index.range.lo + self.size(index))

    def take(self, data: np.ndarray, ranges: tuple[Range, ...], subscripts: tuple, leading: tuple = ()) -> Labelled:
        """``data`` (axes: the leading labels, then one per range) at the given subscripts.  Subscripts out of range are clipped: only
        what a guard excludes may be out of range, which elaboration has checked."""
        prefix = (slice(None),) * len(leading)
        plain = [s for s in subscripts if isinstance(s, Index)]
        if len(set(plain)) == len(plain) and all(isinstance(s, (Index, Num)) for s in subscripts):
            window = []
            for subscript, range_ in zip(subscripts, ranges):
                if isinstance(subscript, Num):
                    window.append(_clip(int(subscript.value) - range_.lo, data.shape[len(leading) + len(window)]))
                    continue
                start = subscript.range.lo - range_.lo
                stop = start + self.size(subscript)
                if start < 0 or stop > data.shape[len(leading) + len(window)]:
                    break
                window.append(slice(start, stop))
            else:
                return Labelled(data[prefix + tuple(window)], tuple(leading) + tuple(plain))
        places = [self._evaluate(subscript) for subscript in subscripts]
        if all(len(place.labels) <= 1 for place in places):
            own = [label for place in places for label in place.labels]
            if len(set(own)) == len(own) and not any(label in LEADING for label in own):
                return Labelled(_outer(data, places, ranges, len(leading)), tuple(leading) + tuple(own))
        positions, labels = align(places)
        shape = data.shape[len(leading):]
        index = tuple(
            np.clip(np.rint(position).astype(np.intp) - range_.lo, 0, size - 1)
            for position, range_, size in zip(positions, ranges, shape)
        )
        random = [label for label in labels if label in LEADING]
        if not random:
            return Labelled(data[prefix + index], tuple(leading) + labels)
        raise NotImplementedError("a subscript that is itself random")

    # --- nodes -------------------------------------------------------------------------------------------------------

    def _evaluate(self, expr: Expr) -> Labelled:
        method = getattr(self, "_" + type(expr).__name__.lower(), None)
        if method is None:
            raise TypeError(f"{type(expr).__name__} has no value here")
        return method(expr)

    def _num(self, expr: Num) -> Labelled:
        try:
            return constant(float(expr.value))
        except OverflowError:  # an exact number may be larger than any float
            return constant(math.inf if expr.value > 0 else -math.inf)

    def _sym(self, expr: Sym) -> Labelled:
        if expr.trial is not None and expr.name not in self.symbols:
            return constant(float(expr.trial))
        return constant(float(self.symbols[expr.name]))

    def _width(self, expr: Width) -> Labelled:
        return constant(float(expr.ratio))

    def _index(self, expr: Index) -> Labelled:
        return Labelled(self.values(expr).astype(float), (expr,))

    def _array(self, expr: Array) -> Labelled:
        return self.take(expr.declaration.values, expr.declaration.ranges, expr.subscripts)

    def _add(self, expr: Add) -> Labelled:
        terms, labels = align([self._evaluate(term) for term in expr.terms])
        result = terms[0] + terms[1]
        for term in terms[2:]:
            result = result + term
        return Labelled(result, labels)

    def _mul(self, expr: Mul) -> Labelled:
        result = contract([self._evaluate(factor) for factor in expr.factors], free_indices(expr))
        tests = [factor for factor in expr.factors if isinstance(factor, Indicator)]
        if not tests or not np.isnan(result.data).any():
            return result
        views, labels = align([result, *[self._evaluate(test) for test in tests]])  # what is excluded may be 0 times infinity
        return Labelled(np.where(np.prod(np.broadcast_arrays(*views[1:]), axis=0) == 0, 0.0, views[0]), labels)

    def _pow(self, expr: Pow) -> Labelled:
        (base, exponent), labels = align([self._evaluate(expr.base), self._evaluate(expr.exponent)])
        if isinstance(expr.exponent, Num) and expr.exponent.value == 2:
            return Labelled(base * base, labels)
        if isinstance(expr.exponent, Num) and 2 * expr.exponent.value == 1:
            return Labelled(np.sqrt(base), labels)
        return Labelled(np.power(base, exponent), labels)

    def _call(self, expr: Call) -> Labelled:
        arguments, labels = align([self._evaluate(argument) for argument in expr.arguments])
        result = np.asarray(self.functions(expr.function)(*arguments), dtype=float)
        return Labelled(np.broadcast_to(result, np.broadcast_shapes(*(a.shape for a in arguments))), labels)

    def _compare(self, expr: Compare) -> Labelled:
        (left, right), labels = align([self._evaluate(expr.left), self._evaluate(expr.right)])
        return Labelled(COMPARISONS[expr.op](left, right), labels)

    def _logic(self, expr: Logic) -> Labelled:
        parts, labels = align([self._evaluate(argument) for argument in expr.arguments])
        if expr.op == "not":
            return Labelled(~parts[0], labels)
        combine = np.logical_and if expr.op == "and" else np.logical_or
        result = parts[0]
        for part in parts[1:]:
            result = combine(result, part)
        return Labelled(result, labels)

    def _where(self, expr: Where) -> Labelled:
        parts, labels = align([self._evaluate(part) for part in (expr.test, expr.then, expr.otherwise)])
        return Labelled(np.where(*parts), labels)

    def _indicator(self, expr: Indicator) -> Labelled:
        known = self._indicators.get(expr)
        if known is None:
            test = self._evaluate(expr.test)
            known = Labelled(test.data.astype(float), test.labels)
            if all(isinstance(part, (Index, Num, Compare, Logic, Add, Mul)) for part in walk(expr.test)):
                self._indicators[expr] = known  # indices only: the same for every sample
        return known

    def _reduce(self, expr: Reduce) -> Labelled:
        if expr.op == "sum":
            result = self._sum(expr)
            if not np.isnan(result.data).any():
                return result  # otherwise a NaN may come from a term that a guard excludes: mask instead of multiplying
        body = self._evaluate(expr.body)
        parts = [body] if expr.guard is None else [body, self._evaluate(expr.guard)]
        parts += [Labelled(self.values(index), (index,)) for index in expr.indices]  # absent axes count as often as they repeat
        views, labels = align(parts)
        shape = np.broadcast_shapes(*(view.shape for view in views))
        check_size(shape)
        full = np.broadcast_to(views[0], shape)
        if expr.guard is not None:
            full = np.where(views[1], full, _NEUTRAL[expr.op])
        axes = tuple(labels.index(index) for index in expr.indices)
        if expr.op in ("max", "min") and 0 in (shape[axis] for axis in axes):
            raise ValueError(f"{expr.op} over no terms")
        return Labelled(_REDUCERS[expr.op](full, axis=axes), tuple(l for l in labels if l not in expr.indices))

    def _sum(self, expr: Reduce) -> Labelled:
        if isinstance(expr.body, Add):  # a sum of sums: each term is contracted by itself
            return self._evaluate(add(*[total(term, expr.indices, expr.guard) for term in expr.body.terms]))
        factors = list(expr.body.factors) if isinstance(expr.body, Mul) else [expr.body]
        if expr.guard is not None:
            tests = expr.guard.arguments if isinstance(expr.guard, Logic) and expr.guard.op == "and" else (expr.guard,)
            factors += [Indicator(test) for test in tests]
        product = mul(*factors)
        shifts = self._large_shifts(product, expr.indices)
        if shifts:
            return self._shifted_sum(product, shifts, tuple(index for index in expr.indices if index not in shifts))
        repeats = math.prod(self.size(index) for index in expr.indices if index not in free_indices(product))
        values = [self._evaluate(f) for f in (product.factors if isinstance(product, Mul) else (product,))]
        result = contract(values, free_indices(product) - set(expr.indices))
        return result if repeats == 1 else Labelled(result.data * repeats, result.labels)

    def _large_shifts(self, product: Expr, indices: tuple[Index, ...]) -> tuple[Index, ...]:
        """Summed indices that shift others, as in K[t+o,u+o], if all shifts at once would make a large array."""
        compound = {
            index for part in walk(product) for term in getattr(part, "subscripts", ()) if not isinstance(term, (Index, Num))
            for index in free_indices(term)
        }
        found = tuple(index for index in indices if index in compound and not index.range.infinite)
        few = math.prod(self.size(index) for index in found) <= MOST_SHIFTS
        return found if few and math.prod(self.size(index) for index in free_indices(product)) > LARGE_SUM else ()

    def _shifted_sum(self, product: Expr, shifts: tuple[Index, ...], others: tuple[Index, ...]) -> Labelled:
        """Shift by shift: each is a few windows instead of a gather."""
        result: Labelled | None = None
        for position in itertools.product(*(self.values(index) for index in shifts)):
            shifted = substitute(product, {index: Num(int(value)) for index, value in zip(shifts, position)})
            value = self._evaluate(total(shifted, others))
            if result is not None:
                (one, two), labels = align([result, value])
                value = Labelled(one + two, labels)
            result = value
        return result

    def _softmax(self, expr: Softmax) -> Labelled:
        body = self._evaluate(expr.body)
        parts = [body, Labelled(self.values(expr.index), (expr.index,))]
        if expr.guard is not None:
            parts.append(self._evaluate(expr.guard))
        views, labels = align(parts)
        logits = np.broadcast_to(views[0], np.broadcast_shapes(*(view.shape for view in views)))
        if expr.guard is not None:
            logits = np.where(views[2], logits, -np.inf)
        axis = labels.index(expr.index)
        weights = logits - _reduced(np.maximum, logits, axis)
        np.exp(weights, out=weights)
        weights /= _reduced(np.add, weights, axis)
        if expr.at == expr.index:
            return Labelled(weights, labels)
        return self._pick(Labelled(weights, labels), expr.index, expr.at)

    def _pick(self, array: Labelled, index: Index, at: Expr) -> Labelled:
        """``array`` at the value ``at`` of ``index``."""
        if isinstance(at, Index) and at not in array.labels and at.range == index.range:
            return Labelled(array.data, tuple(at if label == index else label for label in array.labels))
        where, rest = self._evaluate(at), tuple(label for label in array.labels if label != index)
        moved = Labelled(np.moveaxis(array.data, array.axis(index), -1), rest + (index,))
        sizes = array.sizes | where.sizes
        labels = rest + tuple(label for label in where.labels if label not in rest)
        positions = np.clip(np.rint(arrange(where, labels, sizes)).astype(np.intp) - index.range.lo, 0, sizes[index] - 1)
        values = arrange(moved, labels + (index,), sizes)
        return Labelled(np.take_along_axis(values, positions[..., None], axis=-1)[..., 0], labels)


def function_of_leaf(expr: Expr, leaf: Labelled, evaluator: Evaluator) -> Labelled:
    """An expression in one leaf, elementwise, over (at least) the labels of the leaf's values, which are its subscripts and leading ones."""
    inner = _OfLeaf(evaluator.functions, evaluator.symbols)
    inner.leaf, inner.size = leaf, evaluator.size
    (values, known), labels = align([inner.evaluate(expr), leaf])
    return Labelled(np.broadcast_to(np.asarray(values, dtype=float), np.broadcast_shapes(values.shape, known.shape)), labels)


class _OfLeaf(Evaluator):
    leaf: Labelled

    def _leaf(self, expr: Leaf) -> Labelled:
        return self.leaf


def _outer(data: np.ndarray, places: list[Labelled], ranges: tuple[Range, ...], leading: int) -> np.ndarray:
    """``data`` at positions that each run along an axis of their own: axis by axis, from the last to the first."""
    for axis in reversed(range(len(places))):
        size = data.shape[leading + axis]
        position = np.clip(np.rint(places[axis].data).astype(np.intp) - ranges[axis].lo, 0, size - 1)
        data = np.take(data, position, axis=leading + axis)
    return data


def _reduced(operation: np.ufunc, values: np.ndarray, axis: int) -> np.ndarray:
    """``operation`` reduced over an axis, which is kept; a short one slice by slice, as NumPy spends its time between rows."""
    if not 0 < values.shape[axis] <= SHORT:
        return operation.reduce(values, axis=axis, keepdims=True)
    first, *others = np.split(values, values.shape[axis], axis=axis)
    result = np.array(first)
    for other in others:
        operation(result, other, out=result)
    return result


def _clip(position: int, size: int) -> int:
    return min(max(position, 0), size - 1)


