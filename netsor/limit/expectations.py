"""E[product of functions of Gaussian families] as expressions, with the index equalities kept apart.

Whether two Gaussian variables are correlated may hinge on index equalities (heads a = a', tokens i = i').  The expectation is taken
case by case over which of them hold (whether two elements of an input that is not Gaussian are the same does too) and turned back into a sum of equalities times coefficients by Moebius inversion: with F(T)
the value when exactly the equalities T hold, the kernel is sum over S of delta_S sum over T within S of (-1)^(|S|-|T|) F(T).
"""

from __future__ import annotations

from itertools import combinations, islice
from collections.abc import Callable, Sequence

from netsor.ir.expressions import (
    ONE, ZERO, Call, Compare, Coord, Expect, Expr, Index, Indicator, Integral, Leaf, Num, Where, add, first, mul, second,
)
from netsor.ir.kernel import Kernel, sides
from netsor.ir.laws import Law
from netsor.ir.polynomials import coords
from netsor.ir.program import Iid
from netsor.ir.rewrite import free_indices, rebuild, substitute, walk
from netsor.limit.affine_leaves import in_affine_parts
from netsor.limit.conditioning import TooManyCases, Variable, choice_without_leaves, condition, condition_in_array, replaced
from netsor.limit.dimensions import is_several, is_static
from netsor.limit.equations import representatives, substitute_chain
from netsor.limit.parity import parity, singular

MOST_FLIPS = 15  # ways to flip groups of variables, in search of one that shows an expectation to be 0
MAX_EQUALITIES = 3  # beyond this the indicators are evaluated with the covariances


def expectation(
    factors: list[Expr], covariance: Callable[[Coord, Coord], Kernel], mean: Callable[[Coord], Kernel], mirror: tuple = ()
) -> Kernel:
    """E of the product of expressions in coordinates of Gaussian families and of inputs that are not Gaussian.

    ``covariance`` and ``mean`` give the moments of Gaussian coordinates; ``mirror`` lists index pairs whose exchange does not matter."""
    blocks = leaf_blocks(factors)
    factors = [_with_leaves(factor, blocks) for factor in factors]
    rows = [block.reference(first) for block in blocks]
    columns = [block.reference(second) for block in blocks]
    kernels = {
        (m, k): _relation(rows[m], columns[k], covariance) for m in range(len(blocks)) for k in range(len(blocks)) if m <= k
    }
    means = [ZERO if block.law is not None else mean(row).expression() for block, row in zip(blocks, rows)]
    outer = frozenset().union(*map(free_indices, factors), *(free_indices(t) for b in blocks for t in b.reference(first).subscripts))
    copies = {copy(index) for block in blocks for index in block.inner for copy in (first, second)}
    equalities = sorted(
        {e for kernel in kernels.values() for held, _ in kernel.terms for e in held if _free(e) and not _free(e) & copies},
        key=repr,
    )
    mirror = tuple(pair for pair in mirror if all(isinstance(index, Index) and index in outer for index in pair))
    case = _Case(factors, blocks, means, kernels, equalities, mirror)
    if len(equalities) > MAX_EQUALITIES:
        return Kernel.of(case.value(None))
    terms = []
    for size in range(len(equalities) + 1):
        for held in combinations(equalities, size):
            names = representatives(frozenset(held))
            parts = [
                mul((-1) ** (size - part_size), substitute_chain(case.value(_with_implied(part, equalities)), names))
                for part_size in range(size + 1) for part in combinations(held, part_size)
            ]
            delta = Kernel.equal(sides(equality) for equality in held)
            terms.append(delta * Kernel.of(add(*parts)))
    return Kernel([item for kernel in terms for item in kernel.terms.items()])


