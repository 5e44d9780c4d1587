"""How many samples are taken where none are asked for: fewer where each of them takes long."""

import pytest

from netsor import parse
from netsor.limit.analysis import Analysis
from netsor.limit.outputs import quantity
from netsor.limit.sampling import FEWEST, MOST, Sampler
from netsor.limit.work import DEFAULT_SECONDS, affordable_samples, effort

MIXER = """width n
param P = 3
index t, k in 1..P
input x[t] ~ N(0, 1)
input a[k,t], b[t,k] : 1 ~ N(0, 1/P)
h[k] = gelu(sum(a[k,t]*x[t] for t))
y[t] = x[t] + gelu(sum(b[t,k]*h[k] for k))
output y
"""
ATTENTION = """width n
index i, j in 1..4
input x[i] ~ N(0, 1)
matrix Q, K, V ~ N(0, 1/n)
p[i,j] = dot(Q @ x[i], K @ x[j])/sqrt(n)
y[i] = sum(softmax(p[i,j] for j) * (V @ x[j]) for j)
output y
"""


def parts(text: str):
    analysis = Analysis(parse(text).ir)
    quantities = [quantity(output, analysis) for output in analysis.program.outputs]
    return analysis, Sampler(analysis, samples=None, replicates=16, seed=0), quantities


def test_samples_that_cost_little_are_all_taken():
    analysis, sampler, quantities = parts(ATTENTION)
    assert affordable_samples(analysis, sampler, quantities) == sampler.samples == MOST


@pytest.mark.parametrize("tokens", [3, 4, 6])
def test_samples_that_cost_much_are_as_many_as_twenty_seconds_allow(tokens):
    analysis, sampler, quantities = parts(MIXER.replace("P = 3", f"P = {tokens}"))
    samples, each = affordable_samples(analysis, sampler, quantities), effort(analysis, sampler, quantities, 1).per_sample
    assert FEWEST <= samples < sampler.samples
    assert samples * each <= DEFAULT_SECONDS < 2 * samples * each or samples == FEWEST


def test_what_is_asked_for_is_taken():
    assert parse(MIXER).limit(samples=64)["y"].var.value.shape == (3,)
