"""How fast exact sampling at finite width is, as ratios to dense sampling measured in the same run, in processor time.

The asserts leave room for other machines; what was measured is printed (``pytest -s``).
"""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import netsor
from netsor.finite.plan import make_plan
from netsor.finite.blocks import block_size
from netsor.finite.sampling import draw_block

pytestmark = pytest.mark.slow

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
    start = time.process_time()
    program.sample(width, runs, method="dense")
    return (time.process_time() - start) / runs


@pytest.mark.parametrize("coordinates, wanted", [(1, 2000), (None, 300)])
def test_attention_against_dense_sampling(coordinates, wanted):
    program = netsor.parse(ATTENTION)
    exact, dense = per_run(program, 1024, coordinates), dense_per_run(program, 1024)
    print(f"\nattention, n = 1024, {coordinates or 'all'} coordinates: {exact * 1e6:.0f} us a run, {dense / exact:.0f} times dense")
    assert dense / exact > wanted


def test_a_recurrence_against_dense_sampling():
    program = netsor.parse(RECURRENCE)
    exact, dense = per_run(program, 1024), dense_per_run(program, 1024)
    print(f"\nrecurrence of 20 steps, n = 1024: {exact * 1e6:.0f} us a run, {dense / exact:.0f} times dense")
    assert dense / exact > 5


@pytest.mark.parametrize("text", [ATTENTION, RECURRENCE], ids=["attention", "recurrence"])
def test_cost_is_linear_in_the_width(text):
    program = netsor.parse(text)
    small, large = (per_run(program, width) for width in (20_000, 320_000))
    print(f"\n16 times the width costs {large / small:.1f} times as much")
    assert large / small < 32


def test_one_run_of_a_million_coordinates_takes_a_second_and_a_gigabyte():
    code = (
        "import resource, time, netsor\n"
        f"program = netsor.parse('''{ATTENTION}''')\n"
        "program.sample(10, 1)\n"
        "start = time.process_time()\n"
        "program.sample(1_000_000, 1)\n"
        "print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 2**30)\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, gigabytes = map(float, found.stdout.split())
    print(f"\nn = 1,000,000: {seconds:.2f} s, {gigabytes:.2f} GiB")
    assert seconds < 1 and gigabytes < 1
