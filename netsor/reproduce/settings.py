"""The settings of the attention paper's numerical experiments (Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846)."""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTHS = (16, 64, 256, 1024)


@dataclass(frozen=True)
class Point:
    """One place of an experiment: a width and the parameters there.  ``label`` is what the legend calls it."""

    width: int
    label: str
    parameters: dict[str, int] = field(default_factory=dict)
    conditional: bool = True
    """Whether the law given everything before the last products is sampled (costs the square of the number of heads)."""


@dataclass(frozen=True)
class Experiment:
    """One figure: ``program`` at every point, ``runs`` for each of ``seeds``.  ``axis`` names what varies."""

    figure: str
    title: str
    program: str
    points: tuple[Point, ...]
    runs: int
    seeds: int = 10
    axis: str = "width n"



def _widths(**parameters: int) -> tuple[Point, ...]:
    return tuple(Point(width, f"n = {width:,}", parameters) for width in WIDTHS)


EXPERIMENTS = (
    Experiment("1", "4 tokens, 2 heads", "attention.netsor", _widths(s=4, H=2), 50_000),
    Experiment(
        "2", "4 tokens, n = 256", "attention.netsor",
        (Point(256, "H = 1", {"s": 4, "H": 1}), Point(256, "H = 256", {"s": 4, "H": 256}, conditional=False)), 50_000,
        axis="heads H"),
    Experiment(
        "3", "4 tokens, heads of width 64", "narrow_heads.netsor",
        tuple(Point(64 * heads, f"n = {64 * heads:,}, H = {heads}", {"s": 4, "H": heads}) for heads in (1, 4, 16)), 50_000,
        axis="heads H"),
    Experiment("5", "4 ReLU tokens, 2 heads", "attention_relu.netsor", _widths(s=4, H=2), 100_000),
    Experiment("8-tokens", "8 tokens, 2 heads", "attention.netsor", _widths(s=8, H=2), 50_000),
)

SCORES = ("scores.netsor", 256, 50_000)
"""Program, width and runs of figure 2(a)."""
