"""Names in formulas: none of the program's own is given to a kernel."""

import numpy as np

from netsor.derive import Derivation
from netsor.language import load_program
from netsor.language.source import Source

CLASH = """
width n
index i, j in 1..2
const K_x[i,j] = 7 if i == j else 1
input h[i] ~ N(0, 1)
input K_y ~ N(0, 1)
matrix W ~ N(0, 1/n)
x[i] = relu(h[i])
y[i] = W @ x[i]
z[i] = W @ (y[i] * y[i]) + K_x[1,1] * K_y
output z
"""


def test_a_kernel_is_not_named_like_an_array_or_a_family():
    """E z_i z_i' = E y_i^2 y_i'^2 + 49, E y^4 = 3/4 and E y_1^2 y_2^2 = 1/4 + 2/(2 pi)^2 by hand."""
    found = Derivation(load_program(Source(CLASH), free=True)).evaluate()["Cov(z[i], z[i'])"]
    np.testing.assert_allclose(found, [[49.75, 49.25 + 2 / (2 * np.pi) ** 2], [49.25 + 2 / (2 * np.pi) ** 2, 49.75]], rtol=1e-12)