def _relation(row: Coord, column: Coord, covariance: Callable[[Coord, Coord], Kernel]) -> Kernel:
    """The covariance of Gaussian coordinates; 1 where coordinates of an input that is not Gaussian are the same, else 0."""
    if not isinstance(row.family.definition, Iid) and not isinstance(column.family.definition, Iid):
        return covariance(row, column).limit()
    return Kernel.equal(zip(row.subscripts, column.subscripts)) if row.family is column.family else Kernel()


def _with_implied(held: tuple, equalities: list) -> frozenset | bool:
    """The equalities and those that follow from them (i = 1 and k = 1: i = k); False if they contradict each other.

    The inversion asks for all subsets; only closed ones ever occur, and whatever stands for the others cancels."""
    names = representatives(frozenset(held))
    ends = {equality: {substitute_chain(side, names) for side in sides(equality)} for equality in equalities}
    if any(len(ends[equality]) > 1 and all(isinstance(end, Num) for end in ends[equality]) for equality in held):
        return False
    return frozenset((*held, *(equality for equality in equalities if len(ends[equality]) == 1)))


class LeafBlock:
    """The elements of one family that the factors mention: one variable, or an array over the axes that inner sums run over.  ``law`` is
    its law where that is not Gaussian."""

    def __init__(self, family, pattern: tuple):
        self.family, self.pattern = family, pattern
        self.law = family.definition.law if isinstance(family.definition, Iid) else None
        self.inner = tuple(axis for axis, term in zip(family.axes, pattern) if term is None)

    def matches(self, reference: Coord) -> bool:
        return reference.family is self.family and all(
            own is None or own == term for own, term in zip(self.pattern, reference.subscripts)
        )

    def leaf(self, slot: int, reference: Coord) -> Leaf:
        return Leaf(slot, tuple(t for own, t in zip(self.pattern, reference.subscripts) if own is None))

    def reference(self, copy: Callable[[Index], Index]) -> Coord:
        return Coord(self.family, tuple(
            copy(axis) if own is None else own for axis, own in zip(self.family.axes, self.pattern)
        ))


def leaf_blocks(factors: list[Expr]) -> list[LeafBlock]:
    """The blocks of Gaussian variables of the factors, in order of appearance."""
    outer = frozenset().union(*map(free_indices, factors))
    blocks: list[LeafBlock] = []
    found = [(part, part) for factor in factors for part in walk(factor) if isinstance(part, Coord)]
    references = list(dict.fromkeys(reference for reference, _ in found))
    for family in dict.fromkeys(reference.family for reference in references):
        own = [reference for reference in references if reference.family is family]
        running = [any(free_indices(r.subscripts[k]) - outer for r in own) for k in range(len(family.axes))]
        for reference in own:
            pattern = tuple(None if runs else term for runs, term in zip(running, reference.subscripts))
            if not any(block.family is family and block.pattern == pattern for block in blocks):
                blocks.append(LeafBlock(family, pattern))
    return blocks


def _with_leaves(expr: Expr, blocks: list[LeafBlock]) -> Expr:
    if isinstance(expr, Coord):
        slot = next(slot for slot, block in enumerate(blocks) if block.matches(expr))
        return blocks[slot].leaf(slot, expr)
    return rebuild(expr, lambda child: _with_leaves(child, blocks)) if coords(expr) else expr


def _free(equality) -> frozenset:
    return frozenset().union(*map(free_indices, equality))


