"""Processor time of one run at width n, exact and dense.

``python tests/benchmarks/cost_of_a_run.py docs/figures/cost.svg`` measures it over widths, draws the figure of
docs/explanation/how-finite-width-is-drawn.md and prints the numbers (two minutes or so).  One worker, one thread of linear algebra;
processor time, so that other programs on the machine matter little.
"""

from __future__ import annotations

import os
import sys
import time

from threadpoolctl import threadpool_limits

import netsor
from netsor.finite.plan import make_plan
from netsor.finite.blocks import block_size
from netsor.finite.sampling import draw_block

ATTENTION = """
width n
index i, j in 1..4
index a in 1..2
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[i] = clip(h[i], -100, 100)
p[a,i,j] = dot(WQ[a] @ x[i], WK[a] @ x[j]) / sqrt(n)
y[i] = sum(softmax(p[a,i,j] for j) * (WO[a] @ (WV[a] @ x[j])) for a, j) / sqrt(2)
output y
"""

RECURRENCE = """
width n
index t in 1..20
input u[t] ~ N(0, 1)
matrix W ~ N(0, 1/n)
s[1] = tanh(u[1])
for r in 2..20:
  s[r] = tanh(W @ s[r-1] + u[r])
output s[20]
"""

PROGRAMS = {"attention, 4 tokens, 2 heads": ATTENTION, "recurrence, 20 steps": RECURRENCE}
EXACT = tuple(2**k for k in range(6, 21, 2))
DENSE = tuple(2**k for k in range(6, 11))


def per_run(program: netsor.Program, width: int, coordinates: int | None = 1, seconds: float = 2.0) -> float:
    """Processor seconds for one run."""
    plan = make_plan(program.ir)
    size = block_size(plan, width, coordinates)
    draw_block(plan, width, coordinates, size, 0, 0)
    start, blocks = time.process_time(), 0
    while (used := time.process_time() - start) < seconds or not blocks:
        draw_block(plan, width, coordinates, size, 0, blocks)
        blocks += 1
    return used / (blocks * size)


def dense_per_run(program: netsor.Program, width: int, runs: int = 4) -> float:
    """Processor seconds for one run in which every matrix is drawn in full."""
    start = time.process_time()
    program.sample(width, runs, method="dense", workers=1)
    return (time.process_time() - start) / runs


def measured(text: str) -> tuple[list[float], list[float]]:
    """Seconds of one run at the widths EXACT and DENSE."""
    program = netsor.parse(text)
    dense_per_run(program, 16)  # what is imported or compiled once
    with threadpool_limits(1):
        exact = [per_run(program, width) for width in EXACT]
        dense = [dense_per_run(program, width, runs=max(4, 4096 // width)) for width in DENSE]
    return exact, dense


def draw(costs: dict[str, tuple[list[float], list[float]]], path: str) -> None:
    """Seconds of one run against n on logarithmic scales, a panel for each program, with lines of slope 1 and 2 for the eye."""
    import numpy as np

    from netsor.plot import save
    from netsor.plot.style import BLUE, GREY, VERMILION, headline, new_figure, shared_legend

    inches = (4.6, 3.6)
    figure, [panels] = new_figure(1, len(costs), inches)
    for axes, (name, (exact, dense)) in zip(panels, costs.items()):
        axes.loglog(EXACT, exact, "o-", color=BLUE, markersize=4.5, linewidth=1.2, label="exact in law, no matrix is formed")
        axes.loglog(DENSE, dense, "s--", color=VERMILION, markersize=4.5, linewidth=1.2, label="dense, every matrix is drawn")
        for widths, last, slope, text in ((EXACT, exact[-1], 1, r"$\propto n$"), (DENSE, dense[-1], 2, r"$\propto n^2$")):
            ends = np.array([widths[-3], widths[-1]]) * 1.0
            axes.plot(ends, 3 * last * (ends / ends[-1]) ** slope, color=GREY, linewidth=1)
            axes.annotate(text, (ends[-1], 3 * last), (3, 3), textcoords="offset points", color=GREY, fontsize=9)
        axes.set_ylim(top=4 * axes.get_ylim()[1])  # room for the names of the lines
        axes.set_xlim(right=3 * axes.get_xlim()[1])
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("width n")
        axes.set_ylabel("processor seconds for one run")
    shared_legend(figure, panels, len(costs) * inches[0])
    headline(figure, "cost of one run, one coordinate of each output recorded", len(costs) * inches[0])
    save(figure, path)


def describe(costs: dict[str, tuple[list[float], list[float]]]) -> str:
    """The numbers, and the ratios that matter."""
    lines = [f"{os.cpu_count()} cores, one used"]
    for name, (exact, dense) in costs.items():
        lines += [name, *(f"  n = {width:>9,}  exact {seconds:.3g} s" for width, seconds in zip(EXACT, exact))]
        lines += [f"  n = {width:>9,}  dense {seconds:.3g} s" for width, seconds in zip(DENSE, dense)]
        lines += [f"  at n = {DENSE[-1]:,} dense takes {dense[-1] / exact[EXACT.index(DENSE[-1])]:,.0f} times as long"]
        ratio = exact[-1] / exact[EXACT.index(4096)]
        lines += [f"  {EXACT[-1] // 4096} times the width of 4,096 costs {ratio:.0f} times as much"]
    return "\n".join(lines)


if __name__ == "__main__":
    found = {name: measured(text) for name, text in PROGRAMS.items()}
    draw(found, sys.argv[1])
    print(describe(found))
