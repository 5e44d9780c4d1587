"""Names of formulas: families, kernels, arrays and parameters as SymPy symbols, indices as letters.

A loop's number in a subscript stays recognisable (a :class:`LoopNumber`) until it is known whether all passes of the loop have the
same formula.
"""

from __future__ import annotations

import sympy

from netsor.ir.expressions import Coord, Expr, Index, ScalarRef
from netsor.ir.facts import uses
from netsor.ir.kernel import ends
from netsor.ir.program import ArrayDeclaration, Family, MatMul, Moment, Nonlin, RandomScalar, ScalarFunction, Score
from netsor.ir.rewrite import rebuild
from netsor.ir.text import text
from netsor.limit.equations import Binding

LONGEST_NAME = 24


class LoopNumber(sympy.Symbol):
    """A number that a loop has put in the subscripts of a family; ``place`` is its position among such subscripts, ``of`` their number."""

    def __new__(cls, value: int, place: int, of: int):
        symbol = super().__new__(cls, f"<{value}:{place}/{of}>", integer=True)
        symbol.value, symbol.place, symbol.of = value, place, of
        return symbol

    def __getnewargs_ex__(self):
        return (self.value, self.place, self.of), {}


def without_loops(expr: sympy.Expr) -> sympy.Expr:
    """The formula with the numbers of loops as integers."""
    return expr.xreplace({number: sympy.Integer(number.value) for number in expr.atoms(LoopNumber)})


