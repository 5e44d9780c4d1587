"""How fast exact sampling at finite width is, as ratios to dense sampling measured in the same run, in processor time.

The asserts leave room for other machines; what was measured is printed (``pytest -s``).
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from cost_of_a_run import ATTENTION, DENSE, EXACT, PROGRAMS, RECURRENCE, dense_per_run, describe, draw, per_run

import netsor

pytestmark = pytest.mark.slow

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


def test_the_figure_of_the_cost_is_of_these_measurements(tmp_path):
    costs = {name: ([1e-9 * n for n in EXACT], [1e-6 * n * n for n in DENSE]) for name in PROGRAMS}
    draw(costs, tmp_path / "cost.svg")
    assert (tmp_path / "cost.svg").read_bytes().startswith(b"<?xml")
    assert "at n = 1,024 dense takes 1,024,000 times as long" in describe(costs)
    assert "256 times the width of 4,096 costs 256 times as much" in describe(costs)
