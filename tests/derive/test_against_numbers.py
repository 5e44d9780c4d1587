"""Formulas and numbers agree: every equation of a derivation, evaluated from its formula, against the numeric engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from netsor.derive import Derivation
from netsor.derive.names import Letters, Names
from netsor.derive.printing.text import left_side, text
from netsor.derive.statement import Covariance, Statement
from netsor.ir.labelled import Labelled, arrange
from netsor.language import load_program
from netsor.language.source import Source
from netsor.limit.analysis import Analysis
from netsor.limit.numbers import Numbers
from netsor.limit.recursion import copy
from netsor.rules import rule_of

PROGRAMS = Path(__file__).parents[2] / "programs"


def numbers_of(program, scores: dict) -> dict[str, np.ndarray]:
    """Covariances of scores and of outputs given the scores, by the numeric engine, under the names that derivations use."""
    analysis = Analysis(program)
    recursion = analysis.recursion
    context = Numbers(recursion, analysis.levels).with_samples()
    for family, values in scores.items():
        context.scores[family] = Labelled(values, family.axes)
    names, found = Names(), {}

    def add(one, other, kernel, joint: bool = False) -> None:
        scores = analysis.randomness.scores(one) | analysis.randomness.scores(other)
        if any(axis.range.infinite for score in scores for axis in score.axes):
            return  # an average over infinitely many scores
        letters = Letters()
        pair = [(one, "x"), (other, "y")]
        axes = [tuple(copy(axis, side) for axis in family.axes) for family, side in pair]
        elements = [names.element(family, [letters.of(axis) for axis in own]) for (family, _), own in zip(pair, axes)]
        expression = kernel(*[family[own] for (family, _), own in zip(pair, axes)]).limit().expression()
        context.prepare(expression)
        value = context.evaluate(expression)
        flat = axes[0] + axes[1]
        given = sorted(analysis.randomness.scores(one) | analysis.randomness.scores(other), key=lambda f: f.order)
        scores = () if joint else tuple(dict.fromkeys(names.family(family) for family in given if family not in (one, other)))
        key = left_side(Statement("outputs", Covariance(*elements), None, "", given=scores))
        found[key] = arrange(value, flat, {axis: axis.range.size for axis in flat})

    for group in analysis.groups:
        for k, one in enumerate(group.families):
            for other in group.families[: k + 1]:
                add(one, other, lambda p, q: rule_of(p.family).covariance(p, q, recursion.moment), joint=k > 0)
    for output in analysis.program.outputs:
        families = list(dict.fromkeys(part.reference.family for part in output.parts))
        for k, one in enumerate(families if output.is_vector else []):
            for other in families[: k + 1]:
                add(one, other, recursion.covariance)
    for output in analysis.program.outputs:
        for part in output.parts if not output.is_vector else ():
            family = part.reference.family
            if not analysis.randomness.scores(family):
                letters = Letters()
                key = text(names.element(family, [letters.of(axis) for axis in family.axes]))
                reference = family.generic
                context.prepare(reference)
                found[key] = arrange(context.evaluate(reference), family.axes, {axis: axis.range.size for axis in family.axes})
    return found


def compare(source, tolerance: float = 1e-10, seed: int = 0, structure: dict | None = None, missing=(), **sizes) -> int:
    """Compare everything that both readings state; the number of equations compared.  ``sizes`` are given to the formulas afterwards,
    ``structure`` (lengths of loops) before.  ``missing`` are the left sides of which the formulas have no number, and no others."""
    structure = structure or {}
    program = load_program(source, settings={**sizes, **structure})
    rng = np.random.default_rng(seed)
    scores = {
        family: rng.standard_normal([axis.range.size for axis in family.axes])
        for family in program.families if family.is_sampled and not any(axis.range.infinite for axis in family.axes)
    }
    expected = numbers_of(program, scores)
    derivation = Derivation(load_program(source, free=True, settings=structure))
    given = {name: value for name, value in program.parameters.items() if value is not None}
    found = derivation.evaluate(given, scores={family.label: values for family, values in scores.items()})
    assert set(expected) - set(found) == set(missing), found.missing
    assert all("quasi-random" in found.missing[name] for name in missing)
    for name in set(expected) - set(missing):
        scale = max(1.0, float(np.max(np.abs(expected[name]))))
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=tolerance * scale, err_msg=name)
    return len(expected) - len(missing)


QUICK = {
    "attention": {}, "attention_causal": {}, "attention_relu": {}, "attention_linear": {}, "attention_tokens": {}, "mlp": {},
    "resnet": {"L": 4}, "readout": {}, "shared_matrix": {}, "rnn": {}, "layer_norm": {}, "transformer_two_layers": {},
    "attention_low_rank": {}, "bottleneck": {}, "graph_convolution": {}, "feed_forward": {}, "decoder": {}, "dropout": {}, "universal_transformer": {},
    "semicircle": {}, "autoencoder": {}, "jacobian": {}, "marchenko_pastur": {},
}


@pytest.mark.parametrize("name", QUICK)
def test_the_formulas_of_a_program_have_its_numbers(name):
    """Each equation about scores and outputs, at random values of the scores, to 1e-10."""
    compare(PROGRAMS / f"{name}.netsor", structure=QUICK[name])


@pytest.mark.parametrize("size", [2, 3, 5])
def test_index_generic_formulas_hold_at_other_sizes(size):
    """Derived once for symbolic s and H, evaluated at sizes that the derivation has not seen."""
    compare(PROGRAMS / "attention.netsor", s=size, H=size - 1, seed=size)
    compare(PROGRAMS / "attention_relu.netsor", s=size, H=2, seed=size)


NOT_CLOSED = """
width n
param s = 3
param sigma = 1.3
index i, j in 1..s
input h[i] ~ N(0, sigma^2)
input b ~ N(0, 0.3)
matrix W, V ~ N(0, 1.7/n)
x[i] = tanh(W @ tanh(h[i]) + b)
z[i] = V @ (x[i] * sigmoid(h[i]))
output z
"""


def test_expectations_without_closed_form_stand_and_evaluate():
    assert compare(Source(NOT_CLOSED)) == 1
    derivation = Derivation(load_program(Source(NOT_CLOSED), free=True))
    assert any("E[tanh(u)*tanh(v); (u, v) ~ N(0" in text(line.right) for line in derivation.statements)


GATED = """
width n
param B = 4
index b, c in 1..B
input x[b] ~ N(0, 1)
matrix U, V ~ N(0, 2/n)
g[b] = max(0, U @ x[b]) * (V @ x[b])
y[b] = U @ (g[b] - mean(g[c] for c))
output y
"""


def test_products_and_means_over_an_index():
    compare(Source(GATED))


MISSING = {
    "batch_norm": ["Cov(y[b], y[b'])"], "film": ["Cov(y[i,q], y[i',q'])"], "lstm": ["Cov(h[2], h[1])", "Cov(h[2], h[2])"],
    "maxout": ["Cov(h1[b], h1[b'])", "Cov(h2[b], h2[b'])", "m[b]"], "message_passing": ["mse[2]"],
    "state_space": [f"Cov(y[{t}], y[{r}])" for t in (2, 3, 4) for r in range(1, t + 1)],
}
"""What needs quasi-random points, and has no number in formulas, by program."""


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.netsor")), ids=lambda path: path.stem)
def test_every_program(path):
    """All programs of the repository at the sizes that they state; those with several variables in an expectation are compared as
    far as quadrature is deterministic."""
    compare(path, tolerance=1e-9, missing=MISSING.get(path.stem, ()))


def test_a_program_without_numbers_says_what_is_missing():
    assert compare(PROGRAMS / "maxout.netsor", missing=MISSING["maxout"]) == 0
    derivation = Derivation(load_program(PROGRAMS / "attention_relu.netsor", free=True))
    found = derivation.evaluate()
    asked = {left_side(each) for each in derivation.statements if each.section not in ("given", "kernels")}
    assert set(found) | set(found.missing) == asked
    assert "p[1,1,1]" in found.missing["A[a,i,j]"] and "expectation over scores" in found.missing["excess kurtosis(y[i])"]
    with pytest.raises(KeyError, match="expectation over scores"):
        found["excess kurtosis(y[i])"]


@pytest.mark.parametrize("name, sizes", [("attention_relu", {"s": 3, "H": 2}), ("attention", {"s": 2, "H": 3}), ("mlp", {"sw2": 1.5})])
def test_numbers_set_before_or_after_the_derivation(name, sizes):
    """Formulas derived with numbers for sizes, and index-generic ones that get these numbers afterwards."""
    path = PROGRAMS / f"{name}.netsor"
    rng = np.random.default_rng(5)
    program = load_program(path, settings=sizes)
    scores = {f.label: rng.standard_normal([axis.range.size for axis in f.axes]) for f in program.families if f.is_sampled}
    before = Derivation(load_program(path, free=True, settings=sizes)).evaluate(scores=scores)
    after = Derivation(load_program(path, free=True)).evaluate(sizes, scores=scores)
    assert set(before) == set(after)
    for key, values in before.items():
        np.testing.assert_allclose(after[key], values, rtol=1e-12, atol=1e-12, err_msg=key)
