"""Plug-ins that fail, lie or return nonsense: an error that names the plug-in, and not a number."""

import textwrap

import numpy as np
import pytest

import netsor

NONLINEARITY = """
import math
from netsor.nonlinearities import Nonlinearity, register

class Wild(Nonlinearity):
    name, citation, growth, strip = {name!r}, "none", "bounded", math.inf
    def function(self, x): {function}
    def derivative(self, x): return 0*x
    def kinks(self): return ()

register(Wild())
"""
RULE = """
import netsor
from netsor.rules import VectorRule

class Wild(VectorRule):
    name, statement, citation = {name!r}, "none", "none"
    def limit(self, kernel): {limit}
    def draw(self, vectors, rng): return vectors

netsor.register_rule(Wild())
"""
PROGRAM = "width n\nindex i in 1..3\ninput h[i] ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nx[i] = W @ {name}(h[i])\noutput x"


def limit_with(source: str, name: str, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(source))
    return netsor.parse(PROGRAM.format(name=name), plugins=[path]).limit()


@pytest.mark.parametrize("name, function", [
    ("raises", "raise RuntimeError('no')"), ("divides", "return 1 // 0"), ("nothing", "return None"), ("scalar", "return 1.0"),
    ("short", "return x[:1].ravel()[:1]"), ("text", "return 'one'"), ("complexes", "return x + 1j"), ("undefined", "return x * math.nan"),
    ("infinite", "return x + math.inf"), ("recursive", "return self.function(x)"),
])
def test_nonlinearities(name, function, tmp_path):
    with pytest.raises((netsor.NetsorError, netsor.PluginError), match=name):
        limit_with(NONLINEARITY.format(name=f"{name}_wild", function=function), f"{name}_wild", tmp_path)


def test_a_nonlinearity_that_changes_its_argument_changes_a_copy(tmp_path):
    source = NONLINEARITY.format(name="greedy_wild", function="x *= 2; return x / 2 + 0*x")
    assert limit_with(source, "greedy_wild", tmp_path)["x"].var.value == pytest.approx(np.ones(3))


SLOPED = """
import math
import numpy as np
from netsor.nonlinearities import Nonlinearity, register

class Sloped(Nonlinearity):
    name, citation, growth, strip = {name!r}, "none", "bounded", math.inf
    def function(self, x, c=0.5): return np.sin(c * x)
    def derivative(self, x, c): return c * np.cos(c * x)
    def kinks(self, c): return ()
    def parity(self, c): return -1
    def slope(self, z, of, c): {slope}

register(Sloped())
"""


@pytest.mark.parametrize("name, slope", [
    ("of_numbers_only", "return math.sqrt(c * c) * of('cos', c * z)"), ("of_arrays_only", "return c * np.cos(c * z)"),
    ("worded", "return 'cos'"), ("listed", "return [c]"),
])
def test_a_slope_that_is_no_formula_is_the_plug_ins_fault(name, slope, tmp_path):
    """In a program with a transpose, where slopes are taken of expressions, and in the author's own check."""
    from netsor import nonlinearities
    from netsor.testing import check_nonlinearity

    path = tmp_path / f"{name}.py"
    path.write_text(SLOPED.format(name=name, slope=slope))
    program = f"width n\ninput x ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\ny = W.T @ {name}(W @ x)\noutput y"
    with pytest.raises(netsor.PluginError, match=f"slope of the nonlinearity '{name}'"):
        netsor.parse(program, plugins=[path]).limit()
    with pytest.raises((netsor.PluginError, AssertionError, TypeError, ValueError)):
        check_nonlinearity(nonlinearities.get(name))


@pytest.mark.parametrize("name, limit", [
    ("raises", "raise RuntimeError('no')"), ("nothing", "return None"), ("text", "return 'one'"), ("array", "return [kernel]"),
    ("huge", "return kernel * 10**400"), ("negative", "return kernel * -1"),
])
def test_rules(name, limit, tmp_path):
    with pytest.raises((netsor.NetsorError, netsor.PluginError)):
        limit_with(RULE.format(name=f"{name}_rule", limit=limit), f"{name}_rule", tmp_path)


@pytest.mark.parametrize("source", [
    "raise SystemExit(3)", "import nowhere", "1/0", "def f(:", "\0", "from netsor.nonlinearities import Nonlinearity, register\nregister(3)",
    "import netsor\nnetsor.register_rule(3)",
], ids=lambda source: source[:20].replace("\0", "0"))
def test_files_that_fail(source, tmp_path):
    (tmp_path / "fails.py").write_text(source)
    with pytest.raises(netsor.PluginError, match="fails.py"):
        netsor.parse(PROGRAM.format(name="relu"), plugins=[tmp_path / "fails.py"])
