"""Sums of products that share a function of several variables, kept together as one function.

(z - mu) / sqrt(v) is by linearity z / sqrt(v) - mu / sqrt(v), and its square has three such terms.  Each of them may have a variance
that the whole has not (v has a zero where z = mu), and all are integrals over the same variables.  So terms that share a factor that
does not come apart into functions of one variable each are added before the expectation is taken.  What does not depend on that
factor (factors of other sources, random scalars) stays outside, where independence and linearity take it out exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from netsor.ir.expressions import Expr, Mul, Reduce, ScalarRef, add, mul
from netsor.ir.facts import Randomness
from netsor.ir.polynomials import coords
from netsor.ir.rewrite import free_indices, walk
from netsor.limit.terms import Sum, Term


@dataclass(frozen=True)
class Facts:
    """What has to be known of expressions.

    :ivar is_joint: whether one is a function of several variables that is no sum of products.
    :ivar meet: whether two depend on a common source of randomness.
    :ivar form: the form of a coordinate's family; None for an expression that stays whole.
    :ivar fits: whether one is short enough to be written out."""

    is_joint: Callable[[Expr], bool]
    meet: Callable[[Expr, Expr], bool]
    form: Callable[[Expr], object]
    fits: Callable[[Expr], bool]
    randomness: Randomness


def gathered(terms: list[Term], facts: Facts) -> list[Term]:
    """The same sum, with terms added that share a factor of several variables and all that does not depend on it."""
    candidates = dict.fromkeys(factor for term in terms if len(term.factors) > 1 for factor in term.factors)
    for shared in candidates:
        if facts.is_joint(shared):
            terms = _gathered_around(shared, terms, facts)
    return terms


@dataclass(frozen=True)
class _Split:
    """A term as ``inside * shared * outside``, and the outside as a key."""

    inside: Expr
    key: tuple
    outside: Term
    is_sum: bool  # whether a factor inside is a sum that would be expanded later


def _gathered_around(shared: Expr, terms: list[Term], facts: Facts) -> list[Term]:
    groups: dict[tuple, list[int]] = {}
    splits = [_split(term, shared, facts) for term in terms]
    for position, split in enumerate(splits):
        if split is not None:
            groups.setdefault(split.key, []).append(position)
    replaced: dict[int, Term | None] = {}
    for positions in groups.values():
        own = [splits[position] for position in positions]
        whole = mul(add(*[split.inside for split in own]), shared)
        if (len(own) > 1 or own[0].is_sum) and coords(whole) and facts.fits(whole):
            outside = own[0].outside
            replaced |= dict.fromkeys(positions)
            replaced[positions[0]] = Term(outside.coefficient, (*outside.factors, whole))
    result = [replaced.get(position, term) for position, term in enumerate(terms)]
    return [term for term in result if term is not None]


def _split(term: Term, shared: Expr, facts: Facts) -> _Split | None:
    """None if the shared factor is missing, or a sum of the term's ties it (or what is outside) to what is inside."""
    own = set(term.indices)
    if shared not in term.factors or own & free_indices(shared) or any(index.range.infinite for index in own):
        return None
    rest = list(term.factors)
    rest.remove(shared)
    inside = [factor for factor in rest if facts.meet(factor, shared)]
    outside = [factor for factor in rest if not facts.meet(factor, shared)]
    coefficients = term.coefficient.factors if isinstance(term.coefficient, Mul) else (term.coefficient,)
    random = [factor for factor in coefficients if _is_random(factor, facts.randomness)]
    if any(own & free_indices(part) for part in (*outside, *random)):
        return None
    product = mul(*[factor for factor in coefficients if factor not in random], *inside)
    body = Reduce("sum", product, term.indices, term.guard) if own else product
    key = frozenset(Counter(outside).items()), frozenset(Counter(random).items())
    sums = [facts.form(factor) for factor in inside]
    return _Split(body, key, Term(mul(*random), tuple(outside)), any(isinstance(form, Sum) and len(form.terms) > 1 for form in sums))


def _is_random(expr: Expr, randomness: Randomness) -> bool:
    """Whether a coefficient rests on scores: within an expectation it would have to be taken anew for each sample of them."""
    return any(isinstance(part, ScalarRef) and randomness.scores(part.family) for part in walk(expr))
