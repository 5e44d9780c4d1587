"""The functions under test, written down again; ``CASES`` maps a label to (name, parameters, function, its kinks)."""

import numpy as np
from scipy.special import erf, expit, ndtr


def _elu(x, alpha, rate):
    return np.where(x > 0, x, alpha * np.expm1(rate * np.minimum(x, 0)))


def _selu(x):
    return 1.0507009873554805 * _elu(x, 1.6732632423543772, 1.0)


CASES = {
    "identity": ("identity", (), lambda x: x, ()),
    "relu": ("relu", (), lambda x: np.maximum(x, 0), (0,)),
    "leaky_relu": ("leaky_relu", (0.2,), lambda x: np.where(x > 0, x, 0.2 * x), (0,)),
    "leaky_relu_default": ("leaky_relu", (), lambda x: np.where(x > 0, x, 0.01 * x), (0,)),
    "prelu": ("prelu", (), lambda x: np.where(x > 0, x, 0.25 * x), (0,)),
    "long_slope": ("leaky_relu", (0.12345678901,), lambda x: np.where(x > 0, x, 0.12345678901 * x), (0,)),
    "abs": ("abs", (), np.abs, (0,)),
    "step": ("step", (), lambda x: 1.0 * (x > 0), (0,)),
    "sign": ("sign", (), np.sign, (0,)),
    "relu2": ("relu2", (), lambda x: np.maximum(x, 0) ** 2, (0,)),
    "erf": ("erf", (), erf, ()),
    "sigmoid_erf": ("sigmoid_erf", (), lambda x: (1 + erf(x)) / 2, ()),
    "gelu": ("gelu", (), lambda x: x * ndtr(x), ()),
    "sin": ("sin", (), np.sin, ()),
    "cos": ("cos", (), np.cos, ()),
    "exp": ("exp", (), np.exp, ()),
    "gaussian": ("gaussian", (), lambda x: np.exp(-x * x), ()),
    "rbf": ("rbf", (), lambda x: np.exp(-x * x), ()),
    "square": ("square", (), lambda x: x**2, ()),
    "cube": ("cube", (), lambda x: x**3, ()),
    "hermite": ("hermite", (4,), lambda x: (x**4 - 6 * x**2 + 3) / np.sqrt(24), ()),
    "hermite_odd": ("hermite", (3,), lambda x: (x**3 - 3 * x) / np.sqrt(6), ()),
    "polynomial": ("polynomial", (0.5, -1, 0, 2), lambda x: 0.5 - x + 2 * x**3, ()),
    "monomial": ("monomial", (4,), lambda x: x**4, ()),
    "constant": ("constant", (3,), lambda x: 3 + 0 * x, ()),
    "clip": ("clip", (-0.5, 2), lambda x: np.clip(x, -0.5, 2), (-0.5, 2)),
    "half_clip": ("clip", (float("-inf"), 2), lambda x: np.minimum(x, 2), (2,)),
    "hardtanh": ("hardtanh", (), lambda x: np.clip(x, -1, 1), (-1, 1)),
    "hardsigmoid": ("hardsigmoid", (), lambda x: np.clip(x / 6 + 0.5, 0, 1), (-3, 3)),
    "elu": ("elu", (), lambda x: _elu(x, 1.0, 1.0), (0,)),
    "elu_alpha": ("elu", (0.3,), lambda x: _elu(x, 0.3, 1.0), (0,)),
    "celu": ("celu", (2,), lambda x: _elu(x, 2.0, 0.5), (0,)),
    "selu": ("selu", (), _selu, (0,)),
    "sigmoid": ("sigmoid", (), expit, ()),
    "tanh": ("tanh", (), np.tanh, ()),
    "softplus": ("softplus", (), lambda x: np.logaddexp(0, x), ()),
    "silu": ("silu", (), lambda x: x * expit(x), ()),
    "gelu_tanh": ("gelu_tanh", (), lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))), ()),
}
KINKS = np.unique([kink for case in CASES.values() for kink in case[3]])
