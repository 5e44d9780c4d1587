"""Names that say nothing: values that are as short as a name, and formulas that stand twice.

One pass over the statements, in their order.  The value of an equation that is a number, a power product of parameters, or a single
quantity, each times a number and Kronecker deltas, is inserted into all later formulas, which are simplified again, so that the effect
cascades; a quantity whose formula has been seen under another name goes by that one.  Where subscripts coincide, and where a formula
mentions products or what is made of numbers and Kronecker deltas, formulas that are longer are inserted too if what comes out is shorter.  A line
goes when its name is none of the program's and no formula mentions it any more.  Every formula is visited a few times: the work is linear
in the number of statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import sympy

from netsor.derive.mentions import key as key_of
from netsor.derive.mentions import mentioned, with_bound_apart
from netsor.derive.names import LoopNumber
from netsor.derive.objects import GaussianExpectation, InfiniteAverage, ScoreExpectation
from netsor.derive.statement import Covariance, Expected, Kurtosis, Statement
from netsor.derive.sums import summation
from netsor.derive.tidy import tidy

LONGEST_NUMBER = 6  # operations of a number that is as short as a name
LARGEST_INTEGER = 10**6 - 1  # in such a number
MOST_PARAMETERS = 2  # in a power product that is as short as a name
LONGEST_TRIED = 60  # operations of a formula that is tried where subscripts coincide
LONGEST_PRODUCT = 8  # operations of a product that is tried in other formulas


def with_values_inserted(statements: list[Statement], keep_lines: bool = False) -> list[Statement]:
    """The statements with trivial values in the place of names, and without the lines that nobody needs then; ``keep_lines``: all lines
    but those of correlations, which are named before it is known whether there is a closed form.

    ``Statement.invented`` tells whose names are not the program's."""
    insertion = Insertion()
    found = [insertion.rewritten(statement) for statement in _adopted(statements)]
    return _needed(_centred(found), keep_lines)


@dataclass(frozen=True)
class Formula:
    """What a quantity is at any values of its letters."""

    letters: tuple[sympy.Symbol, ...]
    right: sympy.Expr

    def at(self, subscripts: tuple) -> sympy.Expr:
        used = set().union(*(each.free_symbols for each in subscripts))
        return with_bound_apart(self.right, used).xreplace(dict(zip(self.letters, subscripts)))


class Insertion:
    """What has been found out about the names of the statements so far."""

    def __init__(self) -> None:
        self.values: dict[tuple, Formula] = {}  # trivial ones, or that go by another name
        self.diagonals: dict[tuple, Formula] = {}  # trivial where the second half of the subscripts is the first
        self.short: dict[tuple, Formula] = {}  # not trivial, but tried: of numbers and Kronecker deltas, or a product
        # by formula in canonical letters, then by the pass of a loop: the name that has it; another pass may have the same formula, and
        # keeps its name, for one line will say what holds in all of them
        self.symbols: dict[tuple, dict[tuple, sympy.Expr]] = {}

    def rewritten(self, statement: Statement) -> Statement:
        """The statement with values inserted and simplified; its own value is known afterwards."""
        where = [self.rewritten(part) for part in statement.where]
        right = self.inserted(statement.right)
        if statement.invented:
            tried = self.inserted(right, self.short)
            right = tried if _is_trivial(tried, quantities=True) or tried.count_ops() < right.count_ops() else right
        result = replace(statement, right=right, where=where)
        if statement.defines:
            self.learn(result)
        return result

    def inserted(self, expr: sympy.Expr, more: Mapping[tuple, Formula] = MappingProxyType({}), finish=None) -> sympy.Expr:
        """A formula with the values of the names in it, and with those of ``more``; simplified by ``finish``, where anything changed by
        default."""
        places = {each: value for each in mentioned(expr) if (value := self.value(each, more)) is not None}
        if not places and finish is None:
            return expr
        own = expr.atoms(sympy.Symbol)
        found = (finish or simplified)(expr.xreplace({each: with_bound_apart(value, own) for each, value in places.items()}))
        return expr if found.has(sympy.nan, sympy.zoo) else found

    def value(self, element: sympy.Expr, more: Mapping[tuple, Formula]) -> sympy.Expr | None:
        """The value of a quantity, if it is as short as a name."""
        key, subscripts = key_of(element)
        formula = self.values.get(key) or more.get(key)
        if formula is not None:
            return formula.at(subscripts)
        half = len(subscripts) // 2
        if key in self.diagonals and subscripts[:half] == subscripts[half:]:
            return self.diagonals[key].at(subscripts[:half])
        return None

    def learn(self, statement: Statement) -> None:
        """Remember the value of a statement for those that follow."""
        key, letters = key_of(statement.symbol)
        right = statement.right
        if len(set(letters)) < len(letters) or not all(isinstance(each, sympy.Symbol) for each in letters):
            return
        named = statement.rule == "correlation" and not right.is_number and right.as_coeff_Mul()[0] != 1  # a correlation that is no kernel
        if _is_trivial(right, quantities=statement.invented) and not named:
            self.values[key] = Formula(letters, right)
            return
        self.learn_diagonal(key, letters, right)
        if right.has(sympy.KroneckerDelta) and right.free_symbols <= set(letters) or right.is_Mul and right.count_ops() <= LONGEST_PRODUCT:
            self.short[key] = Formula(letters, right)
        canonical = {letter: sympy.Symbol(f"#{place}", integer=True) for place, letter in enumerate(letters)}
        formula = right.xreplace(canonical), len(letters)
        numbers = tuple(sorted(number.value for number in key[1] if number is not None))
        known = self.symbols.setdefault(formula, {})
        same = known.get(numbers, known.get(()) if numbers else next(iter(known.values()), None))
        if statement.invented and same is not None:
            self.values[key] = Formula(letters, same.xreplace({symbol: letter for letter, symbol in canonical.items()}))
        else:
            known.setdefault(numbers, statement.symbol.xreplace(canonical))

    def learn_diagonal(self, key: tuple, letters: tuple, right: sympy.Expr) -> None:
        """Remember the value where the subscripts of both sides are the same; in loops only one that hides no recursion."""
        half = len(letters) // 2
        if not half or len(letters) % 2 or right.count_ops() > LONGEST_TRIED:
            return
        value = self.inserted(Formula(letters, right).at(letters[:half] * 2), finish=_evaluated)
        if value in (sympy.S.Zero, sympy.S.One) or not any(key[1]) and _is_trivial(value, quantities=True):
            self.diagonals[key] = Formula(letters[:half], value)


