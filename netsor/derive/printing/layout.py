r"""Displayed formulas broken over lines: at the signs of sums, then inside the largest brackets or between factors.

What is inside brackets is broken only where the lines outside them are not enough; brackets over several lines have a stated size, as
``\left`` and ``\right`` cannot; a fraction or root that is wider than a line is written with brackets.
"""

from __future__ import annotations

import re

from netsor.derive.printing.tex_nodes import Node, parse, render, tall, width
from netsor.derive.printing.tex_widths import BINARY, CLOSE, RELATION

LINE = 490.0  # points: letter paper with margins of 2 cm has 498
INDENT = 10.0  # points: \quad
LEAST = 60.0  # points: what is shorter stays on the line of the bracket before it
WIDEST_LEFT = 0.45  # of a line: a left side that is wider stands on a line of its own; half of that if the formula must be broken
NEXT = " \\\\\n"
TIMES = r"{}\times "
SIZES = ("big", "Big", "bigg")


def aligned(rows: list[tuple[str, str, str]], line: float = LINE) -> str:
    r"""Equations (left side, right side, what is said behind it) as the inside of ``align*`` or ``aligned``, no line wider than ``line``
    points as far as breaks can do that."""
    sides = [(_parsed(left), _parsed(right)) for left, right, _ in rows]
    alone = [_stands_alone(left, right, line) for left, right in sides]
    column = max((width(left) for (left, _), own_line in zip(sides, alone) if not own_line), default=0.0)
    found = []
    for (left, right), own_line, (_, _, remark) in zip(sides, alone, rows):
        page = _Page(line - column)
        if own_line:
            _place(page, left, 1)
            page.new(1)
        page.put("= ", RELATION)
        _place(page, right, 1)
        if remark:
            remark_width = 20 + width(_parsed(remark))
            if remark_width > page.room:
                page.new(1)
            page.put(rf"\qquad {remark}", remark_width)
        first, *others = page.lines()
        head = "" if own_line else f"{render(left)} "
        found += [f"{head}&{first}", *(f"&{each}" for each in others)]
    return NEXT.join(found)


def _stands_alone(left: list[Node], right: list[Node], line: float) -> bool:
    """Whether a left side has a line of its own: it is wide, or leaves too little room for what must be broken."""
    return width(left) > (WIDEST_LEFT if width(left) + width(right) + RELATION <= line else WIDEST_LEFT / 2) * line


def widest(tex: str) -> float:
    """The width in points that the widest line of equations (from :func:`aligned`) is estimated to have."""
    rows = [row.split("&", 1) for row in tex.split(NEXT)]
    return max(width(_parsed(left)) for left, _ in rows) + max(width(_parsed(right)) for _, right in rows)


def _parsed(tex: str) -> list[Node]:
    try:
        return parse(tex)
    except ValueError:  # one line, as it is
        return [Node("atom", tex, 5.0 * len(tex))]


class _Page:
    """Lines that are being filled."""

    def __init__(self, line: float):
        self.line = line
        self._lines: list[tuple[int, list[str]]] = [(0, [])]
        self.used = 0.0

    @property
    def room(self) -> float:
        return self.line - self.used

    def whole(self, depth: int) -> float:
        """The room on a new line."""
        return self.line - INDENT * depth

    @property
    def is_fresh(self) -> bool:
        return not self._lines[-1][1]

    def put(self, tex: str, points: float) -> None:
        self._lines[-1][1].append(tex)
        self.used += points

    def new(self, depth: int) -> None:
        if not self.is_fresh:
            self._lines.append((depth, []))
            self.used = INDENT * depth

    def lines(self) -> list[str]:
        shown = [r"\quad " * depth + re.sub(" +", " ", "".join(parts)).strip() for depth, parts in self._lines]
        return [each for each in shown if each]


def _place(page: _Page, nodes: list[Node], depth: int, after: float = 0.0) -> None:
    """Put nodes on the page; ``after`` is the width of what must follow on their last line."""
    if width(nodes) + after <= page.room:
        page.put(_spaced(nodes), width(nodes))
        return
    for kind, before in (("semicolon", False), ("relation", True), ("sign", True), ("comma", False)):
        parts = _split(nodes, kind, before)
        if len(parts) > 1:
            return _fill(page, parts, depth, after, "{}")
    _place_product(page, nodes, depth, after)


