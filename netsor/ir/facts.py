"""Static facts about families that several stages ask for."""

from __future__ import annotations

from typing import TypeVar
from collections.abc import Callable, Iterable

from netsor.ir.expressions import Coord, Expr, Index, ScalarRef
from netsor.ir.polynomials import coords
from netsor.ir.program import Custom, Draw, Family, Given, Iid, MatMul, Moment, Nonlin, RandomScalar, ScalarFunction, Score
from netsor.ir.rewrite import walk


def parts(family: Family) -> tuple[Expr, ...]:
    """The expressions that the definition of a family is made of."""
    match family.definition:
        case Given() | RandomScalar() as given:
            return (given.mean, given.covariance)
        case Iid(law=law):
            return law.parameters
        case MatMul() as product:
            return (*product.matrix_subscripts, product.argument)
        case Nonlin(body=body) | Moment(body=body) | ScalarFunction(body=body):
            return (body,)
        case Score() as score:
            return (score.left, score.right)
        case Custom() as custom:
            return (*custom.arguments, *custom.constants)
    raise TypeError(type(family.definition).__name__)


def references(family: Family) -> list[Coord | ScalarRef]:
    """Every reference to another family in the definition, in order of appearance."""
    return [part for expr in parts(family) for part in walk(expr) if isinstance(part, (Coord, ScalarRef))]


def by_draw(families: Iterable[Family]) -> dict[Draw, list[Family]]:
    """The families that rules of plug-ins define, by the draw that makes them."""
    found: dict[Draw, list[Family]] = {}
    for family in families:
        if isinstance(family.definition, Custom):
            found.setdefault(family.definition.draw, []).append(family)
    return found


def uses(family: Family) -> tuple[Family, ...]:
    """The families that the definition mentions, each once."""
    return tuple(dict.fromkeys(reference.family for reference in references(family)))


def with_all_they_use(families: Iterable[Family]) -> list[Family]:
    """The families and all that they depend on, in program order."""
    found: dict[Family, None] = {}
    stack = list(families)
    while stack:
        family = stack.pop()
        if family not in found:
            found[family] = None
            stack.extend(uses(family))
    return sorted(found, key=lambda family: family.order)


def vectors_of(family: Family) -> tuple[Family, ...]:
    """The vector families that a coordinatewise definition mentions."""
    definition = family.definition
    return tuple({part.family for part in coords(definition.body)}) if isinstance(definition, Nonlin) else ()


def has_other_law(family: Family) -> bool:
    """Whether an input that is not Gaussian enters by coordinatewise functions (or functions of scalars) alone."""
    seen: set[Family] = set()
    stack = [family]
    while stack:
        current = stack.pop()
        if isinstance(current.definition, Iid) or (isinstance(current.definition, RandomScalar) and current.hidden):
            return True
        if current not in seen and isinstance(current.definition, (Nonlin, ScalarFunction)):
            stack.extend(uses(current))
        seen.add(current)
    return False


Value = TypeVar("Value")


def bottom_up(
    root: Family, known: dict[Family, Value], earlier: Callable[[Family], Iterable[Family]],
    compute: Callable[[Family], Value],
) -> Value:
    """``known[root]``, filling ``known`` from the earliest families on.  Iterative: programs may be thousands of layers deep."""
    stack = [root]
    while stack:
        current = stack[-1]
        pending = [] if current in known else [family for family in earlier(current) if family not in known]
        if pending:
            stack.extend(pending)
            continue
        stack.pop()
        if current not in known:
            known[current] = compute(current)
    return known[root]


class Randomness:
    """Which families depend on random scalars (in the end on scores and random scalars among the inputs: both are called scores here)."""

    def __init__(self) -> None:
        self._scores: dict[Family, frozenset[Family]] = {}

    def scores(self, family: Family) -> frozenset[Family]:
        """The scores that ``family`` is a function of; a score counts for itself."""
        return bottom_up(family, self._scores, uses, self._find)

    def _find(self, family: Family) -> frozenset[Family]:
        found = frozenset().union(*(self._scores[used] for used in uses(family)))
        return found | {family} if family.is_sampled else found


def own_axes(reference: Coord | ScalarRef) -> tuple[Index, ...]:
    """The index variables among the subscripts of a reference."""
    return tuple(dict.fromkeys(part for s in reference.subscripts for part in walk(s) if isinstance(part, Index)))
