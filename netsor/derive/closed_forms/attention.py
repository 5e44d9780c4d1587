"""Softmax attention with independent scores: moments of sum_j A_j^2 as one-dimensional integrals.

One head, s tokens with scores p_j iid N(0, v), A_j = e^{p_j} / S, S = sum_j e^{p_j}.  By 1/S^{2k} = int_0^oo t^{2k-1} e^{-tS} dt / (2k-1)!
the scores separate,

    E sum_j A_j^2     = s int t M_2 M_0^{s-1} dt,
    E (sum_j A_j^2)^2 = int t^3/6 (s M_4 M_0^{s-1} + s (s-1) M_2^2 M_0^{s-2}) dt,    M_k(t) = E e^{kp - t e^p}.

M_0 is the Laplace transform of the lognormal law, which is no elementary function.
"""

from __future__ import annotations

import functools
import math

import mpmath
import numpy as np
import sympy
from sympy.core.function import ArgumentIndexError

from netsor.derive.objects import InCode

GUARD_BITS = 6
FLOAT_BITS = 53 + GUARD_BITS


class ScoreTransform(InCode, sympy.Function):
    """M_k(t) = E e^{kp - t e^p}, p ~ N(0, v): ``ScoreTransform(k, v, t)``, k and t not negative."""

    nargs = 3

    def fdiff(self, argindex=1):
        """By t: -M_{k+1}.  By v: half the second derivative of e^{kp - t e^p} by p, as for the heat equation."""
        k, v, t = self.args
        if argindex == 3:
            return -self.func(k + 1, v, t)
        if argindex == 2:
            return (k**2 * self - (2 * k + 1) * t * self.func(k + 1, v, t) + t**2 * self.func(k + 2, v, t)) / 2
        raise ArgumentIndexError(self, argindex)

    def _eval_evalf(self, prec):
        if not all(argument.is_number for argument in self.args):
            return None
        return sympy.Float(score_transform(*map(float, self.args)), 15)

    def _eval_rewrite_as_Integral(self, k, v, t, **hints):
        z = sympy.Dummy("z", real=True)
        density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
        exponent = k * sympy.sqrt(v) * z - t * sympy.exp(sympy.sqrt(v) * z)
        return sympy.Integral(sympy.exp(exponent) * density, (z, -sympy.oo, sympy.oo))

    def _latex(self, printer, exp=None):
        k, v, t = map(printer._print, self.args)
        return rf"M_{{{k}}}^{{{exp}}}\left({t}\right)" if exp else rf"M_{{{k}}}\left({t}\right)"


class SquaredWeights(InCode, sympy.Function):
    """E (sum_j A_j^2)^k for s independent scores of variance v: ``SquaredWeights(k, s, v)``, k = 1 or 2.

    Numbers by ``evalf``, the integral over t by ``rewrite(sympy.Integral)``.
    """

    nargs = 3

    @classmethod
    def eval(cls, k, s, v):
        if k.is_number and k not in (1, 2):
            raise ValueError("the first and the second moment are known")
        if s == 1:
            return sympy.Integer(1)
        if v == 0:
            return s**-k

    def _eval_rewrite_as_Integral(self, k, s, v, **hints):
        t = sympy.Dummy("t", positive=True)
        zeroth, second, fourth = (ScoreTransform(order, v, t) for order in (0, 2, 4))
        if k == 1:
            return sympy.Integral(s * t * second * zeroth ** (s - 1), (t, 0, sympy.oo))
        both = s * fourth * zeroth ** (s - 1) + s * (s - 1) * second**2 * zeroth ** (s - 2)
        return sympy.Integral(t**3 / 6 * both, (t, 0, sympy.oo))

    def fdiff(self, argindex=1):
        """By v, as an integral over t."""
        if argindex != 3:
            raise ArgumentIndexError(self, argindex)
        k, s, v = self.args
        variance = sympy.Dummy("v", positive=True)
        return self._eval_rewrite_as_Integral(k, s, variance).diff(variance).xreplace({variance: v})

    def _eval_evalf(self, prec):
        k, s, v = self.args
        if not (k.is_Integer and s.is_number and s == int(s) and s > 1 and v.is_number and v.is_positive):
            return None
        if prec <= FLOAT_BITS:
            return sympy.Float(squared_weights(int(k), int(s), float(v)), 16)
        with mpmath.workprec(prec + GUARD_BITS):
            value = _integral(int(k), int(s), v._to_mpmath(prec + GUARD_BITS), prec)
        return sympy.Float._new(value._mpf_, prec)

    def _latex(self, printer, exp=None):
        k, s, v = map(printer._print, self.args)
        power = f"^{{{exp}}}" if exp else ""
        return rf"{{W_{{{k}}}\left({s}, {v}\right)}}{power}"


