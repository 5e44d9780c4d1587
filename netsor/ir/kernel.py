"""Kernels of whole families: sums of *index equalities x powers of infinite sizes x coefficient*.

The kernel of q[a,i] and q[a',k] is {delta(a,a'): K[i,k]}: under an equality the coefficient mentions one of the two indices
only, so heads with independent matrices never become a dense square, and a sum over an index that an equality fixes
disappears before any array exists.  Powers of infinite sizes (``H = inf``) are counted exactly and judged at the end: what has
a negative power vanishes, what has a positive one diverges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from netsor.ir.expressions import (
    Add, Average, Compare, Expr, Index, Indicator, Logic, Mul, Num, ONE, Pow, Range, Reduce, Sym, ZERO, add, lift, mul,
    power, total,
)
from netsor.ir.rewrite import free_indices, substitute, walk

Equality = frozenset  # of two index terms
Powers = tuple  # of (symbol name, exponent), sorted; exponents are never 0


class Diverges(Exception):
    """A kernel grows with an infinite axis.  ``powers`` says how."""

    def __init__(self, powers: Powers):
        self.powers = powers
        super().__init__(" ".join(f"{name}^{exponent}" for name, exponent in powers))


class Kernel:
    """``terms`` maps (set of equalities, powers) to a coefficient."""

    __slots__ = ("terms",)

    def __init__(self, terms: Iterable[tuple[tuple[frozenset, Powers], Expr]] = ()):
        self.terms: dict[tuple[frozenset, Powers], Expr] = {}
        for key, coefficient in terms:
            if coefficient != ZERO:
                known = self.terms.get(key)
                self.terms[key] = coefficient if known is None else add(known, coefficient)
        for key in [key for key, coefficient in self.terms.items() if coefficient == ZERO]:
            del self.terms[key]

    @staticmethod
    def of(value) -> "Kernel":
        """The kernel that is ``value`` for all indices."""
        return Kernel(((frozenset(), powers), part) for powers, part in split_powers(lift(value)).items())

    @staticmethod
    def equal(pairs: Iterable[tuple[Expr, Expr]]) -> "Kernel":
        """1 where every pair of index terms is equal, 0 elsewhere."""
        equalities = set()
        for left, right in pairs:
            found = _equality(left, right)
            if found is False:
                return Kernel()
            if found is not True:
                equalities.add(found)
        return Kernel([((frozenset(equalities), ()), ONE)])

    # --- algebra -----------------------------------------------------------------------------------------------------

    @property
    def is_zero(self) -> bool:
        return not self.terms

    def __add__(self, other: "Kernel") -> "Kernel":
        return Kernel([*self.terms.items(), *other.terms.items()])

    def __mul__(self, other) -> "Kernel":
        if not isinstance(other, Kernel):
            other = Kernel.of(other)
        return Kernel(
            ((equalities | more, _merge(powers, others)), mul(left, right))
            for (equalities, powers), left in self.terms.items()
            for (more, others), right in other.terms.items()
        )

    def __eq__(self, other) -> bool:
        return isinstance(other, Kernel) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def substitute(self, mapping: Mapping[Index, Expr]) -> "Kernel":
        terms = []
        for (equalities, powers), coefficient in self.terms.items():
            renamed = Kernel.equal(tuple(substitute(side, mapping) for side in sides(e)) for e in equalities)
            for (kept, _), _ in renamed.terms.items():
                terms.append(((kept, powers), substitute(coefficient, mapping)))
        return Kernel(terms)

    def sum(self, indices: Iterable[Index], guard: Expr | None = None) -> "Kernel":
        """Sum over ``indices`` of what ``guard`` admits."""
        result = self if guard is None else self * Kernel.of(Indicator(guard))
        for index in indices:
            result = sum_kernels(_sum_term(key, value, index) for key, value in result.terms.items())
        return result

    # --- reading -----------------------------------------------------------------------------------------------------

    def limit(self) -> "Kernel":
        """Infinite sizes sent to infinity.

        :raises Diverges: if a term has a positive power."""
        kept = []
        for (equalities, powers), coefficient in self.terms.items():
            if any(exponent > 0 for _, exponent in powers):
                raise Diverges(powers)
            if not powers:
                kept.append(((equalities, ()), coefficient))
        return Kernel(kept)

    def expression(self) -> Expr:
        """One scalar expression with explicit indicators (powers must have been taken to their limit)."""
        terms = []
        for (equalities, _), coefficient in self.limit().terms.items():
            tests = [Indicator(Compare("==", *sides(equality))) for equality in sorted(equalities, key=repr)]
            terms.append(mul(*tests, coefficient))
        return add(*terms)

    def __repr__(self) -> str:
        if self.is_zero:
            return "0"
        shown = []
        for (equalities, powers), coefficient in self.terms.items():
            deltas = [f"δ({','.join(map(repr, sides(e)))})" for e in sorted(equalities, key=repr)]
            shown.append(" ".join(deltas + [f"{name}^{exponent}" for name, exponent in powers] + [f"({coefficient!r})"]))
        return " + ".join(shown)


def sum_kernels(kernels: Iterable[Kernel]) -> Kernel:
    return Kernel([item for kernel in kernels for item in kernel.terms.items()])


def sides(equality: Equality) -> tuple[Expr, Expr]:
    """The two index terms of an equality, in a fixed order."""
    left, right = sorted(equality, key=lambda term: (repr(term)))
    return left, right


def in_range(term: Expr, range_: Range) -> Expr:
    """The condition that an index term lies in a range."""
    lowest, highest = ends(range_)
    below, above = Compare("<=", lowest, term), Compare("<=", term, highest)
    return Logic("and", (below, above))


def _equality(left: Expr, right: Expr):
    """True, False, or the equality between two index terms."""
    if left == right:
        return True
    if isinstance(left, Num) and isinstance(right, Num):
        return False
    one, other = _affine(left), _affine(right)
    if one is None or other is None:
        return frozenset((left, right))
    for (index, factor, constant), (partner, slope, shift) in ((one, other), (other, one)):
        if factor != 0 and slope % factor == 0:
            return _solved(index, slope // factor, partner, Fraction(shift - constant, factor))
    return frozenset((left, right))


def _solved(index: Index, slope: int, other: Index | None, shift: Fraction):
    """The equality i == slope*j + shift, which removes an index; True or False where it holds always or never."""
    if shift.denominator != 1:
        return False
    if index == other and slope == 1:
        return shift == 0
    low, high = index.range.lo, index.range.hi
    known = index.range.bounds is None and isinstance(low, int) and isinstance(high, int)
    if other is None and known and not low <= shift <= high:
        return False
    return frozenset((index, add(mul(slope, other), int(shift)) if other is not None else Num(int(shift))))


def _affine(term: Expr) -> tuple[Index | None, int, int] | None:
    """(i, a, b) of a term a*i + b with whole numbers a and b, (None, 0, b) of a number b; None for other terms."""
    match term:
        case Num(value=value):
            return (None, 0, int(value)) if value == int(value) else None
        case Index():
            return term, 1, 0
        case Mul(factors=(Num(value=value), factor)) if value == int(value):
            inner = _affine(factor)
            return inner and (inner[0], int(value) * inner[1], int(value) * inner[2])
        case Add(terms=terms):
            parts = list(map(_affine, terms))
            indices = {part[0] for part in parts if part is not None and part[0] is not None}
            if None in parts or len(indices) > 1:
                return None
            return next(iter(indices), None), sum(part[1] for part in parts), sum(part[2] for part in parts)
    return None


def _merge(left: Powers, right: Powers) -> Powers:
    if not left or not right:
        return left or right
    exponents = dict(left)
    for name, exponent in right:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted((name, exponent) for name, exponent in exponents.items() if exponent != 0))


def solve(equality: Equality, index: Index) -> Expr | None:
    """The term that ``index`` must equal, if the equality is ``index + c == term`` (or ``-index + c == term``) without ``index`` in
    ``term``."""
    for own, other in (sides(equality), sides(equality)[::-1]):
        if index in free_indices(other):
            continue
        if own == index:
            return other
        if isinstance(own, Add):
            for position, part in enumerate(own.terms):
                sign = 1 if part == index else -1 if part == mul(-1, index) else 0
                rest = add(*own.terms[:position], *own.terms[position + 1:])
                if sign and index not in free_indices(rest):
                    return add(other, mul(-1, rest)) if sign == 1 else add(rest, mul(-1, other))
    return None


def _sum_term(key: tuple[frozenset, Powers], coefficient: Expr, index: Index) -> Kernel:
    equalities, powers = key
    touched = [equality for equality in equalities if any(index in free_indices(term) for term in equality)]
    for equality in sorted(touched, key=repr):
        solution = solve(equality, index)
        if solution is None:
            continue
        rest = Kernel([((equalities - {equality}, powers), coefficient)]).substitute({index: solution})
        same = isinstance(solution, Index) and (solution.range == index.range or _inside(solution.range, index.range))
        if same or index.range.infinite:
            return rest
        return rest * Kernel.of(Indicator(in_range(solution, index.range)))
    tests = [Indicator(Compare("==", *sides(equality))) for equality in touched]
    coefficient, equalities = mul(*tests, coefficient), equalities - set(touched)
    depends = index in free_indices(coefficient)
    if index.range.infinite:
        value = Average(coefficient, index) if depends else coefficient
        return Kernel([((equalities, _merge(powers, ((index.range.symbol, 1),))), value)])
    value = total(coefficient, (index,)) if depends else mul(range_size(index.range), coefficient)
    return Kernel([((equalities, powers), value)])


def ends(range_: Range) -> tuple[Expr, Expr]:
    """The smallest and the largest value of a finite range, as expressions."""
    return range_.bounds or (Num(range_.lo), Num(range_.hi))


def range_size(range_: Range) -> Expr:
    """The number of values of a range, as an expression."""
    if range_.infinite:
        return Sym(range_.symbol, True)
    if range_.bounds is None:
        return Num(range_.size)
    lowest, highest = range_.bounds
    return add(highest, mul(-1, lowest), 1)


def _inside(inner: Range, outer: Range) -> bool:
    """Whether it is known that every value of one range is one of the other."""
    if inner.bounds is not None or outer.bounds is not None:
        return inner.bounds == outer.bounds
    numbers = all(isinstance(bound, int) for bound in (inner.lo, inner.hi, outer.lo, outer.hi))
    return numbers and outer.lo <= inner.lo and inner.hi <= outer.hi


# --- powers of infinite sizes ----------------------------------------------------------------------------------------


def has_infinite(expr: Expr) -> bool:
    """Whether an infinite size or a sum over an infinite axis occurs."""
    cached = expr.__dict__.get("_infinite")
    if cached is None:
        cached = any(
            (isinstance(part, Sym) and part.infinite)
            or (isinstance(part, Reduce) and any(index.range.infinite for index in part.indices))
            for part in walk(expr)
        )
        object.__setattr__(expr, "_infinite", cached)
    return cached


class NoPower(Exception):
    """An infinite size stands where only its power can be counted (inside a function, say)."""


def split_powers(expr: Expr) -> dict[Powers, Expr]:
    """``expr`` as a sum of powers of infinite sizes times expressions without them; sums over infinite axes become averages.

    :raises NoPower: where an infinite size stands inside a function or condition."""
    if not has_infinite(expr):
        return {(): expr}
    match expr:
        case Sym():
            return {((expr.name, 1),): ONE}
        case Add():
            return _collect(item for term in expr.terms for item in split_powers(term).items())
        case Mul():
            result = {(): ONE}
            for factor in expr.factors:
                more = split_powers(factor)
                result = _collect(
                    (_merge(powers, others), mul(left, right))
                    for powers, left in result.items() for others, right in more.items()
                )
            return result
        case Pow(base=base, exponent=Num(value=exponent)):
            parts = split_powers(base)
            if len(parts) == 1:
                (powers, rest), = parts.items()
                scaled = tuple((name, own * exponent) for name, own in powers)
                return {scaled: power(rest, exponent)}
        case Average():
            parts = split_powers(expr.body)
            return {powers: Average(rest, expr.index) for powers, rest in parts.items()}
        case Reduce(op="sum"):
            kernel = Kernel.of(expr.body).sum(expr.indices, expr.guard)
            return {powers: coefficient for (_, powers), coefficient in kernel.terms.items()}
    raise NoPower(repr(expr))


def _collect(items: Iterable[tuple[Powers, Expr]]) -> dict[Powers, Expr]:
    result: dict[Powers, Expr] = {}
    for powers, value in items:
        result[powers] = add(result[powers], value) if powers in result else value
    return result


def limit_of(expr: Expr) -> Expr:
    """A scalar expression with its infinite sizes sent to infinity.

    :raises Diverges: if it grows; :raises NoPower: where powers cannot be counted."""
    return Kernel.of(expr).limit().expression()
