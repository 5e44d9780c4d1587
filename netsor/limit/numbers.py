"""The numeric interpreter of the limit's equations.

Bindings are evaluated earliest first and kept by level: what contains no score is computed once, what depends on a randomisation
once for each replicate, the rest for every chunk of samples.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from netsor.expectation import ExpectationUndefined
from netsor.expectation.threads import halt_point
from netsor.ir.evaluate import Evaluator
from netsor.ir.expressions import Average, Expect, Expr, Index, Integral, Let, ScalarRef
from netsor.ir.labelled import LEADING, Labelled
from netsor.ir.program import Family
from netsor.limit.dimensions import on_a_grid
from netsor.limit.equations import Binding
from netsor.limit.functions import function
from netsor.limit.integrals import POINTS, FirstReplicate, integrate
from netsor.limit.levels import Level, Levels
from netsor.limit.recursion import Recursion
from netsor.limit.rounding import CANCELLATION, Allowance
from netsor.limit.unit_interval import integrate_unit_interval

LARGE = 2**22  # bytes of an array that is not kept for its own sake
INFINITE_SIZE = 1024  # elements that stand for an infinite axis, in each replicate


@dataclass
class Ledger:
    """Relative errors of deterministic quadrature and the methods used, by binding; absolute ones of bindings that are zero but for
    rounding."""

    relative: dict[Binding, float] = field(default_factory=dict)
    nothing: dict[Binding, float] = field(default_factory=dict)
    methods: dict[Binding, frozenset[str]] = field(default_factory=dict)


ROUNDING = 1e-12
"""Errors below this, of what is zero up to them, are rounding."""


class _Known:
    """The bindings that have a value at some level."""

    def __init__(self, values: dict[Level, dict[Binding, Labelled]]):
        self.stores = tuple(values.values())

    def __contains__(self, binding: object) -> bool:
        return any(binding in store for store in self.stores)


class Undefined(Exception):
    """An expectation is not a finite number.  ``families`` says of what."""

    def __init__(self, message: str, families: tuple[Family, ...]):
        super().__init__(message)
        self.families = families


class Numbers(Evaluator):
    """Evaluates equations in one context: a replicate, and values of the sampled scores (set by the sampler).

    ``static``, ``ledger`` and ``first`` may be shared between contexts of one program."""

    def __init__(
        self, recursion: Recursion, levels: Levels, *, seed: int = 0, replicate: int = 0, static: dict | None = None,
        ledger: Ledger | None = None, infinite_size: int = INFINITE_SIZE, points: int = POINTS,
        first: FirstReplicate | None = None,
    ):
        super().__init__(function)
        self.recursion, self.levels = recursion, levels
        self.replicate = replicate
        self.seed = int(np.random.SeedSequence([seed, replicate]).generate_state(1)[0])
        self.infinite_size, self.points = infinite_size, points
        self.first = first if first is not None else FirstReplicate()
        self.ledger = ledger if ledger is not None else Ledger()
        self._values: dict[Level, dict[Binding, Labelled]] = {
            Level.STATIC: static if static is not None else {}, Level.REPLICATE: {}, Level.SAMPLE: {},
        }
        self.scores: dict[Family, Labelled] = {}
        self._given: dict[Binding, Labelled] = {}  # variables of integrals at quadrature nodes
        self._sizes: dict[Index, int] = {}
        self._current: Binding | None = None
        self.noise = 0.0  # what quasi-random points have left in this context, at most
        self._absolute: dict[Binding, float] = {}  # errors of parts that are zero as far as they are known

    def with_samples(self) -> "Numbers":
        """The same context with a fresh place for the values of one chunk of samples."""
        other = object.__new__(Numbers)
        other.__dict__.update(self.__dict__)
        other._values = {**self._values, Level.SAMPLE: {}}
        other.scores, other._absolute = dict(self.scores), {}
        return other

    def with_given(self, binding: Binding, value: Labelled) -> "Numbers":
        """The same context in which ``binding`` has a value, over labels whose sizes are those of the value."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._given = {**self._given, binding: value}
        other._sizes = self._sizes | {label: size for label, size in value.sizes.items() if label in binding.labels}
        other._indicators = {}
        return other

    def allowance(self, *expressions: Expr) -> Allowance:
        """What may be cut off a covariance in an expectation, or in expressions: rounding, or the noise of the points behind it."""
        if not self.noise or all(self.levels.of(expression) == Level.STATIC for expression in expressions):
            return CANCELLATION
        return Allowance(max(self.noise, CANCELLATION.share), lambda cut: self.note("noise cut off", cut))

    @property
    def is_given(self) -> bool:
        """Whether variables of integrals are held at nodes."""
        return bool(self._given)

    # --- evaluation --------------------------------------------------------------------------------------------------

    def prepare(self, *expressions: Expr) -> None:
        """Evaluate everything that the expressions rest on, earliest first.

        Large arrays that only lead to later ones are let go on the way, so that memory does not grow with depth."""
        roots = [binding for expression in expressions for binding in self.levels.mentioned(expression)]
        order = list(self.levels.earliest_first(roots, _Known(self._values)))
        passed = self._passed(order, frozenset(roots))
        for binding in order:
            self.value(binding)
            for earlier in passed.get(binding, ()):
                if self._values[Level.STATIC][earlier].data.nbytes > LARGE:
                    del self._values[Level.STATIC][earlier]

    def _passed(self, order: list[Binding], roots: frozenset[Binding]) -> dict[Binding, list[Binding]]:
        """Which of the static bindings nothing needs any more after a binding: only static ones in ``order`` mention them."""
        static = {binding for binding in order if self.levels.of_binding(binding) == Level.STATIC}
        last: dict[Binding, Binding] = {}
        for binding in order:
            for earlier in self.levels.mentioned(binding.expression):
                if binding in static and earlier in static:
                    last[earlier] = binding
                else:
                    static.discard(earlier)
        passed: dict[Binding, list[Binding]] = {}
        for earlier, binding in last.items():
            if earlier in static and earlier not in roots:
                passed.setdefault(binding, []).append(earlier)
        return passed

    def value(self, binding: Binding) -> Labelled:
        """The array of a binding over the sample axis (if it depends on samples) and its labels."""
        if binding in self._given:
            return self._given[binding]
        store = self._values[self.levels.of_binding(binding)]
        if binding not in store:
            halt_point()
            outer, self._current = self._current, binding
            try:
                store[binding] = self._full(self.evaluate(binding.expression), binding.labels)
                self._settle(binding, store[binding].data)
            finally:
                self._current = outer
        return store[binding]

    def _settle(self, binding: Binding, value: np.ndarray) -> None:
        """The errors of parts that are zero, relative to the whole.  Where all is zero but for rounding, that is what it adds to others;
        so it is for what is made of such parts alone."""
        absolute = self._absolute.pop(binding, None)
        scale = max(-float(np.min(value, initial=0.0)), float(np.max(value, initial=0.0)))
        if absolute is not None:
            own = self.ledger.relative.get(binding, 0.0)
            self.ledger.relative[binding] = max(own, absolute / scale if scale > 0 else absolute)
            if scale <= absolute <= ROUNDING:
                self.ledger.nothing[binding] = absolute
            return
        parts = [self.ledger.nothing.get(part, np.inf) for part in self.levels.mentioned(binding.expression)]
        if parts and scale <= max(parts) <= ROUNDING:
            self.ledger.nothing[binding] = max(parts)

    def _full(self, array: Labelled, labels: tuple[Index, ...]) -> Labelled:
        """Axes in the binding's order; labels that the value does not depend on get an axis of broadcast copies."""
        leading = tuple(label for label in LEADING if label in array.labels)
        order = leading + labels
        views = np.transpose(array.data, [array.axis(label) for label in order if label in array.labels])
        shape = [array.sizes.get(label, 1) for label in order]
        full = [array.sizes.get(label) or self.size(label) for label in order]
        return Labelled(np.broadcast_to(views.reshape(shape), full), order)

    def note(self, method: str, relative_error: float = 0.0) -> None:
        """Record how (and how well) the current binding was integrated."""
        if self._given:  # inside an integral every node has its own number of points
            method = method.split(" (")[0]
        if self._current is not None:
            known = self.ledger.methods.get(self._current, frozenset())
            self.ledger.methods[self._current] = known | {method}
            own = self.ledger.relative.get(self._current, 0.0)
            self.ledger.relative[self._current] = max(own, relative_error)

    def quadrature_error(self, *expressions: Expr) -> tuple[float, frozenset[str]]:
        """The relative error of expressions from deterministic quadrature, summed to first order along the longest chain of
        equations, and the methods used on the way.

        What is zero but for rounding has no digits, and among expressions with digits it counts by its absolute error."""
        total: dict[Binding, float] = {}
        nothing = self.ledger.nothing
        methods: frozenset[str] = frozenset()
        for binding in self.levels.behind(expressions):
            parts = self.levels.mentioned(binding.expression)
            below = [total[part] if binding in nothing else nothing.get(part, total[part]) for part in parts]
            total[binding] = max(below, default=0.0) + self.ledger.relative.get(binding, 0.0)
            methods |= self.ledger.methods.get(binding, frozenset())
        mentioned = {binding for expression in expressions for binding in self.levels.mentioned(expression)}
        if not mentioned <= nothing.keys():
            total |= nothing
        return max(total.values(), default=0.0), methods

    # --- nodes -------------------------------------------------------------------------------------------------------

    def size(self, index: Index) -> int:
        if index in self._sizes:
            return self._sizes[index]
        return self.infinite_size if index.range.infinite else index.range.size

    def _let(self, expr: Let) -> Labelled:
        return self._element(self.value(expr.binding), expr.binding.labels, expr.subscripts)

    def _scalarref(self, expr: ScalarRef) -> Labelled:
        family = expr.family
        if family.is_sampled:
            return self._element(self.scores[family], family.axes, expr.subscripts)
        return self._element(self.value(self.recursion.scalar(family)), family.axes, expr.subscripts)

    def _element(self, array: Labelled, labels: tuple[Index, ...], subscripts: tuple) -> Labelled:
        leading = tuple(label for label in array.labels if label in LEADING)
        if not subscripts:
            return array
        if any(label.range.infinite for label in labels):  # an infinite axis is addressed by its own indices only
            names = dict(zip(labels, subscripts))
            if all(isinstance(term, Index) for term in subscripts) and len(set(subscripts)) == len(subscripts):
                return Labelled(array.data, leading + tuple(names[label] for label in labels))
        return self.take(array.data, tuple(label.range for label in labels), subscripts, leading)

    def _average(self, expr: Average) -> Labelled:
        body = self._evaluate(expr.body)
        if expr.index not in body.labels:
            return body
        axis = body.axis(expr.index)
        return Labelled(body.data.mean(axis=axis), body.labels[:axis] + body.labels[axis + 1:])

    def _integral(self, expr: Integral) -> Labelled:
        try:
            value, error = integrate_unit_interval(expr, self)
        except ExpectationUndefined as error:
            raise Undefined(str(error), self._current.about if self._current is not None else ()) from error
        self.note("quadrature over uniform variables", error)
        return value

    def _expect(self, expr: Expect) -> Labelled:
        static = self._values[Level.STATIC]
        if expr in static:
            return static[expr]
        about = self._current.about if self._current is not None else ()
        try:
            value, estimate = integrate(expr, self)
        except ExpectationUndefined as error:
            raise Undefined(str(error), about) from error
        # two passes without a temporary: extremes are NaN or infinite as soon as one entry is
        low, high = (float(extreme(value.data, initial=0.0)) for extreme in (np.min, np.max))
        if not np.isfinite(high - low):
            raise Undefined("the expectation is not finite", about)
        if estimate is not None:
            scale, error = max(-low, high), estimate.worst
            known = scale > error or self._current is None
            self.note(estimate.method, error / scale if known and scale > 0 else 0.0)
            if not known:
                self._absolute[self._current] = max(self._absolute.get(self._current, 0.0), error)
        if on_a_grid(expr) and not self._given and self.levels.of(expr) == Level.STATIC:
            static[expr] = value  # worth keeping even where no equation is made of it
        return value


