"""What formulas mean by functions that have no common name."""

from __future__ import annotations

from netsor.derive.closed_forms.attention import SquaredWeights


def notes(derivation, latex: bool = False) -> list[str]:
    """A sentence for each special function that occurs."""
    if not any(statement.right.has(SquaredWeights) for statement in derivation.lines):
        return []
    if latex:
        return [
            r"$W_k(s,v)=\mathbb{E}\left[\left(\sum_{j=1}^{s}A_j^2\right)^{k}\right]$ with $A$ the softmax of $s$ independent "
            r"$\mathcal{N}(0,v)$ scores. With $M_k(t)=\mathbb{E}\,e^{kp-te^{p}}$, $p\sim\mathcal{N}(0,v)$," "\n$$\n"
            r"\begin{aligned}" "\n"
            r"W_1(s,v) &= s\int_0^\infty t\,M_2(t)\,M_0(t)^{s-1}\,dt, \\" "\n"
            r"W_2(s,v) &= \int_0^\infty \frac{t^3}{6}\left(s\,M_4(t)\,M_0(t)^{s-1}+s(s-1)\,M_2(t)^2\,M_0(t)^{s-2}\right)dt." "\n"
            r"\end{aligned}" "\n$$"]
    return [
        "W_k(s, v) = E[(sum(A_j^2 for j))^k], A the softmax of s independent N(0, v) scores: W_1 = s ∫ t M_2 M_0^(s-1) dt, "
        "W_2 = ∫ t^3/6 (s M_4 M_0^(s-1) + s(s-1) M_2^2 M_0^(s-2)) dt over t > 0, M_k(t) = E exp(k p - t e^p), p ~ N(0, v)."]
