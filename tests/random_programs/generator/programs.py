"""Random programs over the rules of the language.

A program is a list of statements.  What statements may build upon grows as they are written: vectors and scalars, all with one index
of two values, so that any two may be combined.  Functions grow linearly at most and products are few, so that the moments
that are compared exist and can be estimated.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = ["width n", "index i, j, k in 1..2"]
FUNCTIONS = [
    "relu({})", "tanh({})", "erf({})", "gelu({})", "sigmoid({})", "abs({})", "sin({})", "leaky_relu({}, 0.2)", "clip({}, -1, 0.5)", "step({})",
    "sign({})", "cos({})", "softplus({})", "({}*sigmoid_erf({}))", "silu({})", "hardtanh({})", "gaussian({})", "elu({})",
]
SMOOTH = ["tanh({})", "sigmoid({})", "erf({})", "sin({})", "cos({})", "gelu({})"]


@dataclass
class Written:
    """A program so far."""

    noise: random.Random
    statements: list[str] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)  # x[i], by name
    scalars: list[str] = field(default_factory=list)  # p[i]
    weights: list[str] = field(default_factory=list)  # A[i,j], rows of weights
    matrices: list[str] = field(default_factory=list)  # used without subscript
    count: int = 0

    def name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def add(self, *lines: str) -> None:
        self.statements.append("\n".join(lines))

    def some(self, names: list[str]) -> str:
        """One of them, preferably a late one."""
        return names[max(self.noise.randrange(len(names)), self.noise.randrange(len(names)))]

    def matrix(self) -> str:
        """A matrix: one that is used already, or a new one."""
        if self.matrices and self.noise.random() < 0.6:
            return self.noise.choice(self.matrices)
        name = self.name("W")
        if self.noise.random() < 0.2:
            self.add(f"matrix {name}[i] ~ N(0, {self.noise.choice(['1', 'i', '1/2'])}/n)")
            return f"{name}[i]"
        self.add(f"matrix {name} ~ N(0, {self.noise.choice(['1', '1', '2', '1/2'])}/n)")
        self.matrices.append(name)
        return name

    def vector(self) -> str:
        """An expression in i that is a vector."""
        at = self.noise.choice(["i", "i", "i", "i", "1", "3-i"])
        return f"{self.some(self.vectors)}[{at}]"

    def function(self, of: str) -> str:
        form = self.noise.choice(FUNCTIONS)
        return form.replace("{}", of)


def program(seed: int) -> list[str]:
    """The statements of a random program; without outputs."""
    noise = random.Random(seed)
    written = Written(noise)
    for line in HEAD:
        written.add(line)
    _inputs(written)
    for _ in range(noise.randint(2, 9)):
        noise.choices(list(STATEMENTS), list(STATEMENTS.values()))[0](written)
    return written.statements


def text(statements: list[str]) -> str:
    return "\n".join(statements) + "\n"


def _inputs(w: Written) -> None:
    """Two or three inputs; always one with two correlated elements."""
    rho = w.noise.choice(["0.5", "-0.3", "0.9", "0"])
    w.add(f"const C[i,j] = 1 if i == j else {rho}")
    w.add("input x0[i] ~ N(0, C)")
    w.vectors.append("x0")
    for _ in range(w.noise.randint(0, 2)):
        name, mean = w.name("x"), w.noise.choice(["0", "0", "0.5", "-1"])
        w.add(f"input {name}[i] ~ N({mean}, {w.noise.choice(['1', '0.5', '1/i', 'C'])})")
        w.vectors.append(name)
    if w.noise.random() < 0.25:
        name = w.name("x")
        w.add(f"input {name}[i] ~ {w.noise.choice(['Rademacher()', 'Bernoulli(0.3)', 'Uniform(-1, 2)', 'Uniform(0, i)'])}")
        w.vectors.append(name)


def _product(w: Written) -> None:
    """A matrix times a vector, or two of them added, perhaps with a residual connection."""
    terms = [f"{w.matrix()} @ {w.vector()}"]
    if w.noise.random() < 0.3:
        terms.append(f"{w.matrix()} @ {w.vector()}")
    if w.noise.random() < 0.3:
        terms.append(w.vector())
    terms = [f"({term})" if "@" in term else term for term in terms]
    name = w.name("g")
    w.add(f"{name}[i] = " + w.noise.choice([" + ", " - "]).join(terms))
    w.vectors.append(name)


def _nonlinear(w: Written) -> None:
    name, first, second = w.name("h"), w.vector(), w.vector()
    form = w.noise.randrange(8)
    if form < 4:
        right = w.function(first)
    elif form == 4:
        right = f"{w.noise.choice(SMOOTH).replace('{}', first)} * {second}"
    elif form == 5:
        right = f"max({first}, {second})"
    elif form == 6:
        right = f"where({first} > {second}, {first}, 0.5*{second})"
    else:
        right = w.function(f"({first} + {second} - 0.3)")
    w.add(f"{name}[i] = {right}")
    w.vectors.append(name)


def _over_the_index(w: Written) -> None:
    """A reduction over elements, guarded or not."""
    name, of = w.name("s"), w.some(w.vectors)
    right = w.noise.choice([
        f"sum({of}[j] for j if j <= i)", f"mean({of}[j] for j)", f"max({of}[j] for j)", f"{of}[i] - mean({of}[j] for j)",
        f"sum({w.matrix()} @ {of}[j] for j if j != i)", f"{of}[i+1] if i < 2 else {of}[1]",
    ])
    w.add(f"{name}[i] = {right}")
    w.vectors.append(name)


def _moment(w: Written) -> None:
    """An average over the width, and sometimes a normalisation by it."""
    name, first, second = w.name("m"), w.vector(), w.vector()
    right = w.noise.choice([f"dot({first}, {second}) / n", f"avg({first})", f"avg({w.function(first)})"])
    w.add(f"{name}[i] = {right}")
    w.scalars.append(name)
    if w.noise.random() < 0.6:
        normalised, of = w.name("h"), w.vector()
        w.add(f"{normalised}[i] = " + w.noise.choice([
            f"({of} - avg({of})) / sqrt(avg(({of} - avg({of}))^2) + 0.1)", f"{of} / sqrt(avg({of}^2) + 0.2)", f"{of} - {name}[i]",
            f"tanh({name}[i]) * {of}", w.noise.choice(SMOOTH).replace("{}", f"({of} + {name}[i])"),
        ]))
        w.vectors.append(normalised)


def _readout(w: Written) -> None:
    """A score with an input of its own."""
    source, name = w.name("v"), w.name("p")
    w.add(f"input {source} ~ N(0, 1)")
    w.add(f"{name}[i] = dot({source}, {w.vector()}) / sqrt(n)")
    w.scalars.append(name)
    _weights_of(w, f"{name}[j]", f"{name}[i]")


def _attention(w: Written) -> None:
    """Scores between all pairs; a fresh matrix on one side, anything on the other."""
    fresh, name = w.name("Q"), w.name("p")
    w.add(f"matrix {fresh} ~ N(0, 1/n)")
    left = f"({fresh} @ {w.some(w.vectors)}[i])"
    if w.noise.random() < 0.3:
        left = f"{w.noise.choice(['tanh', 'sin', 'erf'])}{left}"
    of = w.some(w.vectors)
    right = w.noise.choice([f"{of}[j]", f"({w.matrix()} @ {of}[j])"]).replace("[i] @", "[j] @")
    w.add(f"{name}[i,j] = dot({left}, {right}) / sqrt(n)")
    _weights_of(w, f"{name}[i,j]", f"{name}[i,i]")
    w.scalars.append(f"d{name}")
    w.add(f"d{name}[i] = {name}[i,i]")


def _risky_score(w: Written) -> None:
    """A score that may diverge or lack a fresh factor: then it must be refused."""
    name = w.name("p")
    w.add(f"{name}[i] = dot({w.vector()}, {w.matrix()} @ {w.vector()}) / sqrt(n)")
    w.scalars.append(name)


def _weights_of(w: Written, score: str, own: str) -> None:
    name = w.name("A")
    right = w.noise.choice([
        f"softmax({score} for j)", f"softmax({score} for j if j <= i)", f"sigmoid({score} - 0.5)",
        f"(1 if {score} > {own} - 0.3 else 0.25)", f"relu({score}) / 2",
    ])
    w.add(f"{name}[i,j] = {right}")
    w.weights.append(name)


def _mixed(w: Written) -> None:
    """Vectors mixed by weights that are random scalars, or scaled by a scalar."""
    name = w.name("y")
    of = w.some(w.vectors)
    if w.weights and w.noise.random() < 0.8:
        term = w.noise.choice([f"({w.matrix()} @ {of}[j])", f"{of}[j]"]).replace("[i] @", "[j] @")
        right = f"sum({w.some(w.weights)}[i,j] * {term} for j)"
        right += w.noise.choice(["", f" + {w.vector()}"])
    elif w.scalars:
        right = f"tanh({w.some(w.scalars)}[i]) * {of}[i]"
    else:
        return
    w.add(f"{name}[i] = {right}")
    w.vectors.append(name)


def _recurrence(w: Written) -> None:
    """One matrix for three steps."""
    name, matrix, drive = w.name("r"), w.matrix(), w.some(w.vectors)
    form = w.noise.choice(SMOOTH[:3] + ["relu({})"])
    w.add(
        f"{name}[0,i] = {w.noise.choice(SMOOTH[:3]).replace('{}', f'{drive}[i]')}", "for t in 1..2:",
        f"  {name}[t,i] = " + form.replace("{}", f"({matrix} @ {name}[t-1,i] + {drive}[i])"), f"e{name}[i] = {name}[2,i]")
    w.vectors.append(f"e{name}")


def _transposed(w: Written) -> None:
    """A matrix applied forward, then backward."""
    matrix = w.matrix()
    name, first = w.name("b"), w.vector()
    w.add(f"{name}[i] = {matrix}.T @ {w.function(f'({matrix} @ {first})')}")
    w.vectors.append(name)


def _rectangular(w: Written) -> None:
    """Up to twice or half the width, and down again."""
    name, hidden = w.name("u"), w.name("m")
    factor = w.noise.choice(["2*n", "n/2"])
    w.statements[0] = w.statements[0] + f", {hidden} = {factor}"
    up, down = w.name("U"), w.name("D")
    w.add(f"matrix {up} : ({hidden}, n) ~ N(0, 1/n)", f"matrix {down} : (n, {hidden}) ~ N(0, 1/{hidden})")
    w.add(f"{name}[i] = {down} @ {w.function(f'({up} @ {w.vector()})')} + {w.vector()}")
    w.vectors.append(name)


def _block(w: Written) -> None:
    """A block that is called for all elements alike, or that sees their index; sometimes called twice."""
    block = w.name("layer")
    if w.noise.random() < 0.5:
        result = w.noise.choice(["g", "f(g) + x", "f(A @ f(g))", "f(g) - avg(f(g))"])
        w.add(f"block {block}(x, f=tanh):", "  width n like x", "  matrix A ~ N(0, 1/n)", "  g = A @ x", f"  return {result}")
        calls = [f"{block}({{}}[i])", f"{block}({{}}[i], relu)", f"{block}({{}}[3-i], f=sigmoid)"]
    else:
        result = w.noise.choice(["g[a] + c*mean(tanh(g[b]) for b)", "max(g[b] for b) * c", "sum(g[b] for b if b <= a)"])
        w.add(
            f"block {block}(x[a], c=0.5):", "  width n like x", "  index b like a", "  matrix A[a] ~ N(0, 1/n)", "  g[a] = A[a] @ x[a]",
            f"  return {result}")
        calls = [f"{block}({{}}[i])", f"{block}(2*{{}}[i], 1)"]
    for _ in range(w.noise.choice((1, 1, 2))):
        name = w.name("z")
        w.add(f"{name}[i] = {w.noise.choice(calls).format(w.some(w.vectors))}")
        w.vectors.append(name)


STATEMENTS = {
    _product: 6, _nonlinear: 5, _over_the_index: 2, _moment: 2, _readout: 2, _attention: 2, _risky_score: 1, _mixed: 4, _recurrence: 1,
    _transposed: 1, _rectangular: 1, _block: 1,
}