class _Case:
    """The expectation when exactly the equalities of a set hold (None: whatever holds, indicators kept)."""

    def __init__(
        self, factors: list[Expr], blocks: list[LeafBlock], means: list[Expr], kernels: dict, equalities: list, mirror: tuple
    ):
        self.factors, self.blocks, self.means, self.kernels, self.mirror = factors, blocks, means, kernels, mirror
        self.equalities = equalities
        self.known: dict = {}

    def value(self, held: frozenset | None | bool) -> Expr:
        if held is False:
            return ZERO  # never the case
        if held not in self.known:
            self.known[held] = self._find(held)
        return self.known[held]

    def _find(self, held: frozenset | None) -> Expr:
        names = [] if held is None else representatives(held)
        solved = frozenset(e for e in held or () if len({substitute_chain(side, names) for side in sides(e)}) == 1)
        entries = {key: substitute_chain(self._entry(kernel, held, solved), names) for key, kernel in self.kernels.items()}
        entries |= {(k, m): _swapped(entry, self.blocks[m].inner + self.blocks[k].inner) for (m, k), entry in entries.items() if m != k}
        factors = [substitute_chain(factor, names) for factor in self.factors]
        same = self._same(names)
        factors = [_untied(replaced(factor, same)) for factor in factors] if same else factors
        means = [substitute_chain(mean, names) for mean in self.means]
        mirror = self.mirror if held is None or not held else ()
        if held:
            gone = {index for index, _ in names}
            mirror = tuple(pair for pair in self.mirror if not gone & set(pair))
        variables = {
            slot: self._law(slot, names) for slot, block in enumerate(self.blocks) if block.law is not None
        }
        apart = self._apart(entries, held, names)
        several = lambda slots: len(slots) > 1 and not variables.keys() & set(slots)  # noqa: E731
        return mul(*[
            self._component([factors[f] for f in group], slots, apart if several(slots) else entries, means, mirror, variables)
            for group, slots in _components(factors, entries, len(self.blocks))
        ])

    def _apart(self, entries: dict, held: frozenset | None, names: list) -> dict:
        """The covariances with 0 between different variables where an equality holds that does not in this case.

        What is computed there cancels, but what is left of the covariance of a variable with itself, a term of it taken out, may be any
        number: none that the two can have, or that three of them can have together."""
        if held is None:
            return entries
        tests = [[substitute_chain(side, names) for side in sides(equality)] for equality in self.equalities if equality not in held]
        unequal = [Indicator(Compare("!=", *ends)) for ends in tests]
        return {(m, k): entry if m == k else mul(*unequal, entry) for (m, k), entry in entries.items()}

    def _same(self, names: list) -> dict[Expr, Expr]:
        """Variables that are one in this case, x[i] and x[k] where i = k, if one function has both: max(x[i], x[k]) is to see a tie."""
        found: dict[tuple, int] = {}
        same = {}
        for slot, block in enumerate(self.blocks):
            if names and not block.inner and block.law is None:
                element = block.family, tuple(substitute_chain(term, names) for term in block.pattern)
                first_one = found.setdefault(element, slot)
                if any({Leaf(slot), Leaf(first_one)} <= set(walk(factor)) for factor in self.factors) and first_one != slot:
                    same[Leaf(slot)] = Leaf(first_one)
        return same

    @staticmethod
    def _entry(kernel: Kernel, held: frozenset | None, solved: frozenset) -> Expr:
        terms = []
        for (equalities, _), coefficient in kernel.terms.items():
            # what does not hold hinges on inner copies (an indicator) or on an equality that fails in this case
            if held is not None and any(e for e in equalities - held if not _mentions_copy(e)):
                continue
            # an equality that removes no index (of x[3-i] and x[3-i'], say) stays: where it fails the coefficient is no covariance
            tests = sorted(equalities - solved, key=repr)
            terms.append(mul(*[Indicator(Compare("==", *sides(e))) for e in tests], coefficient))
        return add(*terms)

    def _law(self, slot: int, names: list) -> Law:
        """The law of a block, over the first copies of its inner indices."""
        block = self.blocks[slot]
        law = block.law.substitute(dict(zip(block.family.axes, block.reference(first).subscripts)))
        return type(law)(tuple(substitute_chain(parameter, names) for parameter in law.parameters))

    def _component(
        self, factors: list[Expr], slots: list[int], entries: dict, means: list[Expr], mirror: tuple, laws: dict[int, Law]
    ) -> Expr:
        """The expectation over leaves that are independent of all others."""
        own = [slot for slot in slots if slot in laws]
        if not own:
            return self._gaussian(factors, slots, entries, means, mirror)
        certain = all(not self.blocks[m].inner and entries[m, k] in (ZERO, ONE) for m in own for k in own)
        if certain:
            same = {slot: next(m for m in own if entries[m, slot] == ONE) for slot in own}
            factors = [replaced(factor, {Leaf(slot): Leaf(m) for slot, m in same.items()}) for factor in factors]
            found = self._conditioned(factors, {slot: laws[slot] for slot in set(same.values())}, entries, means)
            if found is not None:
                return found
        normal = [_of_normals(factor, laws, self.blocks) for factor in factors]
        return self._gaussian(normal, slots, entries, means, ())

    def _conditioned(self, factors: list[Expr], laws: dict[int, Law], entries: dict, means: list[Expr]) -> Expr | None:
        """The expectation by conditioning: on all variables, or on the discrete ones alone where quasi-random points are needed for the
        rest anyway; None where there are too many."""
        discrete = {slot: law for slot, law in laws.items() if law.atoms() is not None}
        given = lambda factors: self._given(factors, entries, means)  # noqa: E731
        try:
            found = condition_in_array(factors, [Variable(Leaf(slot), laws[slot]) for slot in sorted(laws)], given)
            if not any(isinstance(part, Expect) and is_several(part) for part in walk(found)):
                return found
        except TooManyCases:
            pass
        for held in (laws, discrete):
            rest = {slot: law for slot, law in laws.items() if slot not in held}
            normal = [_of_normals(factor, rest, self.blocks) for factor in factors]
            variables = [Variable(Leaf(slot), held[slot]) for slot in sorted(held)]
            try:
                found = condition(normal, variables, given)
            except TooManyCases:
                continue
            if held is discrete or not any(isinstance(part, Integral) and integrates_points(part) for part in walk(found)):
                return found
        return None

    def _given(self, factors: list[Expr], entries: dict, means: list[Expr]) -> Expr:
        """The expectation over the Gaussian leaves that are left when the others have values."""
        choice = choice_without_leaves(factors)
        if choice is not None:
            test, *branches = choice
            return Where(test, *[self._given(branch, entries, means) for branch in branches])
        parts = []
        for group, slots in _components(factors, entries, len(self.blocks)):
            own = [factors[f] for f in group]
            combined = in_affine_parts(own, means.__getitem__, lambda m, k: entries[m, k]) if slots else None
            if combined is None:
                parts.append(self._gaussian(own, slots, entries, means, ()))
            else:
                own, new_means, covariance = combined
                entries_of_parts = {(m, k): entry for m, row in enumerate(covariance) for k, entry in enumerate(row)}
                odd = self._is_odd(own, range(len(new_means)), new_means, entries_of_parts)
                parts.append(ZERO if odd else Expect(
                    tuple(own), ((),) * len(new_means), tuple(new_means), tuple(map(tuple, covariance))))
        return mul(*parts)

    def _gaussian(self, factors: list[Expr], slots: list[int], entries: dict, means: list[Expr], mirror: tuple) -> Expr:
        """The expectation over Gaussian leaves, those that no factor mentions (any more) left out."""
        mentioned = {part.slot for factor in factors for part in walk(factor) if isinstance(part, Leaf)}
        slots = [slot for slot in slots if slot in mentioned]
        if not slots:
            return mul(*factors)
        if self._is_odd(factors, slots, means, entries):
            return ZERO
        place = {slot: position for position, slot in enumerate(slots)}
        factors = [renumber(factor, place) for factor in factors]
        covariance = tuple(tuple(entries[m, k] for k in slots) for m in slots)
        inner = tuple(self.blocks[slot].inner for slot in slots)
        return Expect(tuple(factors), inner, tuple(means[slot] for slot in slots), covariance, mirror)

    @staticmethod
    def _is_odd(factors: list[Expr], slots: Sequence[int], means: list[Expr], covariance: dict) -> bool:
        """Whether flipping some centred leaves at once, which are uncorrelated with all others, turns the product into its negative."""
        if any(map(singular, factors)):
            return False
        groups: list[set[int]] = []
        for slot in slots:
            linked = [group for group in groups if any(covariance[slot, other] != ZERO for other in group)]
            groups = [group for group in groups if group not in linked] + [{slot}.union(*linked)]
        centred = [group for group in groups if all(means[slot] == ZERO for slot in group)]
        choices = (set().union(*chosen) for size in range(1, len(centred)) for chosen in combinations(centred, size))
        for flipped in [set().union(*centred), *islice(choices, MOST_FLIPS)]:
            product = 1
            for factor in factors:
                product *= parity(factor, lambda leaf, flipped=flipped: -1 if leaf.slot in flipped else 1)
            if product == -1:
                return True
        return False


