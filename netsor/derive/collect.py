"""From the recursion's equations to the statements of a derivation: what is named, what is written out, and in which order."""

from __future__ import annotations

from collections import Counter

import sympy

from netsor.derive.convert import Converter
from netsor.derive.correlations import Correlations
from netsor.derive.reasons import reason
from netsor.derive.names import Letters, Names, constants_of, indexed, loop_numbers
from netsor.derive.objects import GaussianExpectation, indicator
from netsor.derive.phrases import Phrase
from netsor.derive.scalar_moments import ScalarMoments
from netsor.derive.statement import Covariance, Expected, Statement
from netsor.ir.expressions import Array, Expect, Expr, Let, ScalarRef, Sym, add
from netsor.ir.kernel import sides
from netsor.ir.program import Family, Program, RandomScalar
from netsor.ir.rewrite import free_indices, walk
from netsor.limit.analysis import Analysis
from netsor.limit.equations import Binding
from netsor.limit.levels import Level
from netsor.limit.recursion import generic
from netsor.rules import rule_of

SMALL = 3  # an equation with no more parts than this is written out wherever it is used
LONGEST_NUMBER = 6  # so is a number with no more operations
LONGEST_INSIDE = 60  # no equation with more parts is written out in another, those inside it included


class Collector:
    """Collects what the outputs of a program rest on.

    ``roots`` are the kernels and expressions that are to be stated; statements appear after those that they mention."""

    def __init__(self, program: Program, analysis: Analysis, steps: bool = False):
        self.steps = steps
        self.program, self.analysis, self.recursion = program, analysis, analysis.recursion
        self.names = Names(_named(program))
        self.kernels: dict[Binding, tuple] = {}  # the known kernel that a let-bound coefficient belongs to
        self.uses: Counter[Binding] = Counter()
        self.sizes = _sizes(program)
        self.inlined: frozenset[Binding] = frozenset()
        self.statements: list[Statement] = []
        self.correlations = Correlations(self.names, self.statements)
        self.inputs: list[Phrase] = []
        self.done: set = set()
        self.asked: set[Family] = set()  # scalars that are outputs

    # --- what is reached ---------------------------------------------------------------------------------------------

    def reach(self, roots: list[Expr]) -> None:
        """Count how often each equation is mentioned by what the roots rest on, and decide which are written out."""
        for key, kernel in self.recursion.known().items():
            for position, coefficient in enumerate(kernel.terms.values()):
                for part in walk(coefficient):
                    if isinstance(part, Let):
                        self.kernels.setdefault(part.binding, (key, position, len(kernel.terms)))
        seen: set = set()
        stack = list(roots)
        while stack:
            for part in walk(stack.pop()):
                found = self._equation(part)
                if isinstance(part, Let):
                    self.uses[part.binding] += 1
                if found is not None and found not in seen:
                    seen.add(found)
                    stack.append(found.expression)
        last = {root.binding for root in roots if isinstance(root, Let)}  # an output's own kernel
        self.inlined = self._minor() | frozenset(
            binding for binding in self.uses
            if binding in last and not self.steps and self.uses[binding] == 1 and not loop_numbers(binding.about))
        self.convert = Converter(self.names, self.inlined, self.sizes, self.correlations)
        self._name_kernels()
        self.convert.scalars = self.recursion.scalars()
        reached = set(self.uses) | seen
        for binding in self.recursion.equations.bindings:
            if binding in reached and binding not in self.inlined and not free_indices(binding.expression):
                if self._is_plain_number(self.convert(binding.expression, Letters())):
                    self.inlined = self.convert.inlined = self.inlined | {binding}
        self.forget()

    def forget(self) -> None:
        """Undo what looking at formulas has stated."""
        self.statements.clear()
        self.correlations.stated.clear()
        self.convert.take_citations()

    def inline(self, recursion) -> None:
        """Write out the equations of another recursion wherever they are used."""
        self.convert.inlined = self.inlined | frozenset(recursion.equations.bindings)

    def _equation(self, part: Expr) -> Binding | None:
        if isinstance(part, Let):
            return part.binding
        if isinstance(part, ScalarRef) and not part.family.is_sampled:
            return self.recursion.scalar(part.family)
        return None

    def _minor(self) -> frozenset[Binding]:
        """The equations that are written out where they are used: used once and about something that the program does not name, or a
        relation between two different families; or hardly longer than their name.  Not where formula in formula would grow long."""
        length: dict[Binding, int] = {}
        for binding in self.analysis.levels.earliest_first(self.uses):
            if binding not in self.uses:
                continue
            parts = list(walk(binding.expression))
            own = len(parts) + sum(length.get(part.binding, 0) for part in parts if isinstance(part, Let))
            once = self.uses[binding] == 1 and not _is_named(binding) and not _nests(binding) and not self.steps
            if len(parts) <= SMALL or (once and own <= LONGEST_INSIDE):
                length[binding] = own
        return frozenset(length)

    def _name_kernels(self) -> None:
        """Give the coefficients of kernels that have statements their names."""
        shown = {binding: place for binding, place in self.kernels.items() if binding in self.uses and binding not in self.inlined}
        pairs = [families for (_, *families), *_ in shown.values() if len(families) == 2]
        named = self.names.family
        self.names.crossed = {
            named(one) for one, other in pairs if named(one) == named(other) and constants_of(one) != constants_of(other)}
        for binding, (key, position, count) in shown.items():
            kind, *families = key
            kernel = self.recursion.known()[key]
            base = self.kernel_name(kind, families)
            if count > 1 or any(equalities for equalities, _ in kernel.terms):
                base = f"{base.replace('K_', 'k_', 1)}" + ("" if count == 1 else str(position))
            order = tuple(index for family, side in zip(families, "xy") for index in generic(family, side).subscripts)
            self.names.name_binding(
                binding, base, tuple(index for index in order if index in binding.labels),
                symmetric=len(families) == 2 and families[0] is families[1],
                numbers=self.names.loop_numbers(tuple(families)))

    @staticmethod
    def _is_plain_number(value: sympy.Expr) -> bool:
        """Whether a value is a number that is as short as a name."""
        return not value.free_symbols and not value.has(GaussianExpectation) and value.count_ops() <= LONGEST_NUMBER

    # --- statements --------------------------------------------------------------------------------------------------

    def state(self, law) -> None:
        """State a law (of :mod:`netsor.derive.build`) after everything that it mentions."""
        self.require(law.expression)
        law.state(self)

    def require(self, expr: Expr) -> None:
        """State everything that an expression mentions, earliest first."""
        stack: list[tuple[object, bool]] = [(found, False) for found in self._mentions(expr)]
        while stack:
            item, ready = stack.pop()
            if item in self.done:
                continue
            inner = [each for each in self._mentions(self._body(item)) if each not in self.done]
            if inner and not ready:
                stack.append((item, True))
                stack.extend((each, False) for each in inner)
                continue
            self.done.add(item)
            self._state(item)

    def require_scalar(self, family: Family) -> None:
        """State a scalar that is asked for, though its value be a plain number."""
        if not family.is_sampled and family not in self.done:
            self.done.add(family)
            self.scalar(family)

    def require_kernel(self, key: tuple) -> None:
        """State a kernel with everything that it rests on; not a second moment whose covariance says the same."""
        if key[0] == "second" and ("covariance", *key[1:]) in self.recursion.known() and self._is_centred(key[1:]):
            return
        for coefficient in self.recursion.known()[key].terms.values():
            self.require(self.unfolded(coefficient))
        if key not in self.done:
            self.done.add(key)
            self.kernel(key)

    def _mentions(self, expr: Expr | None) -> list:
        """Equations and arrays that an expression mentions, those that are written out looked through."""
        found: list = []
        stack = [] if expr is None else [expr]
        while stack:
            for part in walk(stack.pop()):
                if isinstance(part, Array):
                    found.append(part.declaration)
                if isinstance(part, ScalarRef) and part.family.is_sampled:
                    continue
                binding = self._equation(part)
                if binding in self.inlined:
                    stack.append(binding.expression)
                elif binding is not None:
                    found.append(self.kernels.get(binding, (binding,))[0] if isinstance(part, Let) else part.family)
        return list(dict.fromkeys(found))

    def _body(self, item) -> Expr | None:
        match item:
            case Binding():
                return item.expression
            case Family():
                return self.recursion.scalar(item).expression
            case tuple():
                kernel = self.recursion.known()[item]
                return add(*[self.unfolded(each) for each in kernel.terms.values()])
        return item.definition

    def unfolded(self, coefficient: Expr) -> Expr:
        """A coefficient with the equation that it names in its place."""
        return coefficient.binding.expression if isinstance(coefficient, Let) else coefficient

    def _state(self, item) -> None:
        match item:
            case Binding():
                self.binding(item)
            case Family():
                self.scalar(item)
            case tuple():
                self.kernel(item)
            case _:
                self.array(item)

    def array(self, declaration) -> None:
        """A ``const`` array with its definition."""
        if declaration.definition is None:
            return
        letters = Letters()
        left = indexed(declaration.name, [letters.of(axis) for axis in declaration.axes])
        self.statements.append(Statement("given", left, self.convert(declaration.definition, letters), "const"))

    def binding(self, binding: Binding) -> None:
        """An equation that is no kernel by itself (a part of one)."""
        letters = Letters()
        labels = tuple(letters.of(label) for label in binding.labels)
        left, right = self.names.binding(binding, labels), self.convert(binding.expression, letters)
        self.statements.append(Statement("kernels", left, right, "linearity", self.cited(), invented=True))

    def scalar(self, family: Family) -> None:
        """A Moment or a function of scalars."""
        letters = Letters()
        binding = self.recursion.scalar(family)
        left = self.names.element(family, [letters.of(axis) for axis in family.axes])
        rule = rule_of(family)
        axes = letters.axes(lambda e: self.convert(e, letters))
        right = self.convert(binding.expression, letters)
        self.statements.append(Statement(
            "scalars", left, right, rule.name, self.cited(rule.citation), given=self.scores_of(family), axes=axes,
            invented=family.hidden and family not in self.asked))

    def kernel(self, key: tuple) -> None:
        """A mean, second moment or covariance, with names for its parts."""
        kind, *families = key
        kernel = self.recursion.known()[key]
        letters = Letters()
        references = [generic(family, side) for family, side in zip(families, "xy")]
        elements = [self.names.element(r.family, [letters.of(s) for s in r.subscripts]) for r in references]
        whole = not any(equalities for equalities, _ in kernel.terms) and len(kernel.terms) == 1
        parts, where, name = [], [], None
        for (equalities, _), coefficient in kernel.terms.items():
            delta = self.delta(equalities, letters)
            if isinstance(coefficient, Let) and coefficient.binding not in self.inlined:
                binding = coefficient.binding
                symbol = self.names.binding(binding, tuple(letters.of(label) for label in binding.labels))
                if self.kernels.get(binding, (key,))[0] != key:  # another kernel's, where it is explained
                    parts.append(delta * symbol)
                elif whole:
                    name = symbol
                    parts.append(self.convert(binding.expression, letters))
                else:
                    parts.append(delta * symbol)
                    where.append(Statement("kernels", symbol, self.convert(binding.expression, letters), "", invented=True))
            else:
                parts.append(delta * self.convert(coefficient, letters))
        rule, citation = self.reason(kind, families)
        left = Expected(*elements) if kind != "covariance" or self._is_centred(families) else Covariance(*elements)
        self.statements.append(Statement(
            "kernels", left, sympy.Add(*parts), rule, self.cited(citation), name=name, where=where,
            given=self.scores_of(*families), invented=name is not None))

    def delta(self, equalities: frozenset, letters: Letters) -> sympy.Expr:
        """The Kronecker deltas of a term of a kernel."""
        return sympy.Mul(*[
            indicator(sympy.Eq(*[self.convert(side, letters) for side in sides(each)])) for each in sorted(equalities, key=repr)])

    def cited(self, *citations: str) -> str:
        """The sources of a statement: of its rule, and of the closed forms since the last one."""
        return "; ".join(filter(None, (*citations, *self.convert.take_citations())))

    def kernel_name(self, kind: str, families: list[Family]) -> str:
        about = ",".join(dict.fromkeys(self.names.family(family) for family in families))
        letter = {"mean": "m", "second": "K", "covariance": "K" if self._is_centred(families) else "C"}[kind]
        return f"{letter}_{about}"

    def _is_centred(self, families) -> bool:
        return any(self.recursion.moment(generic(family, "x")).is_zero for family in families)

    def reason(self, kind: str, families: list[Family]) -> tuple[str, str]:
        """The rule that gives a kernel, and its citation."""
        latest = max(families, key=lambda family: (family.order, family.name))
        return reason(kind, families, self.recursion), rule_of(latest).citation

    def independent_scalars(self, expr: Expr) -> ScalarMoments | None:
        """Expectations over the scalars that an expression rests on, if they are independent random scalars among the inputs."""
        laws = {}
        for score in self.analysis.levels.scores_in(expr):
            own = isinstance(score.definition, RandomScalar) and self.analysis.randomness.scores(score) == {score}
            if not own or (score.axes and not score.hidden):
                return None
            letters, rule = Letters(), rule_of(score)
            reference = ScalarRef(score, score.axes)
            variance = rule.covariance(reference, reference, self.recursion.moment).limit().expression()
            element = self.names.element(score, [letters.of(axis) for axis in score.axes])
            laws[element] = self.convert(rule.mean(reference), letters), self.convert(variance, letters)
        return ScalarMoments(self.statements, laws)

    def scores_of(self, *families: Family, averaged: bool = False) -> tuple[str, ...]:
        """Names of the scores that a quantity depends on; with ``averaged`` also of those along infinite axes, over which it is an average."""
        found: set[Family] = set()
        for family in families:
            found |= set(self.analysis.randomness.scores(family))
        levels = self.analysis.levels
        shown = [s for s in sorted(found - set(families), key=lambda f: f.order) if averaged or levels.of_score(s) == Level.SAMPLE]
        return tuple(dict.fromkeys(map(self.names.family, shown)))