def _place_product(page: _Page, nodes: list[Node], depth: int, after: float) -> None:
    factors = _factors(nodes)
    largest = max((node for node in nodes if node.inner), key=lambda node: node.full_width, default=None)
    fits_alone = all(width(factor) <= page.whole(depth) for factor in factors)
    if len(factors) > 1 and (largest is None or fits_alone):
        return _fill(page, factors, depth, after, TIMES)
    if largest is None:
        page.put(_spaced(nodes), width(nodes))
        return
    place = next(k for k, node in enumerate(nodes) if node is largest)
    before, behind = nodes[:place], nodes[place + 1:]
    if before:
        _place(page, before, depth)
    _open(page, largest, depth, after + width(behind) if width(behind) < LEAST else 0.0, bool(before) and _ends_factor(before[-1]))
    if behind:
        if width(behind) + after > page.room and behind[0].kind != "bar":
            page.new(depth)
            page.put(TIMES, BINARY)
        _place(page, behind, depth, after)


def _fill(page: _Page, parts: list[list[Node]], depth: int, after: float, lead: str) -> None:
    """Put parts on lines, as many on each as there is room for; new lines begin with ``lead``."""
    for k, part in enumerate(parts):
        own = after if k == len(parts) - 1 else 0.0
        wanted = width(part) + own
        if k and wanted > page.room and (wanted <= page.whole(depth) or page.room < page.whole(depth) / 2):
            page.new(depth)
            if lead == TIMES or part[0].kind == "sign":
                page.put(lead, BINARY if lead == TIMES else 0.0)
        _place(page, part, depth, own)


def _open(page: _Page, node: Node, depth: int, after: float, between: bool) -> None:
    """Put brackets, a fraction or a root over several lines; ``between``: a factor stands before it, so that a line may end here."""
    if node.full_width + after <= page.room:
        page.put(node.gap + node.tex + node.tail + " ", node.full_width)
    elif node.kind == "fraction":
        _open_fraction(page, node, depth, after, between)
    elif node.kind == "root":
        _brackets(page, node.inner[0], ("(", ")"), "^{1/2}" + node.tail, depth, after, between)
    else:
        _brackets(page, node.inner[0], (node.opening, node.closing), node.tail, depth, after, between)


def _open_fraction(page: _Page, node: Node, depth: int, after: float, between: bool) -> None:
    over, under = node.inner
    if width(under) <= page.whole(depth) / 2:
        page.put(rf"\frac{{1}}{{{render(under)}}} ", width(under) + 3)
        if len(_split(over, "sign", True)) == 1 and not node.tail:
            return _place(page, over, depth, after)
        return _brackets(page, over, ("(", ")"), node.tail, depth, after, True)
    _brackets(page, over, ("(", ")"), "", depth, 10.0, between)
    page.put(r"\Big/", 8.0)
    _brackets(page, under, ("(", ")"), "", depth, after, False)


def _brackets(page: _Page, inner: list[Node], around: tuple[str, str], tail: str, depth: int, after: float, between: bool) -> None:
    high = tall(inner)
    size, points = SIZES[high], CLOSE[high] + 2.0
    first = width(_split(inner, "sign", True)[0]) + points
    if between and first > page.room and first <= page.whole(depth) - BINARY:
        page.new(depth)
        page.put(TIMES, BINARY)
    page.put(rf"\{size}l{around[0]}", points)
    for node in inner:
        if node.kind == "middle":
            node.tex = rf"\{size}{node.tex.removeprefix(chr(92) + 'middle')}"
    _place(page, inner, depth + 1, points + 6.0 * bool(tail) + after)
    page.put(rf"\{size}r{around[1]}{tail} ", points + 6.0 * bool(tail))


def _ends_factor(node: Node) -> bool:
    """Whether what stands behind it is another factor."""
    return node.kind not in ("function", "sign", "relation", "comma", "semicolon") and node.tex not in ("-", "+", r"\,")


def _spaced(nodes: list[Node]) -> str:
    return (" " if nodes and nodes[0].gap else "") + render(nodes) + " "


def _split(nodes: list[Node], kind: str, before: bool) -> list[list[Node]]:
    """The parts between nodes of a kind, each with the node ``before`` it or behind it."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if node.kind == kind and before and parts[-1]:
            parts.append([])
        parts[-1].append(node)
        if node.kind == kind and not before:
            parts.append([])
    return [part for part in parts if part]


def _factors(nodes: list[Node]) -> list[list[Node]]:
    """The factors of a product; a function stays beside its argument, the sign of a sum beside its terms."""
    parts: list[list[Node]] = []
    for k, node in enumerate(nodes):
        last = nodes[k - 1] if k else None
        if last is None or not _ends_factor(last) or node.kind in ("comma", "semicolon", "relation", "sign", "bar"):
            parts = parts or [[]]
            parts[-1].append(node)
        else:
            parts.append([node])
    return parts