def _untied(expr: Expr) -> Expr:
    """max(z, z) is z."""
    expr = rebuild(expr, _untied)
    if isinstance(expr, Call) and expr.function in ("max", "min") and len(set(expr.arguments)) == 1:
        return expr.arguments[0]
    return expr


def _swapped(entry: Expr, inner: tuple[Index, ...]) -> Expr:
    """A covariance with rows and columns exchanged."""
    return substitute(entry, {
        one(index): other(index) for index in inner for one, other in ((first, second), (second, first))})


def _of_normals(expr: Expr, laws: dict[int, Law], blocks: list[LeafBlock]) -> Expr:
    """Leaves that are not Gaussian as functions of leaves that are standard normal."""
    if isinstance(expr, Leaf) and expr.slot in laws:
        inner = dict(zip(map(first, blocks[expr.slot].inner), expr.subscripts))
        return laws[expr.slot].substitute(inner).of_normal(expr)
    return rebuild(expr, lambda child: _of_normals(child, laws, blocks))


def integrates_points(integral: Integral) -> bool:
    """Whether quasi-random points are needed for every node of an integral; or would cost less than quadrature in three variables, two of
    them uniform, of a function that each node gives other kinks."""
    inside = list(walk(integral.body))
    expectations = [part for part in inside if isinstance(part, Expect)]
    nested = any(isinstance(part, Integral) for part in inside)
    return any(is_several(e) or (nested and not all(map(is_static, e.factors))) for e in expectations)


