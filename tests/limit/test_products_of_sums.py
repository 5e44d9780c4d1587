"""Moments of products of sums: each part is found and computed once, however often the expansion meets it."""

import netsor
from netsor.limit.recursion import Recursion

GATED = """
width n
def gate(z) = (1 + erf(z)) / 2
input uz[t], uh[t] ~ N(0, K)
matrix Wz, Wh ~ N(0, 1/n)
h[1] = gate(uz[1]) * erf(uh[1])
"""


def gated(steps: int) -> netsor.Program:
    """A recurrent network with one multiplicative gate, ``steps`` tokens."""
    text = f"param T = {steps}\nindex t, r in 1..T\nconst K[t,r] = 1 if t == r else 0.5\n"
    body = GATED.replace("width n\n", "width n\n" + text)
    for step in range(2, steps + 1):
        body += f"z[{step}] = gate(uz[{step}] + Wz @ h[{step - 1}])\n"
        body += f"h[{step}] = (1 - z[{step}]) * h[{step - 1}] + z[{step}] * erf(uh[{step}] + Wh @ h[{step - 1}])\n"
    return netsor.parse(body + f"output h[{steps}]\n")


def test_the_expansion_of_a_gated_network_is_remembered(monkeypatch):
    # without a memory of products of three factors and more the expansion takes millions of steps
    steps = 0
    original = Recursion._product

    def counted(self, references):
        nonlocal steps
        steps += 1
        assert steps < 20_000, "the same products are expanded again and again"
        return original(self, references)

    monkeypatch.setattr(Recursion, "_product", counted)
    reference = gated(2).ir.outputs[0].parts[0].reference
    Recursion().moment(reference, reference)


def test_a_gated_unit_agrees_with_independent_quadrature():
    # h = sigma(z) erf(g), sigma = (1 + erf)/2, z and g independent: E h^2 = E sigma^2 E erf^2 = 0.17009354
    estimate = gated(1).limit()["h"].var
    assert abs(float(estimate.value) - 0.17009354) < 1e-8