def _needed(statements: list[Statement], keep_lines: bool) -> list[Statement]:
    """The statements without those of invented names that none of the others mentions."""
    needed: set[tuple] = set()
    found: list[Statement] = []
    for statement in reversed(statements):
        kept = [part for part in statement.where if keep_lines or key_of(part.symbol)[0] in needed]
        silent = statement.invented and key_of(statement.symbol)[0] not in needed or bool(statement.where) and not kept
        if silent and not (keep_lines and statement.rule != "correlation"):
            continue
        needed |= {key_of(each)[0] for part in (statement, *kept) for each in mentioned(part.right)}
        found.append(replace(statement, where=kept))
    return found[::-1]


def simplified(expr: sympy.Expr) -> sympy.Expr:
    """A formula after something was inserted: what is trivial done, common factors in front."""
    expr = _evaluated(expr)
    return expr if expr.is_number else tidy(expr)


def _evaluated(expr: sympy.Expr) -> sympy.Expr:
    """A formula with sums over Kronecker deltas done, and numbers added up."""
    if expr.has(sympy.Sum):
        expr = expr.replace(_is_sum_to_be_done, lambda part: summation(part.function, list(part.limits)))
    if expr.has(ScoreExpectation):
        expr = expr.replace(lambda part: isinstance(part, ScoreExpectation) and part.integrand.is_number, lambda part: part.integrand)
    expr = _without_deltas_inside(expr)
    if not expr.free_symbols and not expr.has(GaussianExpectation):
        return min(sympy.expand(expr), expr, key=sympy.count_ops)
    return expr


def _is_sum_to_be_done(part) -> bool:
    return isinstance(part, sympy.Sum) and (
        part.function.has(sympy.KroneckerDelta, sympy.Sum) or not set(part.variables) <= part.function.free_symbols)


def _without_deltas_inside(expr: sympy.Expr) -> sympy.Expr:
    """f(δ) as f(0) + (f(1) - f(0)) δ, where a function or a root is taken of a Kronecker delta."""
    if not expr.has(sympy.KroneckerDelta):
        return expr
    inside = {
        delta for part in expr.atoms(sympy.Function, sympy.Pow)
        if not isinstance(part, sympy.KroneckerDelta) and not (part.is_Pow and part.exp.is_Integer and part.exp.is_positive)
        for delta in part.atoms(sympy.KroneckerDelta)}
    if len(inside) != 1 or expr.has(GaussianExpectation, ScoreExpectation, InfiniteAverage, sympy.Sum, sympy.Indexed):
        return expr
    delta = inside.pop()
    without, beside = (expr.xreplace({delta: value}) for value in (sympy.S.Zero, sympy.S.One))
    return sympy.expand(beside - without) * delta + without


