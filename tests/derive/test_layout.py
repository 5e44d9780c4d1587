"""Displayed formulas are broken over lines."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from netsor.api import load
from netsor.derive.printing.latex import equations
from netsor.derive.printing.layout import LINE, aligned, widest
from netsor.derive.printing.tex_nodes import parse, render, width

PROGRAMS = Path(__file__).parents[2] / "programs"
LONG = " + ".join(rf"A_{{{k},i,j}} K_{{j,j'}}" for k in range(12))


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.netsor")), ids=lambda path: path.stem)
def test_no_formula_is_wider_than_the_page(path):
    for statement in load(path).derive().lines:
        assert widest(equations(statement)) <= LINE + 5, statement.left


@pytest.mark.parametrize("tex", [
    r"\frac{1}{2 \pi} \left(\sqrt{1 - \rho^{2}} + \left(\pi - \arccos{\left(\rho \right)}\right) \rho\right)", r"-x_{i}'^{2}", LONG,
    r"\mathbb{E}\left[u\;;\;(u,v)\sim\mathcal{N}\left(0,\begin{pmatrix}1&\rho\\\rho&1\end{pmatrix}\right)\right]"])
def test_reading_a_formula_changes_nothing(tex):
    assert render(parse(tex)).replace(" ", "") == tex.replace(" ", "")


def test_a_short_formula_stays_on_its_line():
    assert aligned([("k", r"-\frac{3 x}{y} - 3", "")]) == r"k &= -\frac{3 x}{y} - 3"


def test_a_sum_is_broken_at_its_signs_and_lines_are_filled():
    first, *others = aligned([("K", LONG, "")], 300).split(" \\\\\n")
    assert first.startswith("K &= A_{0,i,j}")
    assert others and all(line.startswith(r"&\quad {} + A_") for line in others)
    assert 12 > sum(line.count("K_") for line in (first, *others[:-1])) >= 4 * len(others)


@pytest.mark.parametrize("formula, sign", [(rf"c \left({LONG}\right)^{{2}}", r"\bigl("), (rf"\frac{{{LONG}}}{{2 \pi}}", r"\frac{1}{2 \pi} \bigl("),
                                           (rf"\sqrt{{{LONG}}}", r"\bigr)^{1/2}"), (rf"\frac{{{LONG}}}{{{LONG}}}", r"\Big/")])
def test_brackets_fractions_and_roots_are_opened(formula, sign):
    found = aligned([("K", formula, "")], 300)
    assert sign in found and r"\left" not in found
    assert widest(found) <= 305


def test_factors_are_broken_between_and_functions_keep_their_arguments():
    argument = r"\left(" + "+".join(f"x_{{{k}}}" for k in range(5)) + r"\right)"
    found = aligned([("K", " ".join(rf"\operatorname{{relu}}{argument}" for _ in range(4)), "")], 300)
    assert r"{}\times \operatorname{relu}\left(" in found and widest(found) <= 305


def test_a_wide_left_side_has_a_line_of_its_own():
    left = rf"\operatorname{{Cov}}\left({LONG[:60]},\,y_{{i'}}\right)"
    assert aligned([(left, "x", "")], 300).startswith("&")


def test_unbalanced_brackets_are_left_alone():
    assert aligned([("K", r"\left(x", "")]) == r"K &= \left(x"


FORMULAS = [
    r"\sum_{a,j} A_{a,i',j} A_{a,i,j}", r"\frac{\sqrt{K_{i',i'} K_{i,i}} \left(\pi - \arccos{\left(\rho^{K}_{i',i} \right)}\right)}{2 \pi}",
    r"\mathbb{E}\left[\operatorname{relu}\left(u + v\right)\;;\;(u,v)\sim\mathcal{N}\left(0,\begin{pmatrix}1&\rho\\\rho&1\end{pmatrix}\right)\right]"]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_widths_are_near_those_of_tex(tmp_path):
    boxes = "".join(rf"\setbox0=\hbox{{$\displaystyle {tex}$}}\typeout{{width \the\wd0}}" for tex in FORMULAS)
    source = rf"\documentclass{{article}}\usepackage{{amsmath,amssymb}}\begin{{document}}{boxes}\end{{document}}"
    (tmp_path / "widths.tex").write_text(source, encoding="utf-8")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "widths.tex"], cwd=tmp_path, capture_output=True, text=True, errors="replace")
    measured = [float(found) for found in re.findall(r"^width ([\d.]+)pt", done.stdout, flags=re.MULTILINE)]
    ratios = [width(parse(tex)) / own for tex, own in zip(FORMULAS, measured, strict=True)]
    assert all(0.95 < ratio < 1.2 for ratio in ratios), ratios
