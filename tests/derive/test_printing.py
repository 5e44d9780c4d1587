"""The forms in which derivations are written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sympy

from netsor.api import load, parse
from netsor.derive.printing.latex import about, latex
from netsor.derive.printing.text import text

PROGRAMS = Path(__file__).parents[2] / "programs"
NAMES = ["attention", "attention_relu", "mlp", "rnn", "layer_norm", "dropout"]


@pytest.fixture(scope="module", params=NAMES)
def derivation(request):
    return load(PROGRAMS / f"{request.param}.netsor").derive()


def test_sympy_code_makes_the_same_formulas(derivation):
    found: dict = {}
    exec(derivation.sympy_code(), found)  # the code that netsor itself wrote
    equations = found["equations"]
    for line in derivation.lines:
        symbol = line.left if line.name is None else line.name
        key = next(key for key in equations if key.split(" | ")[0] == text(symbol).split(" | ")[0].removesuffix(")") or key == text(symbol))
        assert isinstance(equations[key], sympy.Expr)
    assert len(equations) >= len({text(line.symbol) for line in derivation.lines})


def test_json_is_plain_data(derivation):
    found = json.loads(json.dumps(derivation.json()))
    assert [each["right"] for each in found["equations"]] == [text(line.right) for line in derivation.lines]
    assert found["theorem"]["name"] and isinstance(found["theorem"]["proved"], bool)


def test_markdown_has_balanced_formulas(derivation):
    found = derivation.markdown()
    assert found.count("$$") % 2 == 0 and found.count("\\begin{aligned}") == found.count("\\end{aligned}")
    assert derivation._repr_markdown_() == found and "\\documentclass" not in derivation._repr_latex_()


def test_braces_of_latex_are_balanced(derivation):
    found = re.sub(r"\\[{}]", "", derivation.latex())
    assert found.count("{") == found.count("}") and found.count(r"\left") == found.count(r"\right")


@pytest.mark.parametrize("name, expected", [
    ("sigma_w", r"\sigma_{w}"), ("sw2", r"\mathrm{sw}_{2}"), ("α", r"\alpha"), ("x'", "x'"), ("head", r"\mathrm{head}"), ("y_out", r"y_{\mathrm{out}}"), ("p[1]", "p_{1}"),
    ("W f(x)", r"W\,\operatorname{f}(x)"), ("avg(head^2)", r"\operatorname{avg}(\mathrm{head}^{2})"), ("(W s + u)", r"(W\,s+u)"),
    ("x.u.avg", r"\mathrm{x.u.avg}"), ("x.a.p'", r"\mathrm{x.a.p}'"), ("a[b", r"\text{a[b}")])
def test_names_in_latex(name, expected):
    assert about(name) == expected


def test_a_sum_stands_behind_its_factor():
    j, s = sympy.symbols("j s", integer=True, positive=True)
    assert latex(sympy.Sum(sympy.Symbol("x")**j, (j, 1, s)) / s) == r"\frac{1}{s} \sum_{j} x^{j}"


AWKWARD = """
width n
param η = 2
param sigma_w
index β in 1..3
input x[β] ~ N(0, η)
matrix W ~ N(0, sigma_w^2/n)
y_out[β] = W @ max(tanh(x[β]), 0.3) + softplus(W @ x[β]) * x[β]
output y_out
"""


MOST = 3.0  # points


def compiled(source: str, folder: Path) -> str:
    """What pdflatex complains about: errors, and lines that stand out by more than ``MOST`` points."""
    (folder / "formulas.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "formulas.tex"], cwd=folder, capture_output=True, text=True, errors="replace")
    if done.returncode:
        return "\n".join(line for line in done.stdout.splitlines() if line.startswith(("!", "l.")))
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt too wide\).*", done.stdout)
    return ", ".join(f"{points} points too wide" for points in wide if float(points) > MOST)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.netsor")), ids=lambda path: path.stem)
def test_the_latex_of_every_program_compiles_within_its_margins(path, tmp_path):
    assert not compiled(load(path).derive().latex(), tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_awkward_names_compile(tmp_path):
    from netsor.derive import Derivation
    from netsor.language import load_program
    from netsor.language.source import Source

    for steps in (False, True):
        found = Derivation(load_program(Source(AWKWARD), free=True), steps=steps).latex()
        assert not compiled(found, tmp_path)
    assert parse(AWKWARD, sigma_w=1).derive().free == ["η"]


def test_inverse_functions_are_called_as_in_papers():
    found = load(PROGRAMS / "resnet.netsor").derive().latex()
    assert r"\arccos" in found
    assert r"\operatorname{a" not in found


@pytest.mark.parametrize("name, mentioned", [("mean_field", False), ("resnet", True)])
def test_correlations_are_stated_if_a_formula_mentions_them(name, mentioned):
    """E tanh(u) tanh(v) has no closed form, and is not written with the correlation."""
    assert any(line.rule == "correlation" for line in load(PROGRAMS / f"{name}.netsor").derive().lines) == mentioned
