"""Rules of plug-ins: a Haar matrix in about thirty lines, its limit, its draw, and what is refused."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import netsor
from netsor.rules import VectorRule
from netsor.testing import check_rule

HAAR = '''
"""A Haar-distributed orthogonal matrix times a vector."""
import numpy as np

import netsor
from netsor.rules import VectorRule


class Haar(VectorRule):
    """Q x with Q uniform on the orthogonal group: the same limit as a Gaussian matrix of variance 1/n."""

    name = "haar"
    statement = "Cov(Z^{Qx}, Z^{Qy}) = E[Z^x Z^y]"
    citation = "Yang 2020, arXiv:2009.10685 (Tensor Programs III), for rotationally invariant matrices"

    def limit(self, kernel):
        return kernel

    def draw(self, vectors, rng):
        n = vectors.shape[1]
        q, r = np.linalg.qr(rng.standard_normal((n, n)))
        return vectors @ (q * np.sign(np.diag(r))).T


netsor.register_rule(Haar())
'''

PROGRAM = """
width n
index i in 1..2
input h[i] ~ N(0, 1)
x[i] = relu(h[i])
y[i] = haar(x[i])
z[i] = relu(y[i])
m = avg(y[1] * y[2])
output y, m
"""


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "haar.py"
    path.write_text(textwrap.dedent(HAAR))
    return path


def test_a_plugin_rule_enters_the_limit(plugin):
    limit = netsor.parse(PROGRAM, plugins=[plugin]).limit()
    assert limit["y"].law == "gaussian"
    np.testing.assert_allclose(limit["y"].cov.value, [[0.5, 1 / (2 * np.pi)], [1 / (2 * np.pi), 0.5]], rtol=1e-14)
    np.testing.assert_allclose(limit["m"].mean.value, 1 / (2 * np.pi), rtol=1e-14)


def test_a_plugin_rule_stands_in_blocks(plugin):
    """One draw of the rule for each call, for all elements that are carried."""
    program = PROGRAM.replace("y[i] = haar(x[i])", "block turned(v):\n  w = haar(v)\n  return w\ny[i] = turned(x[i])")
    one, other = (netsor.parse(text, plugins=[plugin]).limit()["y"].cov.value for text in (program, PROGRAM))
    np.testing.assert_array_equal(one, other)


def test_a_plugin_rule_is_drawn_once_for_elements_that_are_defined_apart(plugin):
    """E[relu(h1) (h2 + h1)] = 1/2, and not 0 as for two draws; more in test_draws_of_plugin_rules.py."""
    whole = PROGRAM.replace("x[i] = relu(h[i])", "x[1] = relu(h[1])\nx[2] = h[2] + h[1]")
    block = whole.replace("y[i] = haar(x[i])", "block turned(v):\n  w = haar(v)\n  return w\ny[i] = turned(x[i])")
    for text in (whole, block):
        limit = netsor.parse(text, plugins=[plugin]).limit()
        np.testing.assert_allclose(limit["y"].cov.value, [[0.5, 0.5], [0.5, 2]], rtol=1e-12)


def test_a_plugin_rule_has_a_finite_width(plugin):
    """200 runs at n = 32: y'y/n has mean 1/2 exactly (Q keeps norms); 5 sigma."""
    runs = netsor.parse(PROGRAM, plugins=[plugin]).sample(32, 200, seed=3, method="dense", coordinates=None)["y"]
    norms = np.mean(runs**2, axis=(1, 2))
    assert abs(norms.mean() - 0.5) < 5 * norms.std() / np.sqrt(200)


class Rademacher(VectorRule):
    """Signs drawn for every coordinate: not Gaussian over runs."""

    name, statement, citation = "signs", "…", "none"

    def limit(self, kernel):
        return kernel

    def draw(self, vectors, rng):
        return vectors * rng.choice([-1.0, 1.0], size=vectors.shape[1])


class Wrong(VectorRule):
    """A limit that is 10 % off."""

    name, statement, citation = "wrong", "…", "none"

    def limit(self, kernel):
        return 1.1 * kernel

    def draw(self, vectors, rng):
        n = vectors.shape[1]
        return vectors @ (rng.standard_normal((n, n)) / np.sqrt(n))


class Right(Wrong):
    """The same draw with its right limit."""

    name = "right"

    def limit(self, kernel):
        return kernel


def test_check_rule_accepts_a_right_rule_and_finds_wrong_ones():
    check_rule(Right())
    with pytest.raises(AssertionError, match="second moments"):
        check_rule(Wrong())
    with pytest.raises(AssertionError, match="not Gaussian"):
        check_rule(Rademacher())


def test_an_incomplete_rule_is_refused_with_what_is_missing():
    with pytest.raises(TypeError, match="no 'limit'.*covariance of two results"):
        class Half(VectorRule):  # noqa: F841
            name, statement, citation = "half", "…", "none"

            def draw(self, vectors, rng):
                return vectors


def test_a_plugin_that_fails_is_one_sentence(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import nonexistent_module\n")
    with pytest.raises(netsor.PluginError, match="broken.py could not be loaded: ModuleNotFoundError"):
        netsor.parse("width n\ninput x ~ N(0, 1)\noutput x\n", plugins=[path])


def test_a_limit_that_the_plugin_does_not_call_proved_is_an_extension(plugin):
    theorem = netsor.parse(PROGRAM, plugins=[plugin]).limit().theorem
    assert not theorem.proved
    assert "2009.10685" in theorem.name and "haar" in theorem.reason