def _is_named(binding: Binding) -> bool:
    """Whether an equation is about one family, or parts of one, that the program names."""
    return len({family.name for family in binding.about}) == 1 and not any(family.hidden for family in binding.about)


def _nests(binding: Binding) -> bool:
    """Whether an equation of a loop is an expectation whose law is an equation that might be written out too: expectations would be
    nested as deep as the loop is long."""
    laws = [entry for part in walk(binding.expression) if isinstance(part, Expect) for row in part.covariance for entry in row]
    inner = [part.binding for entry in laws for part in walk(entry) if isinstance(part, Let)]
    return len(set(binding.about)) == 1 and bool(loop_numbers(binding.about)) and not all(map(_is_named, inner))


def _named(program: Program) -> frozenset[str]:
    """The names that a program gives to numbers, arrays and families."""
    return frozenset(program.parameters).union(
        (array.name for array in program.arrays), (family.name for family in program.families if not family.hidden))


def _sizes(program: Program) -> frozenset[str]:
    """The parameters that occur in ranges of indices."""
    found: set[str] = set()
    for range_ in program.ranges:
        for bound in range_.bounds or ():
            found |= {part.name for part in walk(bound) if isinstance(part, Sym)}
        if range_.symbol:
            found.add(range_.symbol)
    return frozenset(found)
