"""Random programs: the limit agrees with its formulas and with the network at finite width, every matrix drawn in full, or the program is refused
with a reason.

Of a program about 30 moments are compared at 5 standard errors at widths n and 2n.  One that fails is compared again at twice the
width with four times the runs, and then once more; only one that fails three times counts.  A right program does so with
probability below (30 * 6e-7)^3 for Gaussian errors, and far below 1e-6 for the skewed ones that products have; all programs together
below 1e-3.  What is wrong by 10 % in a vector's moment, or by half in the variance of a score, is seen in almost all cases.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from generator.compare import STAGES, Outcome, outcome, with_outputs
from generator.programs import program
from generator.shrink import smallest

from netsor.ir.kernel import Kernel
from netsor.rules.matmul import MatMulRule

QUICK = (0, 1023, 1042, 1055)
ALL, CHUNK = 500, 25


def check(seeds: Iterable[int]) -> None:
    outcomes = {seed: outcome(program(seed)) for seed in seeds}
    failed = [seed for seed, found in outcomes.items() if not found.fine]
    assert not failed, described(failed, outcomes)
    agreed = sum(found.kind == "agrees" for found in outcomes.values())
    assert agreed >= len(outcomes) / 2, "otherwise only refusals would be tested"


def described(failed: list[int], outcomes: dict[int, Outcome]) -> str:
    """The first failure of each kind as the smallest program that fails in the same way."""
    first = {outcomes[seed].kind: seed for seed in reversed(failed)}
    parts = [f"{len(failed)} of {len(outcomes)} programs fail, seeds {failed}"]
    for kind, seed in first.items():
        statements, found = smallest(program(seed), outcomes[seed])
        parts.append(f"seed {seed}: {kind}\n{found.detail}\n--- program\n{with_outputs(statements)}---")
    return "\n\n".join(parts)


def test_some_random_programs():
    check(QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, ALL, CHUNK))
def test_many_random_programs(start):
    check(range(start, start + CHUNK))


STATEMENTS = [
    "width n", "index i, j, k in 1..2", "input x0[i] ~ N(0, 1)", "matrix W1 ~ N(0, 1/n)", "matrix W2 ~ N(0, 1/n)",
    "h1[i] = relu(W2 @ x0[i])", "g1[i] = W1 @ h1[i]", "g2[i] = W1 @ relu(x0[i])", "h2[i] = tanh(x0[i])", "s1[i] = g1[i] + g2[i]",
    "input v1 ~ N(0, 1)", "p1[i] = dot(v1, h2[i]) / sqrt(n)",
]


def test_a_limit_that_forgets_shared_matrices_is_found_and_the_program_made_small(monkeypatch):
    """The covariance of two products with W1 is 1/(2 pi) or more, and 0 if each has a matrix of its own."""
    assert outcome(STATEMENTS).kind == "agrees"
    right = MatMulRule.covariance
    monkeypatch.setattr(
        MatMulRule, "covariance", lambda self, left, right_, moment: right(self, left, right_, moment)
        if left.family is right_.family else Kernel())
    failure = outcome(STATEMENTS, STAGES[:1])
    assert failure.kind == "limit and finite width disagree" and failure.detail.startswith("s1")
    statements, failure = smallest(STATEMENTS, failure)
    assert len(statements) == 9 and "p1" not in with_outputs(statements)


def test_what_is_no_message_is_found():
    assert outcome(["width n", "index i in 1..2", "input x0[i] ~ N(0, 1)", "y[i] = x0[i] + z"]).kind.startswith("refused for a reason")