def excess_kurtosis(tokens, logit_variance, heads) -> sympy.Expr:
    """Of one coordinate of the attention output: 3 Var(V) / (E[V]^2 H), V = sum_j A_j^2 of one head."""
    first, second = (SquaredWeights(k, tokens, logit_variance) for k in (1, 2))
    return 3 * (second / first**2 - 1) / heads


def excess_kurtosis_without_softmax(tokens, heads) -> sympy.Expr:
    """A = p: V is chi-square with s degrees of freedom up to a factor, Var(V)/E[V]^2 = 2/s; 6/(sH)."""
    return 6 / (sympy.sympify(tokens) * heads)


def score_transform(k: float, variance: float, t: float) -> float:
    """M_k(t) in float64, to about 12 digits: the trapezoidal rule over p = sqrt(v) z, as far as e^{kp} moves the mass."""
    *_, fine, reach = map(float, _steps(max(variance, 1e-12), 53))
    z = np.arange(-reach, reach + max(k, 0.0) * math.sqrt(variance) + fine, fine)
    scores = math.sqrt(variance) * z
    with np.errstate(over="ignore"):
        return float(np.sum(np.exp(k * scores - t * np.exp(scores) - 0.5 * z * z)) * fine / math.sqrt(2 * math.pi))


def squared_weights(k: int, tokens: int, variance: float) -> float:
    """E (sum_j A_j^2)^k in float64, to about 14 digits, by the rules of ``_steps``."""
    step, lowest, highest, fine, reach = map(float, _steps(variance, 53))
    tau = np.arange(lowest, highest + step, step)
    z = np.arange(-reach, reach + fine, fine)
    scores, weights = math.sqrt(variance) * z, np.exp(-0.5 * z * z) * fine / math.sqrt(2 * math.pi)
    transforms = {order: np.empty_like(tau) for order in (0, 2, 4)}
    for i, place in enumerate(tau):
        moved = scores + place
        kernel = np.exp(-np.exp(np.minimum(moved, 700.0))) * weights
        for order in transforms:
            # t^k M_k(t), t = e^tau: what e^{-t e^p} cuts off must not overflow first
            transforms[order][i] = np.sum(kernel * np.exp(order * np.minimum(moved, 10.0)))
    return float(step * np.sum(_integrand(k, tokens, transforms)))


def _integrand(k, s, m):
    """The integrand over log t, from m[k] = t^k M_k(t)."""
    if k == 1:
        return s * m[2] * m[0] ** (s - 1)
    return (s * m[4] * m[0] ** (s - 1) + s * (s - 1) * m[2] ** 2 * m[0] ** (s - 2)) / 6


@functools.lru_cache(maxsize=64)
def _integral(k: int, tokens: int, variance, precision: int):
    """The same in mpmath.  Both grids are multiples of one step, so that the kernel e^{ky - e^y} is evaluated once per sum
    y = log t + p."""
    step, lowest, highest, fine, reach = _steps(variance, precision)
    deviation = mpmath.sqrt(variance)
    ratio = int(mpmath.ceil(step / (deviation * fine)))
    unit = step / ratio
    half = int(mpmath.ceil(reach * deviation / unit))
    places = [j * unit / deviation for j in range(-half, half + 1)]
    weights = [mpmath.npdf(z) * unit / deviation for z in places]

    @functools.cache
    def kernels(n: int):
        x = mpmath.exp(lowest + n * unit)
        kernel = mpmath.exp(-x)
        return kernel, kernel * x**2, kernel * x**4

    total = mpmath.mpf(0)
    for i in range(int(mpmath.ceil((highest - lowest) / step)) + 1):
        rows = zip(*(kernels(i * ratio + j) for j in range(-half, half + 1)))
        total += _integrand(k, tokens, dict(zip((0, 2, 4), (mpmath.fdot(weights, row) for row in rows))))
    return step * total


def _steps(variance, bits: int):
    """Step and range of the trapezoidal rule over log t and the step and range over the score, for 2^-bits.

    In log t the integrand is analytic in a strip of half-width pi/2 and the error of the rule e^{-pi^2/step}; in z the same
    with pi/(2 sqrt v), at least as for the Gaussian density itself.  t^2 M_2 is below 2^-bits left of lowest and
    M_0(t)^{s-1} right of highest.
    """
    digits = bits * mpmath.log(2) + 3
    deviation = mpmath.sqrt(variance)
    reach = mpmath.sqrt(2 * digits)
    step = mpmath.pi**2 / digits
    fine = min(step / deviation, mpmath.pi * mpmath.sqrt(2 / digits)) * mpmath.mpf(0.9)
    lowest, highest = -digits / 2 - deviation * reach, deviation * reach + mpmath.log(digits)
    return step * mpmath.mpf(0.9), lowest, highest, fine, reach
