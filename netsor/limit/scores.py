"""Score groups: scores that are correlated given the rest, and the structure of their covariance.

Two scores belong together when their cross covariance E[Z^u Z^v Z^{u'} Z^{v'}] is not zero.  In a *bilinear* group the left vectors
of all members are independent of all right vectors, so that Cov(p, p') = E[uu'] E[vv'] and the scores are L Xi R^T with
independent standard normal Xi: the s^2 x s^2 covariance is never formed.  Any other group is treated as one Gaussian vector, which
is the same thing with a trivial right side.  Axes along which elements are independent (heads) are *batch* axes of the group.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from netsor.ir.expressions import ONE, Coord, Expr, Index, Num, ScalarRef
from netsor.ir.facts import own_axes
from netsor.ir.kernel import Kernel
from netsor.ir.program import Family, Score
from netsor.ir.rewrite import substitute
from netsor.limit.fresh_factor import FreshFactors
from netsor.limit.recursion import Recursion, copy
from netsor.rules import rule_of


@dataclass(eq=False)
class Side:
    """One side of a member: its rows are the values of ``axes``.

    ``grams[k]`` is the Gram of these rows with the rows of the k-th *strip* before it, the last one with itself; rows that an
    earlier member has already are not drawn again (``reuses``)."""

    reference: Coord | None
    axes: tuple[Index, ...] = ()
    grams: list[Expr] = field(default_factory=list)
    reuses: "Side | None" = None


@dataclass(eq=False)
class Member:
    """A score of a group.  ``batch`` are its axes along the group's batch classes."""

    family: Family
    left: Side
    right: Side
    batch: tuple[Index, ...] = ()


@dataclass(eq=False)
class Group:
    """Scores drawn together, in program order."""

    members: list[Member]
    bilinear: bool

    @property
    def families(self) -> list[Family]:
        return [member.family for member in self.members]


class NotIndependent(Exception):
    """Scores along an infinite axis are not independent given the rest."""

    def __init__(self, family: Family, axis: Index):
        self.family, self.axis = family, axis


def score_covariance(left: Family, right: Family, recursion: Recursion) -> Kernel:
    """Cov of two score families over the "x" copies of the first one's axes and the "y" copies of the second one's."""
    return covariance_of_scores(_element(left, "x"), _element(right, "y"), recursion)


def covariance_of_scores(left: ScalarRef, right: ScalarRef, recursion: Recursion) -> Kernel:
    """Cov of two elements, scores or random scalars."""
    rules = rule_of(left.family), rule_of(right.family)
    return rules[0].covariance(left, right, recursion.moment) if rules[0] is rules[1] else Kernel()


def find_groups(scores: list[Family], recursion: Recursion, factors: FreshFactors) -> list[Group]:
    """The groups of a program's scores (each must have a fresh factor) and random scalars, by first member."""
    fresh = {score: factors.of(score) for score in scores if isinstance(score.definition, Score)}
    linked: list[list[Family]] = []
    for score in scores:
        own = [group for group in linked if any(_linked(score, other, fresh, recursion) for other in group)]
        linked = [group for group in linked if group not in own]
        linked.append([member for group in own for member in group] + [score])
    linked.sort(key=lambda group: min(member.order for member in group))
    return [_structure(sorted(group, key=lambda f: f.order), recursion) for group in linked]


def _linked(score: Family, other: Family, fresh: dict, recursion: Recursion) -> bool:
    if score not in fresh or other not in fresh:
        return False  # a random scalar among the inputs depends on nothing else
    sides = (other.definition.left.family, other.definition.right.family)
    if not any(fresh[score].meets(source) for side in sides for source in recursion.sources.of(side)):
        return False
    return not score_covariance(score, other, recursion).is_zero


def _element(family: Family, side: str) -> ScalarRef:
    return ScalarRef(family, tuple(copy(axis, side) for axis in family.axes))


# --- structure of one group ------------------------------------------------------------------------------------------


