"""The rules: one file a rule, with its kinds, its limit, its finite-width value and its citation."""

from __future__ import annotations

from netsor.ir.program import Family
from netsor.rules.base import AtomRule, GaussianRule, Rule, Source
from netsor.rules.given import GivenRule
from netsor.rules.iid import IidRule
from netsor.rules.matmul import MatMulRule
from netsor.rules.moment import MomentRule
from netsor.rules.nonlin import NonlinRule
from netsor.rules.random_scalar import RandomScalarRule
from netsor.rules.scalar import ScalarRule
from netsor.rules.score import ScoreRule
from netsor.rules.vector import VectorRule

_RULES: dict[type, Rule] = {
    rule.definition: rule for rule in (GivenRule(), IidRule(), MatMulRule(), NonlinRule(), MomentRule(), ScoreRule(), RandomScalarRule(), ScalarRule())
}


def rule_of(family: Family) -> Rule:
    """The rule that reads the definition of ``family``."""
    definition = family.definition
    return definition.rule if hasattr(definition, "rule") else _RULES[type(definition)]


__all__ = ["AtomRule", "GaussianRule", "Rule", "Source", "VectorRule", "rule_of"]
