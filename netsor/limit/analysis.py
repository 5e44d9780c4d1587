"""The limit of a program before any number: its recursion, score groups, and whether the theorem covers it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from netsor.ir.expressions import ScalarRef
from netsor.ir.facts import Randomness, with_all_they_use
from netsor.ir.kernel import Diverges, NoPower
from netsor.ir.program import Custom, Family, Moment, Program, RandomScalar, Score
from netsor.ir.rewrite import walk
from netsor.language.diagnostics import Diagnostic, NetsorError
from netsor.limit.conditions import infinite_axis_message, score_diagnostics
from netsor.limit.fresh_factor import FreshFactors
from netsor.limit.levels import Level, Levels
from netsor.limit.recursion import Recursion
from netsor.limit.scores import Group, NotIndependent, find_groups
from netsor.rules.transpose import NoCorrection, two_way_products, without_transposes


TRANSPOSES = "Yang 2020, arXiv:2009.10685"


@dataclass(frozen=True)
class Theorem:
    """What a result stands on.  ``proved`` is False for what is an extension, checked by simulation."""

    name: str
    proved: bool
    reason: str


class Analysis:
    """Everything about a program's limit that needs no numbers.  ``program`` is the one without transposes that has the same limit;
    ``whole_kernels``: see :class:`netsor.limit.equations.Equations`.

    :raises NetsorError: N4 diagnostics where the theorem does not cover the program."""

    def __init__(self, program: Program, whole_kernels: bool = False):
        self.program, self.two_way = _rewritten(program)
        self.recursion = Recursion(whole_kernels)
        self.levels = Levels(self.recursion)
        self.randomness: Randomness = self.levels.randomness
        self.scores = [family for family in self.program.families if family.is_sampled]
        self.fresh = FreshFactors(self.recursion.sources, _two_way_behind_scores(program, self.two_way))
        dots = [score for score in self.scores if isinstance(score.definition, Score)]
        found = score_diagnostics(dots, self.recursion, self.levels, self.fresh)
        if found:
            raise NetsorError(found)

    def needed_scores(self) -> list[Family]:
        """The scores that something reported depends on, in program order."""
        references = [part.reference for output in self.program.outputs for part in output.parts]
        references += [argument for expectation in self.program.expectations for argument in expectation.arguments]
        needed = frozenset().union(*(self.randomness.scores(reference.family) for reference in references))
        return [score for score in self.scores if score in needed]

    @cached_property
    def groups(self) -> list[Group]:
        """The groups of the scores that are needed."""
        with self.explained(self.scores[0] if self.scores else None):
            return find_groups(self.needed_scores(), self.recursion, self.fresh)

    def level_of(self, group: Group) -> Level:
        return max(self.levels.of_score(family) for family in group.families)

    def explained(self, family: Family | None) -> "_Explained":
        """A context in which what the recursion cannot do becomes a diagnostic at the definition of ``family``."""
        return _Explained(family)

    @cached_property
    def depth(self) -> dict[Family, int]:
        """The level of every score: 1 for those that depend on no other; 0 for random scalars among the inputs."""
        depth: dict[Family, int] = {}
        for score in sorted(self.scores, key=lambda family: family.order):
            earlier = self.randomness.scores(score) - {score}
            depth[score] = 0 if isinstance(score.definition, RandomScalar) else 1 + max((depth[other] for other in earlier), default=0)
        return depth

    @cached_property
    def theorem(self) -> Theorem:
        """What the limit stands on (theory: one level of scores is proved, several are an extension)."""
        scores = self.needed_scores()
        unproved = [f.definition.rule for f in self.program.families if isinstance(f.definition, Custom) and not f.definition.rule.proved]
        if unproved:
            names = ", ".join(dict.fromkeys(rule.name for rule in unproved))
            sources = "; ".join(dict.fromkeys(rule.citation for rule in unproved))
            return Theorem(f"limit with rules of a plug-in, after {sources}", False, f"its author does not call the limit of {names} proved")
        infinite = any(axis.range.infinite for score in scores for axis in score.axes)
        scores = [score for score in scores if isinstance(score.definition, Score)]
        if not scores and not infinite:
            if self.two_way:
                return Theorem(f"NETSOR⊤ master theorem ({TRANSPOSES})", True, "products with a matrix and its transpose")
            if self._uses_moments():
                return Theorem("NETSOR+ master theorem (Yang 2019, arXiv:1910.12478)", True, "moments enter smoothly")
            return Theorem("NETSOR master theorem (Yang 2019, arXiv:1910.12478)", True, "MatMul, LinComb and Nonlin only")
        levels = max((self.depth[score] for score in scores), default=0)
        attention = "Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846"
        if self.two_way:
            return Theorem(f"random scores beside transposes, after {attention} and {TRANSPOSES}", False,
                           "scores in a program with a matrix and its transpose are an extension, checked by simulation")
        if levels > 1:
            return Theorem(f"sequential conditioning over {levels} levels of scores, after {attention}", False,
                           "several levels of scores are an extension, checked by simulation")
        if infinite:
            return Theorem(f"infinite axis of scores, after {attention} and Hron et al. 2020, arXiv:2006.10540", False,
                           "an infinite axis inside the width limit is an extension")
        return Theorem(f"limit with random scores ({attention})", True, "one level of scores")

    def _uses_moments(self) -> bool:
        return any(
            isinstance(part, ScalarRef)
            for family in self.program.families if family.is_vector and hasattr(family.definition, "body")
            for part in walk(family.definition.body)
        ) or any(isinstance(family.definition, Moment) for family in self.program.families)


def _rewritten(program: Program) -> tuple[Program, dict[Family, Family]]:
    """The program without transposes that has the same limit, and the Gaussian parts of products with matrices used both ways."""
    try:
        return without_transposes(program)
    except NoCorrection as error:
        raise NetsorError(Diagnostic(
            "N406", "the correction term of this product cannot be computed", error.family.span, str(error),
            hint="functions without jumps, and jumps of single products, have an expected derivative")) from error


def _two_way_behind_scores(program: Program, fresh_parts: dict[Family, Family]) -> list[Family]:
    """The Gaussian parts of products with matrices that are used both ways by what scores depend on.  What comes after the scores,
    backpropagation for one, has no bearing on their law."""
    if not fresh_parts:
        return []
    behind = with_all_they_use(family for family in program.families if isinstance(family.definition, Score))
    return [fresh_parts[family] for family in sorted(two_way_products(behind), key=lambda family: family.order)]


class _Explained:
    def __init__(self, family: Family | None):
        self.family = family

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind, error, traceback) -> bool:
        span = None if self.family is None else self.family.span
        if isinstance(error, NotIndependent):
            raise NetsorError(Diagnostic(
                "N404", f"scores along the infinite axis '{error.axis.name}' are not independent of each other", error.family.span,
                hint="give each its own matrix, so that the average over the axis is an expectation",
            )) from error
        if isinstance(error, (Diverges, NoPower)):
            raise NetsorError(Diagnostic("N404", infinite_axis_message(error), span)) from error
        return False
