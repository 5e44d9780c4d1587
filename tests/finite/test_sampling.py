"""Runs of exact sampling: reproducible, whatever the chunks and workers; interruptions; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import netsor
from netsor.finite import blocks, sampling
from netsor.finite.plan import make_plan

PROGRAM = """
width n
index i, j in 1..2
input h[i] ~ N(0, 1)
matrix WQ, WK, WV ~ N(0, 1/n)
x[i]   = tanh(h[i])
p[i,j] = dot(WQ @ x[i], WK @ x[j]) / sqrt(n)
y[i]   = x[i] + sum(softmax(p[i,j] for j) * (WV @ x[j]) for j)
output p, y
"""


@pytest.fixture
def program():
    return netsor.parse(PROGRAM)


def test_shapes_follow_the_recorded_coordinates(program):
    one, three, all_of_them = (program.sample(9, 5, coordinates=k) for k in (1, 3, None))
    assert [runs["p"].shape for runs in (one, three, all_of_them)] == [(5, 2, 2)] * 3
    assert [runs["y"].shape for runs in (one, three, all_of_them)] == [(5, 2, 1), (5, 2, 3), (5, 2, 9)]


def test_more_runs_begin_with_the_same_ones(program):
    few, many = program.sample(8, 3, seed=4), program.sample(8, 700, seed=4)
    assert all(np.array_equal(few[name], many[name][:3]) for name in few)
    assert not np.array_equal(many["y"][:3], program.sample(8, 3, seed=5)["y"])
    assert len(np.unique(many["y"])) == many["y"].size  # no block repeats another


@pytest.mark.parametrize("backend", [None, "threading"])
def test_the_same_runs_whatever_the_number_of_workers(program, backend, monkeypatch):
    monkeypatch.setattr(sampling, "WORTH_WORKERS", 0.0)
    alone = program.sample(8, 1000, seed=2, workers=1)
    together = program.sample(8, 1000, seed=2, workers=2, backend=backend)
    assert all(np.array_equal(alone[name], together[name]) for name in alone)


def test_processes_know_the_plugins(tmp_path, monkeypatch):
    path = tmp_path / "plugin.py"
    path.write_text('''
import netsor
from netsor.rules import VectorRule

class Twice(VectorRule):
    name, statement, citation = "twice_fresh", "Cov = 4 K", "none"
    def limit(self, kernel):
        return 4 * kernel
    def draw(self, vectors, rng):
        n = vectors.shape[1]
        return vectors @ rng.normal(0, 2 / n**0.5, (n, n))

netsor.register_rule(Twice())
''')
    program = netsor.parse("width n\ninput x ~ N(0, 1)\ny = twice_fresh(x)\noutput y\n", plugins=[path])
    monkeypatch.setattr(sampling, "WORTH_WORKERS", 0.0)
    alone, together = (program.sample(8, 600, workers=workers)["y"] for workers in (1, 2))
    assert np.array_equal(alone, together)


def test_what_cannot_be_sent_to_a_process_is_drawn_here(program, monkeypatch):
    def refuse(*arguments):
        raise TypeError("cannot pickle")
        yield

    monkeypatch.setattr(sampling, "WORTH_WORKERS", 0.0)
    monkeypatch.setattr(sampling, "_parallel", refuse)
    assert program.sample(8, 600)["y"].shape == (600, 2, 1)


def test_an_interrupted_run_keeps_what_is_done(program):
    def interrupt(done, total):
        assert total == 2000
        if done >= 500:
            raise KeyboardInterrupt

    runs = program.sample(8, 2000, progress=interrupt, workers=1)
    whole = program.sample(8, 2000, workers=1)
    assert 500 <= len(runs["y"]) < 2000
    assert all(np.array_equal(runs[name], whole[name][: len(runs[name])]) for name in runs)


def test_progress_ends_with_all_runs(program):
    seen = []
    program.sample(8, 600, progress=lambda done, total: seen.append((done, total)), workers=1)
    assert seen[-1] == (600, 600) and seen == sorted(seen)


def test_memory_is_bounded(program):
    """Blocks shrink as the width grows, and do not depend on the number of runs."""
    plan = make_plan(program.ir)
    sizes = [blocks.block_size(plan, n, 1) for n in (10, 10**4, 10**6)]
    numbers = [blocks.numbers_per_run(plan, n, 1) for n in (10, 10**4, 10**6)]
    assert sizes[0] == blocks.MAX_BLOCK and sizes[-1] == 1
    assert all(8 * size * count <= blocks.BLOCK_BYTES for size, count in zip(sizes[:2], numbers))


@pytest.mark.parametrize("arguments", [
    dict(width=0, runs=1), dict(width=4, runs=0), dict(width=4, runs=1, coordinates=5), dict(width=4, runs=1, coordinates=0),
    dict(width=4, runs=1, workers=0), dict(width=4, runs=1, method="fast"),
])
def test_arguments_that_make_no_sense_are_refused(program, arguments):
    with pytest.raises(ValueError):
        program.sample(**arguments)


def test_infinite_parameters_are_refused():
    program = netsor.parse(
        "width n\nparam H = inf\nindex a in 1..H\ninput x ~ N(0, 1)\nmatrix W[a] ~ N(0, 1/n)\n"
        "y = sum(W[a] @ x for a) / sqrt(H)\noutput y\n")
    with pytest.raises(ValueError, match="H must be finite"):
        program.sample(8, 1)


@pytest.mark.parametrize("again", ["", "u = W @ y\noutput u\n"])
def test_very_large_small_and_overflowing_vectors(again):
    """Squares of 1e250 and 1e-250 are no numbers, but these vectors and their products are; what overflows stays by itself."""
    program = netsor.parse(
        "width n\nindex i in 1..3\ninput x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ndata S[3] = [1e250, 1e-250, 1]\n"
        "y[i] = W @ (S[i] * tanh(x))\nz = W @ exp(1e9 * abs(x))\noutput y, z\n" + again.replace("y", "(S[2] * y[1])"))
    runs = program.sample(4, 4000)
    sizes = np.median(np.abs(runs["y"]), axis=0)[:, 0]
    assert np.allclose(sizes / sizes[2], [1e250, 1e-250, 1], rtol=1e-6)
    assert np.allclose(runs["y"][:, 0], 1e250 * runs["y"][:, 2], rtol=1e-6)
    assert not np.isfinite(runs["z"]).any()


@pytest.mark.parametrize("what", ["simulate", "compare"])
def test_what_is_estimated_does_not_depend_on_the_number_of_workers(program, monkeypatch, what):
    from netsor import compare

    monkeypatch.setattr(sampling, "WORTH_WORKERS", 0.0)
    if what == "simulate":
        one, three = (compare.simulate(program, 8, 600, workers=k).as_dict() for k in (1, 3))
    else:
        one, three = (compare.compare(program, (8, 16), 600, samples=512, workers=k).as_dict() for k in (1, 3))
    assert one == three