def _is_trivial(value: sympy.Expr, quantities: bool) -> bool:
    """Whether a value is as short as a name: a number, or a number times Kronecker deltas and a power product of parameters or, with
    ``quantities``, a single quantity."""
    number, deltas, others = sympy.S.One, 0, []
    for factor in sympy.Mul.make_args(value):
        if factor.is_number and not factor.has(GaussianExpectation, ScoreExpectation, InfiniteAverage):
            number *= factor
        elif isinstance(factor, sympy.KroneckerDelta):
            deltas += 1
        else:
            others.append(factor)
    if number.count_ops() > LONGEST_NUMBER or any(max(abs(each.p), each.q) > LARGEST_INTEGER for each in number.atoms(sympy.Rational)):
        return False
    if len(others) == 1 and isinstance(others[0], (sympy.Indexed, sympy.Symbol)):
        return quantities or _is_parameter(others[0])
    return len(others) <= MOST_PARAMETERS and all(_is_power_of_parameter(each) for each in others)


def _is_power_of_parameter(factor: sympy.Expr) -> bool:
    base, exponent = factor.as_base_exp()
    return _is_parameter(base) and exponent.is_Integer and bool(exponent.is_positive)


def _is_parameter(symbol: sympy.Expr) -> bool:
    return isinstance(symbol, sympy.Symbol) and not isinstance(symbol, LoopNumber)


# --- names of the program for what it names --------------------------------------------------------------------------


def _adopted(statements: list[Statement]) -> list[Statement]:
    """Where a scalar of the program is just another name for an equation without a vector's name, the equation becomes the scalar's,
    in its place."""
    places = {
        key_of(each.symbol)[0]: each for each in statements
        if each.invented and each.section == "kernels" and each.name is None and not each.where and each.rule == "linearity"}
    scalars: dict[tuple, Statement] = {}
    for each in statements:
        if each.section == "scalars" and not each.invented and isinstance(each.right, (sympy.Indexed, sympy.Symbol)):
            key, subscripts = key_of(each.right)
            letters = key_of(each.left)[1]
            if key in places and set(subscripts) == set(letters) and len(subscripts) == len(letters):
                scalars.setdefault(key, each)
    moved = {id(each) for each in scalars.values()}
    result: list[Statement] = []
    for each in statements:
        scalar = scalars.get(key_of(each.symbol)[0]) if places.get(key_of(each.symbol)[0]) is each else None
        if scalar is not None:
            letters = dict(zip(key_of(each.symbol)[1], key_of(scalar.right)[1]))
            citation = "; ".join(dict.fromkeys(filter(None, (scalar.citation, each.citation))))
            result.append(replace(scalar, right=each.right.xreplace(letters), citation=citation))
            result.append(replace(each, right=scalar.left.xreplace({new: old for old, new in letters.items()})))
        elif id(each) not in moved:
            result.append(each)
    return result


# --- what the laws in words say --------------------------------------------------------------------------------------


def _centred(statements: list[Statement]) -> list[Statement]:
    """Outputs whose mean turns out to be 0 are said to be centred, not given a line for it; mixtures without excess kurtosis are said to
    be Gaussian."""
    centred = {each.left.args[0] for each in statements if _is_zero_mean(each)}
    gaussian = {each.left.args[0] for each in statements if isinstance(each.left, Kurtosis) and each.right == 0}
    result = []
    for each in statements:
        if _is_zero_mean(each):
            continue
        about = each.left.args[0] if isinstance(each.left, Covariance) else None
        law = each.law
        if law is not None and each.section == "outputs" and about in centred:
            law = law.reworded("with the mean above", "with mean 0")
        if law is not None and each.section == "moments" and about in centred:
            law = law.reworded("a mixture of Gaussians, whose means are random too", "a Gaussian scale mixture")
        if law is not None and each.section == "moments" and about in gaussian:
            law = law.reworded("a Gaussian scale mixture", "Gaussian")
        result.append(each if law == each.law else replace(each, law=law))
    return result


def _is_zero_mean(statement: Statement) -> bool:
    return statement.section == "outputs" and isinstance(statement.left, Expected) and statement.right == 0
