"""Random texts that are syntactically right: every statement of the grammar, in every layout that is allowed."""

from __future__ import annotations

from random import Random

NAMES = ["x", "y", "W", "T", "größe", "β_1", "n", "i", "e5", "inf", "avg"]
SPACES = ["", "", " ", "  ", "\t"]
OPEN, CLOSE = "([", ")]"


class Writer:
    """Writes a program; ``comments`` are those that it wrote, in order."""

    def __init__(self, random: Random):
        self.random = random
        self.comments: list[str] = []

    def program(self) -> str:
        end = self.random.choice(["\n", "\n", "\r\n"])
        lines = self.between("")
        if self.random.random() < 0.3:
            lines += ['"""What it is,  \n\n   in "words".\t\n""" ' + self.maybe_comment(), *self.between("")]
        lines += self.suite("", 0)
        text = "\n".join(lines) + self.random.choice(["\n", "", "\n\n \n"])
        return text.replace("\n", end)

    def comment(self) -> str:
        self.comments.append(self.random.choice(["# ", "#", "#\t"]) + f"{len(self.comments)} (x = [1  é")
        return self.comments[-1] + self.random.choice(["", " ", "\t"])

    def maybe_comment(self) -> str:
        return self.random.choice(SPACES) + self.comment() if self.random.random() < 0.2 else ""

    def between(self, indent: str) -> list[str]:
        """Blank lines and comments."""
        found = []
        while self.random.random() < 0.25:
            blank = self.random.random() < 0.6
            found.append(self.random.choice(SPACES) if blank else self.random.choice([indent, "", "   "]) + self.comment())
        return found

    def suite(self, indent: str, depth: int) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 4)):
            if depth < 3 and self.random.random() < 0.2:
                head = self.random.choice([["for", self.name(), "in", *self.range(1)],
                                           ["block", self.name(), "(", *self.formals(), ")"]])
                lines.append(indent + self.layout([*head, ":"]) + self.maybe_comment())
                deeper = indent + self.random.choice(["  ", "    ", "\t", " "])
                lines += [*self.between(deeper), *self.suite(deeper, depth + 1)]
            else:
                lines.append(indent + self.layout(self.statement()) + self.maybe_comment())
            lines += self.between(indent)
        return lines

    def layout(self, tokens: list[str]) -> str:
        """Tokens with spaces between them, and line breaks inside brackets."""
        text, depth = "", 0
        for k, token in enumerate(tokens):
            space = self.random.choice(SPACES)
            if depth and self.random.random() < 0.08:
                space = self.maybe_comment() + "\n" + "\n".join([*self.between(""), space])
            touching = text[-1:].isalnum() or text[-1:] == "_"
            if k and not space and touching and (token[0].isalnum() or token[0] == "_"):
                space = " "
            if k == 0 or (space == "" and tokens[k - 1] == "." and token == "T"):
                space = "" if k == 0 else " "
            text += space + token
            depth += (token in OPEN) - (token in CLOSE)
        return text

    # --- statements, as tokens

    def statement(self) -> list[str]:
        kinds = [self.definition, self.definition, self.definition, self.declaration, self.random_vector, self.asked]
        return self.random.choice(kinds)()

    def definition(self) -> list[str]:
        kind = [":", "H"] if self.random.random() < 0.1 else []
        return [*self.element(), *kind, "=", *self.expression(3)]

    def declaration(self) -> list[str]:
        return self.random.choice([
            lambda: ["width", self.name(), ",", self.name(), "=", *self.sum(1), ",", self.name(), "like", self.name()],
            lambda: ["param", self.name(), ",", self.name(), "=", *self.expression(1)],
            lambda: ["index", self.name(), ",", self.name(), "in", *self.range(2)],
            lambda: ["index", self.name(), "like", self.name()],
            lambda: ["data", *self.element(), *self.random.choice([[], ["=", '"a  #b.npy"'], ["=", *self.table(2)]])],
            lambda: ["const", *self.element(), "=", *self.expression(2)],
            lambda: ["def", self.name(), "(", *self.formals(), ")", "=", *self.expression(2)],
            lambda: ["import", '"file.netsor"'],
            lambda: ["import", "std", ".", self.name()],
        ])()

    def random_vector(self) -> list[str]:
        law = [self.name(), "(", *self.separated(lambda: self.expression(1), 0), ")"]
        names = self.separated(self.element, 1)
        if self.random.random() < 0.5:
            size = [":", *self.sum(1)] if self.random.random() < 0.4 else []
            return ["input", *names, *size, "~", *law]
        shape = [":", "(", *self.sum(1), ",", *self.sum(1), ")"] if self.random.random() < 0.4 else []
        return ["matrix", *names, *shape, "~", *law]

    def asked(self) -> list[str]:
        return self.random.choice([
            lambda: ["output", *self.separated(self.qualified, 1)],
            lambda: ["expect", *self.sum(2), "=", *self.expression(1), "within", "1e-4"],
        ])()

    def formals(self) -> list[str]:
        return self.separated(lambda: [*self.element(), *self.random.choice([[], ["=", *self.expression(1)]])], 1)

    def table(self, depth: int) -> list[str]:
        return ["[", *self.separated(lambda: self.table(depth - 1) if depth else self.expression(1), 0), "]"]

    # --- expressions, as tokens

    def name(self) -> str:
        return self.random.choice(NAMES)

    def number(self) -> str:
        return self.random.choice(["1", "02", "0.50", "1e-3", "2.5E+1", "∞"])

    def separated(self, make, least: int) -> list[str]:
        found: list[str] = []
        for k in range(self.random.randint(least, 3)):
            found += [","] * (k > 0) + make()
        return found

    def element(self) -> list[str]:
        return [self.name(), *self.subscripts(1)]

    def subscripts(self, depth: int) -> list[str]:
        if self.random.random() < 0.5:
            return []
        return ["[", *self.separated(lambda: self.expression(depth), 1), "]"]

    def qualified(self) -> list[str]:
        return [self.name(), *self.random.choice([[], [], [".", self.name()]]), *self.subscripts(1)]

    def range(self, depth: int) -> list[str]:
        return [*self.sum(depth), "..", *self.sum(depth)]

    def expression(self, depth: int) -> list[str]:
        if depth and self.random.random() < 0.1:
            return [*self.sum(depth - 1), "if", *self.condition(depth - 1), "else", *self.expression(depth - 1)]
        return self.sum(depth)

    def condition(self, depth: int) -> list[str]:
        if depth and self.random.random() < 0.4:
            return self.random.choice([
                ["not", "(", *self.condition(depth - 1), ")"],
                [*self.condition(depth - 1), self.random.choice(["and", "or"]), *self.condition(depth - 1)],
            ])
        return [*self.sum(0), self.random.choice(["<", "<=", "==", "!="]), *self.sum(0)]

    def sum(self, depth: int) -> list[str]:
        """Any expression that needs no brackets as an operand of itself."""
        if not depth:
            return [self.number()] if self.random.random() < 0.4 else [self.name()]
        less = depth - 1
        return self.random.choice([
            lambda: self.sum(0),
            lambda: [*self.sum(less), self.random.choice(["+", "-", "*", "/", "@", "^", "**"]), *self.sum(less)],
            lambda: [*self.sum(less), self.random.choice("+-"), *self.sum(less), self.random.choice("*/"), *self.sum(0)],
            lambda: [self.random.choice("+-"), *self.sum(less)],
            lambda: ["(", *self.expression(less), ")"],
            lambda: [self.name(), *self.subscripts(less), ".T"],
            self.qualified,
            lambda: self.call(less),
            lambda: self.reduction(less),
        ])()

    def call(self, depth: int) -> list[str]:
        named = [self.name(), "=", *self.expression(depth)]
        inside = self.random.choice([[], self.expression(depth), named, [*self.expression(depth), ",", *named, ","]])
        return [self.name(), "(", *inside, ")"]

    def reduction(self, depth: int) -> list[str]:
        binders = self.separated(lambda: [self.name(), *self.random.choice([[], ["in", *self.range(0)]])], 1)
        guard = ["if", *self.condition(depth)] if self.random.random() < 0.4 else []
        return ["sum", "(", *self.expression(depth), "for", *binders, *guard, ")"]
