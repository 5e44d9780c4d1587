"""The table of formulas in docs/reference/nonlinearities.md is what the closed forms know.

``python tests/docs/test_formula_table.py`` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/reference/nonlinearities.md"

# A row for each kind of function, and a member without symmetry that would make a formula trivial.
KINDS = {
    "`identity`, `square`, `cube`, `hermite`": ("polynomial", (1, 1, 1, 1)),
    "`relu`, `leaky_relu`, `prelu`, `abs`, `relu2`": ("relu", ()),
    "`step`, `sign`": ("step", ()),
    "`erf`, `sigmoid_erf`, `gelu`": ("gelu", ()),
    "`sin`, `cos`": ("cos", ()),
    "`exp`": ("exp", ()),
    "`gaussian`, `rbf`": ("gaussian", ()),
    "`elu`, `celu`, `selu`": ("elu", ()),
    "`clip`, `hardtanh`, `hardsigmoid`": ("clip", (-1, 2)),
    "`sigmoid`, `tanh`, `softplus`, `silu`, `gelu_tanh`": ("silu", ()),
}


def table() -> str:
    import sympy

    from netsor.derive.closed_forms import Activation, mean, pair_moment, second_moment

    a, b, c, m = sympy.symbols("a b c m")
    activations = [Activation(*kind) for kind in KINDS.values()]
    heads = ["", "mean", "shifted", "squared", *(activation.name for activation in activations)]
    lines = [heads, ["---"] * len(heads)]
    for kind, one in zip(KINDS, activations):
        formulas = [mean(one, 0, a), mean(one, m, a), second_moment(one, one, a)]
        formulas += [pair_moment(one, two, a, b, c) for two in activations]
        lines.append([kind, *("" if formula is None else "x" for formula in formulas)])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def test_the_table_is_what_is_known():
    assert table() in PAGE.read_text(encoding="utf-8"), f"run python {Path(__file__).name}"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    start = page.index("\n|  | mean |") + 1
    stop = page.index("\n\n", start) + 1
    PAGE.write_text(page[:start] + table() + page[stop:], encoding="utf-8")