def _mentions_copy(equality) -> bool:
    return any(isinstance(i.tag, tuple) and i.tag[0] in ("first", "second") for i in _free(equality))


def _components(factors: list[Expr], entries: dict, count: int) -> list[tuple[list[int], list[int]]]:
    """Factors and leaves in groups that neither share leaves nor are correlated: (factor positions, slots).  A leaf that no factor has
    any more (of a sum of which another term was taken) is left out."""
    used = [{part.slot for part in walk(factor) if isinstance(part, Leaf)} for factor in factors]
    present = set().union(*used)
    links = used + [{m, k} for (m, k), entry in entries.items() if m < k and entry != ZERO and {m, k} <= present]
    groups: list[set[int]] = [{slot} for slot in range(count) if slot in present]
    for link in links:
        joined = [group for group in groups if group & link]
        groups = [group for group in groups if not group & link] + ([set().union(*joined)] if joined else [])
    result = [([f for f, slots in enumerate(used) if slots and slots <= group], sorted(group)) for group in groups]
    constant = [f for f, slots in enumerate(used) if not slots]
    return [(members, slots) for members, slots in result if members] + ([(constant, [])] if constant else [])


def renumber(expr: Expr, place: dict[int, int]) -> Expr:
    """``expr`` with its leaves in other slots."""
    if isinstance(expr, Leaf):
        return Leaf(place[expr.slot], expr.subscripts)
    return rebuild(expr, lambda child: renumber(child, place))
