"""Kernels as sums of index equalities, powers of infinite sizes and coefficients."""

from __future__ import annotations

import math

import pytest

from netsor.ir.expressions import Average, Index, Num, Range, Sym, add, mul, power
from netsor.ir.kernel import Diverges, Kernel

TOKENS, HEADS = Range(1, 3), Range(1, 2)
i, j, k = (Index(name, TOKENS) for name in "ijk")
a, b = (Index(name, HEADS) for name in "ab")
H = Sym("H", infinite=True)
endless = Index("e", Range(1, math.inf, "H"))


def test_a_sum_over_an_index_that_an_equality_fixes_disappears():
    kernel = Kernel.equal([(i, j)]) * Kernel.of(mul(j, 2))
    assert kernel.sum([j]) == Kernel.of(mul(i, 2))


def test_a_sum_over_a_free_index_counts_its_values():
    assert Kernel.of(Num(5)).sum([a]) == Kernel.of(Num(10))


def test_an_equality_with_an_offset_is_solved_and_guarded_by_the_range():
    kernel = Kernel.equal([(add(i, 1), j)]).sum([j])
    (_, coefficient), = kernel.terms.items()
    assert repr(coefficient) == "1{(1 <= i + 1) and (i + 1 <= 3)}"


def test_equal_numbers_vanish_or_hold():
    assert Kernel.equal([(Num(1), Num(2))]).is_zero
    assert Kernel.equal([(Num(2), Num(2))]) == Kernel.of(Num(1))
    assert Kernel.equal([(i, Num(7))]).is_zero, "7 is outside 1..3"


def test_powers_of_an_infinite_size_cancel_exactly():
    kernel = Kernel.of(power(H, -1)) * Kernel.of(Num(3)).sum([endless])
    assert kernel == Kernel.of(Num(3))


def test_what_has_a_negative_power_vanishes_and_a_positive_one_diverges():
    assert Kernel.of(power(H, -1)).limit().is_zero
    with pytest.raises(Diverges, match="H"):
        Kernel.of(H).limit()


def test_a_sum_over_an_infinite_axis_is_an_average():
    kernel = Kernel.of(mul(power(H, -1), endless)).sum([endless])
    (key, coefficient), = kernel.terms.items()
    assert key == (frozenset(), ()) and coefficient == Average(endless, endless)


def test_two_infinite_axes_have_powers_of_their_own():
    other = Index("g", Range(1, math.inf, "G"))
    kernel = Kernel.of(power(H, -1)) * Kernel.of(Num(1)).sum([other])
    with pytest.raises(Diverges, match="G"):
        kernel.limit()


def test_substitution_resolves_equalities():
    kernel = Kernel.equal([(i, j), (a, b)])
    assert kernel.substitute({j: i, b: a}) == Kernel.of(Num(1))
    assert kernel.substitute({i: Num(1), j: Num(2)}).is_zero