class Names:
    """The symbols of one derivation."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        """``reserved`` are the names of the program, which formulas give to nothing else."""
        self.reserved = reserved
        self._latex: dict[str, str] = {}
        self._bindings: dict[Binding, str] = {}
        self._taken: set[tuple[str, tuple[LoopNumber, ...]]] = set()
        self._hidden: dict[Family, str] = {}
        self._described: set[tuple[str, tuple[int, ...]]] = set()
        self._order: dict[Binding, tuple[Index, ...]] = {}
        self._symmetric: set[Binding] = set()
        self._numbers: dict[Binding, tuple[LoopNumber, ...]] = {}
        self.crossed: set[str] = set()  # families of whose parts the formulas relate one to another

    # --- symbols -----------------------------------------------------------------------------------------------------

    @staticmethod
    def parameter(name: str, size: bool = False) -> sympy.Symbol:
        """A parameter: a positive integer if it is the size of an index, else real."""
        return sympy.Symbol(name, integer=True, positive=True) if size else sympy.Symbol(name, real=True)

    def element(self, family: Family, subscripts) -> sympy.Expr:
        """An element of a family, its loop numbers among the subscripts."""
        return indexed(self.family(family), pattern(family, subscripts))

    def family(self, family: Family) -> str:
        """The name of a family; what it computes for one that the program did not name."""
        if not family.hidden:
            return family.name
        if family not in self._hidden:
            name, numbers = self._describe(family), constants_of(family)
            while (name, numbers) in self._described:
                name += "'"
            self._described.add((name, numbers))
            self._hidden[family] = name
        return self._hidden[family]

    def _describe(self, family: Family) -> str:
        match family.definition:
            case MatMul(matrix=matrix, argument=argument):
                name = f"{matrix.name} {self.family(argument.family)}"
            case Nonlin(body=body) | ScalarFunction(body=body):
                name = text(self._bare(body))
            case Moment(body=body):
                name = f"avg({text(self._bare(body))})"
            case Score() | RandomScalar():  # p' in p = p' + bias, for p = dot(q, k)/sqrt(n) + bias
                return ".".join(part for part in family.name.split(".") if not part.isdigit()) + "'"
            case _:
                name = family.name
        if len(name) > LONGEST_NAME:
            return self._after_its_place(family)
        return f"({name})" if _is_compound(name) else name

    @staticmethod
    def _after_its_place(family: Family) -> str:
        """`x.u.avg` for an average in the block that makes x.u: a name for what is too long to be called by its formula."""
        if not isinstance(family.definition, Moment):
            return family.name.replace(".", "")
        block = [part for part in family.name.split(".") if part != "return" and not part.isdigit()]
        return ".".join([*block, "avg"])

    def _bare(self, expr: Expr) -> Expr:
        """The expression with the names of families alone."""
        if isinstance(expr, (Coord, ScalarRef)):
            shown = Family(self.family(expr.family), (), expr.family.definition, 0)
            return (Coord if isinstance(expr, Coord) else ScalarRef)(shown, ())
        return rebuild(expr, self._bare)

    def array(self, declaration: ArrayDeclaration) -> str:
        return declaration.name

    def new(self, name: str) -> str:
        """``name``, with underscores if the program has that name."""
        while name in self.reserved:
            name += "_"
        return name

    # --- let-bound equations -----------------------------------------------------------------------------------------

    def name_binding(self, binding: Binding, name: str, order: tuple[Index, ...], symmetric: bool = False,
                     numbers: tuple[LoopNumber, ...] | None = None) -> None:
        """Give a binding the name under which formulas mention it, with its labels in this order; for a ``symmetric`` one the first
        half may change places with the second."""
        self._bindings[binding] = self.new(name)
        self._numbers[binding] = loop_numbers(binding.about) if numbers is None else numbers
        if symmetric and len(order) % 2 == 0:
            self._symmetric.add(binding)
        self._order[binding] = order

    def binding(self, binding: Binding, subscripts: tuple) -> sympy.Expr:
        """A let-bound quantity at these values of its labels (SymPy expressions)."""
        if binding not in self._bindings:
            about = ",".join(dict.fromkeys(self.family(family) for family in binding.about))
            numbers = loop_numbers(binding.about)
            self.name_binding(binding, self._unique(f"e_{about}" if about else "e", numbers), binding.labels, numbers=numbers)
        values = dict(zip(binding.labels, subscripts))
        numbers = self._numbers[binding]
        own = [values[label] for label in self._order[binding]]
        if binding in self._symmetric:
            half = len(own) // 2
            own = [term for part in sorted((own[:half], own[half:]), key=lambda part: list(map(str, part))) for term in part]
        return indexed(self._bindings[binding], (*numbers, *own))

    def loop_numbers(self, families: tuple[Family, ...]) -> tuple[LoopNumber, ...]:
        """The loop numbers of a kernel; twice where different parts of a family are related to each other too: K_s[2,2], K_s[2,1]."""
        numbers = loop_numbers(families)
        if len(families) == 2 and families[0] is families[1] and self.family(families[0]) in self.crossed:
            return numbers + numbers
        return numbers

    def _unique(self, name: str, numbers: tuple[LoopNumber, ...]) -> str:
        """A name that no other equation of the same pass of a loop has."""
        candidate, count = name, 1
        while (candidate, numbers) in self._taken:
            count += 1
            candidate = f"{name}_{count}"
        self._taken.add((candidate, numbers))
        return candidate


def _is_compound(name: str) -> bool:
    """Whether a name is a sum or product, which needs brackets beside other symbols."""
    depth = 0
    for letter in name:
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and letter in "+-*/^":
            return True
    return False


def pattern(family: Family, subscripts) -> list:
    """The subscripts of an element in the order in which the program writes them; a hidden family begins with its loop numbers."""
    values = iter(subscripts)
    if family.hidden:
        return [*loop_numbers((family,)), *values]
    constants = [part for part in family.pattern if not isinstance(part, Index)]
    numbers = iter(LoopNumber(int(value), place, len(constants)) for place, value in enumerate(constants))
    return [next(values) if isinstance(part, Index) else next(numbers) for part in family.pattern]


def constants_of(family: Family) -> tuple[int, ...]:
    """The numbers among the subscripts; a hidden family has those of the families that it is made of, if they agree."""
    own = tuple(int(part) for part in family.pattern if not isinstance(part, Index))
    if own or not family.hidden:
        return own
    found = {constants_of(each) for each in uses(family)} - {()}
    return found.pop() if len(found) == 1 else ()


def loop_numbers(families: tuple[Family, ...]) -> tuple[LoopNumber, ...]:
    """The loop numbers that tell a kernel of these families apart from that of another pass: once if all have the same."""
    found = [constants_of(family) for family in families]
    distinct = list(dict.fromkeys(each for each in found if each))
    return tuple(LoopNumber(value, place, len(own)) for own in distinct for place, value in enumerate(own))


def indexed(base: str | sympy.Symbol, subscripts) -> sympy.Expr:
    """``base`` with subscripts; the bare symbol if there are none."""
    symbol = base if isinstance(base, sympy.Symbol) else sympy.Symbol(base, real=True)
    subscripts = tuple(subscripts)
    return sympy.Indexed(sympy.IndexedBase(symbol), *subscripts) if subscripts else symbol


class Letters:
    """Letters for the indices of one formula: the declared name, with primes where several share it."""

    def __init__(self) -> None:
        self.symbols: dict[Index, sympy.Symbol] = {}
        self.used: set[str] = set()

    def of(self, index: Index) -> sympy.Symbol:
        if index not in self.symbols:
            name = index.name or "i"
            while name in self.used:
                name += "'"
            self.used.add(name)
            self.symbols[index] = sympy.Symbol(name, integer=True)
        return self.symbols[index]

    def real(self, variable: Index, names: Names) -> sympy.Symbol:
        """The letter of a variable of integration, which is no integer."""
        name = names.new(variable.name or "t")
        while name in self.used:
            name += "'"
        self.used.add(name)
        self.symbols[variable] = sympy.Symbol(name, real=True)
        return self.symbols[variable]

    def axes(self, convert) -> tuple[tuple, ...]:
        """(letter, low, high) of every index so far, infinite axes left out."""
        return tuple((symbol, *limits(index, convert)) for index, symbol in self.symbols.items() if not index.range.infinite)

    def scoped(self) -> "Letters":
        """The same letters, with room for others that are free again afterwards (bound indices)."""
        other = Letters()
        other.symbols, other.used = dict(self.symbols), set(self.used)
        return other


def limits(index: Index, convert) -> tuple[sympy.Expr, sympy.Expr]:
    """The ends of the range of an index, as SymPy expressions; infinity for an infinite axis."""
    if index.range.infinite:
        return sympy.S.One, sympy.oo
    low, high = ends(index.range)
    return convert(low), convert(high)
