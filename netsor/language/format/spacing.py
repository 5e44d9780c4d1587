"""Spaces between the tokens of a line: which operators stand tight, and what follows what.

The rules are those that the field's formulas are written by: an operator that binds tighter stands tighter.

- `^`, `.T`, signs, ranges and whatever stands in subscripts have no spaces: `x[l-1,i]`, `-x^2`, `1..2*s`.
- `*` and `/` between numbers and plain names have none at the start of a product: `vw/3 * mean(x)`, `2*n`, `1/sqrt(n)`.
- `+` and `-` have none where they only count with indices, `1 <= t+o`, and in short exponents, `2^(1-L)`.
- every other operator has one on each side: `W @ x + b`, `A[i,j] * v[j]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token

from netsor.language import syntax

CONSTANT_FUNCTIONS = ("sqrt", "log")  # `1/sqrt(n)` reads as one number


def tight_operators(program: syntax.Program) -> set[int]:
    """Where the binary operators `+ - * /` stand that are written without spaces."""
    tree = _Tree(program)
    found: set[int] = set()
    stack: list[tuple[syntax.Node, bool]] = [(program, False)]
    while stack:
        node, inside = stack.pop()
        if isinstance(node, (syntax.Add, syntax.Multiply)):
            found.update(tree.operators(node) if inside else tree.tight(node))
        elif isinstance(node, syntax.Power) and isinstance(node.exponent, syntax.Add) and tree.plain(node.exponent):
            found.update(tree.operators(node.exponent))
        tight_children = _tight_children(node)
        stack += [(child, inside or child in tight_children) for child in node.children()]
    return found


def _tight_children(node: syntax.Node) -> tuple[syntax.Node, ...]:
    if isinstance(node, (syntax.Name, syntax.Element)):
        return node.subscripts
    if isinstance(node, syntax.Range):
        return node.low, node.high
    return ()


class _Tree:
    """What a product or sum looks like to a reader."""

    def __init__(self, program: syntax.Program):
        self.text = program.source.text
        self.indices = frozenset(_indices(program))
        self.known: dict[syntax.Node, bool] = {}  # a node is asked for by each of its neighbours

    def operators(self, node: syntax.Add | syntax.Multiply) -> list[int]:
        """The operators of a chain; between two operands there is nothing but the operator, spaces and comments."""
        return [self._operator(left, right) for left, right in zip(node.operands, node.operands[1:])]

    def _operator(self, left: syntax.Node, right: syntax.Node) -> int:
        position = left.span.end
        while self.text[position] not in "+-*/":
            position = self.text.index("\n", position) if self.text[position] == "#" else position + 1
        return position

    def tight(self, node: syntax.Add | syntax.Multiply) -> list[int]:
        """Those operators of a chain that are tight by themselves."""
        operators = self.operators(node)
        if isinstance(node, syntax.Add):
            return operators if self._counts(node) else []
        found = []
        for operator, sign, left, right in zip(operators, node.operators[1:], node.operands, node.operands[1:]):
            if not (self.plain(right) and (self.plain(left) or sign == "/" and isinstance(left, syntax.Name))):
                break  # further on `a / 2*b` would look as if it were a / (2*b)
            found.append(operator)
        return found

    def plain(self, node: syntax.Node) -> bool:
        """Whether this is a number, a plain name, or a short expression of them."""
        if node not in self.known:
            self.known[node] = self._plain(node)
        return self.known[node]

    def _plain(self, node: syntax.Node) -> bool:
        while isinstance(node, syntax.Negative):
            node = node.operand
        match node:
            case syntax.Number() | syntax.Infinity():
                return True
            case syntax.Name():
                return not node.subscripts
            case syntax.Power():
                return not isinstance(node.base, syntax.Add) and self.plain(node.base) and self.plain(node.exponent)
            case syntax.Add():
                return all(map(self.plain, node.operands))
            case syntax.Multiply():
                return len(self.tight(node)) == len(node.operands) - 1
            case syntax.Call():
                return (node.function.dotted in CONSTANT_FUNCTIONS and len(node.arguments) == 1 and not node.keywords
                        and self.plain(node.arguments[0]))
        return False

    def _counts(self, node: syntax.Node) -> bool:
        """Whether a sum is a number made of indices: `t + o`, `2*m - 1 + o`."""
        names, stack = 0, [node]
        while stack:
            each = stack.pop()
            if isinstance(each, (syntax.Add, syntax.Multiply)):
                stack += each.operands
            elif isinstance(each, syntax.Negative):
                stack.append(each.operand)
            elif isinstance(each, syntax.Name) and not each.subscripts and each.dotted in self.indices:
                names += 1
            elif not isinstance(each, syntax.Number):
                return False
        return names > 0


def _indices(program: syntax.Program) -> Iterator[str]:
    """The names that count: indices, loop variables, what reductions bind."""
    stack: list[syntax.Node] = [program]
    while stack:
        node = stack.pop()
        if isinstance(node, (syntax.IndexIn, syntax.IndexLike)):
            yield from (name.name for name in node.names)
        elif isinstance(node, (syntax.Loop, syntax.Binder)):
            yield node.name.name
        stack += node.children()


# --- between two tokens

SPACED = frozenset({"COMPARE", "TILDE"})
BINARY = frozenset({"PLUS", "MINUS", "TIMES", "OVER"})
BEFORE_OPERAND = frozenset({"PLUS", "MINUS", "TIMES", "OVER", "POWER", "COMPARE", "LPAR", "LSQB", "COMMA", "EQUAL", "RANGE",
                            "COLON", "TILDE", "AT"})


class Spacing:
    """Decides, token by token, whether there is a space; remembers the brackets that are open."""

    def __init__(self, tight: set[int], words: frozenset[str]):
        self.tight = tight
        self.words = words  # the types of reserved words
        self.start()

    def start(self) -> None:
        """A new statement begins."""
        self.brackets: list[str] = []
        self.first = ""
        self.previous: Token | None = None
        self.unary = False

    def before(self, token: Token) -> str:
        """The space before the next token of the statement."""
        previous = self.previous
        binary = token.type in BINARY and previous is not None and not self._wants_operand(previous)
        space = previous is not None and self._between(previous, token, binary)
        if previous is None:
            self.first = token.type
        self._remember(token, binary)
        return " " if space else ""

    def _wants_operand(self, token: Token) -> bool:
        return token.type in BEFORE_OPERAND or token.type in self.words

    def _remember(self, token: Token, binary: bool) -> None:
        if token.type == "LSQB":
            attached = self.previous is not None and self.previous.type == "NAME"
            sizes = self.first == "DATA" and not self.brackets
            self.brackets.append("subscripts" if attached and not sizes else "list")
        elif token.type == "LPAR":
            self.brackets.append("parentheses")
        elif token.type in ("RPAR", "RSQB"):
            self.brackets.pop()
        self.unary = token.type in ("PLUS", "MINUS") and not binary
        self.previous = token

    def _between(self, previous: Token, token: Token, binary: bool) -> bool:
        kind, last = token.type, previous.type
        if last in ("LPAR", "LSQB") or kind in ("RPAR", "RSQB", "COMMA", "TRANSPOSE", "RANGE", "POWER", "DOT"):
            return False
        if last == "COMMA":
            return not (self.brackets and self.brackets[-1] == "subscripts")
        if last == "DOT":
            return token == "T"  # `z.T` would be a transpose
        if kind in ("LPAR", "LSQB") and last == "NAME":
            return False
        if self.unary or last in ("RANGE", "POWER"):
            return False
        for operator, is_binary in ((token, binary), (previous, last in BINARY)):
            if operator.type in BINARY and is_binary:
                return operator.start_pos not in self.tight
        if "EQUAL" in (kind, last):
            return not self.brackets
        if kind == "COLON":
            return self.first not in ("FOR", "BLOCK")
        return True
