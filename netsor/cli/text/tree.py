"""The syntax tree as indented text."""

from __future__ import annotations

from collections.abc import Iterator

from netsor.language.syntax import Identifier, Node, Program

WIDEST = 60  # characters of source text that stand beside a node


def describe_tree(program: Program) -> Iterator[str]:
    """One line a node: its rule, and what was written."""
    stack: list[tuple[Node, int]] = [(program, 0)]
    while stack:
        node, depth = stack.pop()
        line = node.span.line
        text = " ".join(node.span.text.split())
        shown = text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"
        if node is program:
            yield "Program"
        elif not isinstance(node, Identifier):
            where = f"   line {line}" if depth == 1 else ""
            yield f"{'  ' * depth}{type(node).__name__:<12} {shown}{where}"
        stack += [(child, depth + 1) for child in reversed(list(node.children()))]