def _structure(families: list[Family], recursion: Recursion) -> Group:
    oriented = _orient(families, recursion)
    if oriented is not None:
        kernels = [
            {(p, q): _gram(p, oriented[p][side], q, oriented[q][side], recursion) for k, p in enumerate(families)
             for q in families[: k + 1]}
            for side in (0, 1)
        ]
    else:
        one = Kernel.of(ONE)
        pairs = [(p, q) for k, p in enumerate(families) for q in families[: k + 1]]
        kernels = [{pair: score_covariance(*pair, recursion) for pair in pairs}, {pair: one for pair in pairs}]
    classes = _batch_classes(families, kernels)
    group = Group([], oriented is not None)
    for family in families:
        batch = tuple(own[family] for own in classes)
        for axis in family.axes:
            if axis.range.infinite and axis not in batch:
                raise NotIndependent(family, axis)
        rest = tuple(axis for axis in family.axes if axis not in batch)
        if oriented is None:
            left, right = Side(None, rest), Side(None)
        else:
            left, right = (
                Side(reference, tuple(axis for axis in own_axes(reference) if axis in rest))
                for reference in oriented[family]
            )
        group.members.append(Member(family, left, right, batch))
    for side in (0, 1):
        _fill_grams(group, side, kernels[side])
    return group


def _orient(families: list[Family], recursion: Recursion) -> dict[Family, tuple[Coord, Coord]] | None:
    """Left and right side of every member such that all left ones are independent of all right ones; None if there is no such way."""
    if not isinstance(families[0].definition, Score):
        return None
    meet = recursion.sources.meet
    chosen: dict[Family, tuple[Coord, Coord]] = {}
    for family in families:
        u, v = family.definition.left, family.definition.right
        straight = any(meet(u.family, l.family) or meet(v.family, r.family) for l, r in chosen.values())
        crossed = any(meet(u.family, r.family) or meet(v.family, l.family) for l, r in chosen.values())
        if straight and crossed:
            return None
        chosen[family] = (v, u) if crossed else (u, v)
    lefts, rights = zip(*chosen.values())
    if any(meet(left.family, right.family) for left in lefts for right in rights):
        return None
    return chosen


def _gram(p: Family, u: Coord, q: Family, v: Coord, recursion: Recursion) -> Kernel:
    at = lambda family, reference, side: substitute(reference, {a: copy(a, side) for a in family.axes})  # noqa: E731
    return recursion.moment(at(p, u, "x"), at(q, v, "y")).limit()


def _batch_classes(families: list[Family], kernels: list[dict]) -> list[dict[Family, Index]]:
    """Axes along which the group falls into independent parts: for each class the axis of every member."""

    def forced(p: Family, axis: Index, q: Family, other: Index) -> bool:
        equality = frozenset((copy(axis, "x"), copy(other, "y")))
        return any(kernel[p, q].terms and all(equality in held for held, _ in kernel[p, q].terms) for kernel in kernels)

    def unrelated(p: Family, q: Family) -> bool:
        return any(kernel[p, q].is_zero for kernel in kernels)

    first = families[0]
    classes = [{first: axis} for axis in first.axes if forced(first, axis, first, axis)]
    for k, family in enumerate(families[1:], 1):
        earlier = [other for other in families[:k] if not unrelated(family, other)]
        kept = []
        for own in classes:
            matching = [
                axis for axis in family.axes
                if earlier and forced(family, axis, family, axis)
                and all(forced(family, axis, other, own[other]) for other in earlier)
            ]
            if matching:
                kept.append({**own, family: matching[0]})
        classes = kept
    return classes


def _fill_grams(group: Group, side: int, kernels: dict) -> None:
    """The Grams of each side with the strips before it."""
    strips: list[tuple[Member, Side]] = []
    for member in group.members:
        own = (member.left, member.right)[side]
        if group.bilinear or side == 1:  # the left rows of a dense group are the scores themselves, all different
            own.reuses = next((s for m, s in strips if _same_rows(member, own, m, s)), None)
        if own.reuses is not None:
            continue
        strips.append((member, own))
        for other, _ in strips:
            names = {copy(b, "y"): copy(a, "x") for a, b in zip(member.batch, other.batch)}
            own.grams.append(kernels[member.family, other.family].substitute(names).expression())


def _same_rows(member: Member, own: Side, other: Member, side: Side) -> bool:
    """Whether the rows of two sides are the same vectors in the same order."""
    if own.reference is None or side.reference is None:
        return own.reference is side.reference and not own.axes and not side.axes
    names = dict(zip(own.axes + member.batch, side.axes + other.batch))
    if len(own.axes) != len(side.axes) or any(a.range != b.range for a, b in names.items()):
        return False
    plain = all(isinstance(term, (Index, Num)) for term in own.reference.subscripts)
    return plain and substitute(own.reference, names) == side.reference
