"""``W.T @ y`` in a program that uses W too: the rule of NETSOR⊤.

Let the entries of W have variance sigma^2/(number of columns).  Products with W and with W.T are correlated, and in the limit

    Z^{Wx} = Ẑ^{Wx} + Ż^{Wx},     Ż^{Wx} = sigma^2 Σ_y Z^y E[dZ^x / dẐ^{W.T y}],

the sum over the earlier products W.T y.  The Ẑ of all products with W are Gaussian with Cov(Ẑ^{Wx}, Ẑ^{Wx'}) = sigma^2 E[Z^x Z^x']; those
of the products with W.T are an independent family of their own.  For W.T the same holds with W and W.T exchanged and
sigma^2 times (rows/columns) in the place of sigma^2.

Read as a rewriting: W.T is an independent matrix of the transposed shape, and each product gains the linear combination Ż of earlier
vectors, whose coefficients are moments.  What is left is a program without transposes that has the same limit, and it is this
program that the limit is computed of.

Sources: Yang 2020, arXiv:2006.14548 (Tensor Programs II) and arXiv:2009.10685 (Tensor Programs III), the NETSOR⊤ master theorem.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from netsor.ir.copies import Copies, like
from netsor.ir.expressions import ZERO, Compare, Expr, Index, Num, Reduce, Where, Width, add, both, mul, power
from netsor.ir.kernel import in_range, solve
from netsor.ir.program import Family, MatMul, Matrix, Nonlin, Program
from netsor.ir.rewrite import substitute
from netsor.rules.additions import Additions
from netsor.rules.base import Source
from netsor.rules.jacobian import Jacobian, Partial
from netsor.rules.stein import NoExpectation, Stein, expected

CITATION = "Yang 2020, arXiv:2006.14548 and arXiv:2009.10685 (Tensor Programs II and III), NETSOR⊤ master theorem"


class NoCorrection(Exception):
    """The correction of a product cannot be computed.  ``family`` is the product, the message says why."""

    def __init__(self, family: Family, reason: str):
        self.family = family
        super().__init__(reason)


def two_way_products(families: Iterable[Family]) -> frozenset[Family]:
    """The products with a matrix element that is used as W and as W.T."""
    products: dict[Matrix, list[Family]] = {}
    for family in families:
        if isinstance(family.definition, MatMul):
            products.setdefault(family.definition.matrix, []).append(family)
    found: set[Family] = set()
    for own in products.values():
        forward, backward = ([f for f in own if f.definition.transposed is transposed] for transposed in (False, True))
        for one in forward:
            partners = [other for other in backward if _element(one).meets(_element(other))]
            found |= {one, *partners} if partners else set()
    return frozenset(found)


def _element(family: Family) -> Source:
    return Source.of(family.definition.matrix, family.definition.matrix_subscripts)


def without_transposes(program: Program, corrected: bool = True) -> tuple[Program, dict[Family, Family]]:
    """A program without ``.T`` that has the same limit, and for each product with a matrix that is used both ways its Gaussian part.

    ``corrected``: False leaves the corrections out, which is wrong where a matrix is used both ways.

    :raises NoCorrection: if an expected derivative cannot be computed."""
    if not any(isinstance(family.definition, MatMul) and family.definition.transposed for family in program.families):
        return program, {}
    rewriting = _Rewriting(program, corrected)
    return rewriting.result(), rewriting.fresh_parts


@dataclass
class _Direction:
    """The products with one matrix in one direction: the matrix that stands for it, their Gaussian parts Ẑ, and derivatives with
    respect to those."""

    matrix: Matrix
    atoms: set[Family]
    jacobian: Jacobian


class _Rewriting:
    def __init__(self, program: Program, corrected: bool):
        self.program = program
        self.additions = Additions()
        self.stein = Stein(self.additions)
        self.corrected = two_way_products(program.families) if corrected else frozenset()
        self.fresh_parts: dict[Family, Family] = {}
        self._copies = Copies()
        self._directions: dict[tuple[Matrix, bool], _Direction] = {}

    def result(self) -> Program:
        for family in self.program.families:
            self.additions.owner = family
            definition = self._copies.definition(family.definition)
            if isinstance(definition, MatMul):
                self._copies[family] = self._product(family, definition)
            else:
                self._copies[family] = self.additions.append(like(family, definition))
        matrices = dict.fromkeys((*self.program.matrices, *(direction.matrix for direction in self._directions.values())))
        return self._copies.program(self.program, self.additions.families, list(matrices))

    # --- the theorem -------------------------------------------------------------------------------------------------

    def _product(self, family: Family, product: MatMul) -> Family:
        """Ẑ, and Ẑ + Ż where there is a correction."""
        forward = self._direction(product.matrix, product.transposed)
        fresh = replace(product, matrix=forward.matrix, transposed=False)
        if family not in self.corrected:
            return self.additions.append(like(family, fresh))
        correction = self._correction(family, product)
        if correction == ZERO:
            gaussian = result = self.additions.append(like(family, fresh))
        else:
            gaussian = self.additions.append(like(family, fresh, name=f"{family.name}.fresh", hidden=True))
            result = self.additions.append(like(family, Nonlin(add(gaussian.generic, correction))))
        forward.atoms.add(gaussian)
        self.fresh_parts[family] = gaussian
        return result

    def _correction(self, family: Family, product: MatMul) -> Expr:
        """Ż^{Wx} = sigma^2 Σ_y Z^y E[dZ^x / dẐ^{W.T y}], over the elements of W.T that are the same."""
        backward = self._direction(product.matrix, not product.transposed)
        matrix = self._direction(product.matrix, product.transposed).matrix
        variance = substitute(matrix.variance, dict(zip(matrix.axes, product.matrix_subscripts)))
        try:
            partials = expected(product.argument, backward.jacobian, self.stein)
        except NoExpectation as error:
            raise NoCorrection(family, str(error)) from error
        return add(*[self._term(partial, variance, product.matrix_subscripts) for partial in partials])

    @staticmethod
    def _term(partial: Partial, variance: Expr, element: tuple[Expr, ...]) -> Expr:
        """sigma^2 E[dZ^x / dẐ^{W.T y}] Z^y for one occurrence of Ẑ^{W.T y}; 0 if its matrix is another element."""
        other, names = partial.atom.family.definition, dict(zip(partial.atom.family.axes, partial.atom.subscripts))
        y = substitute(other.argument, names)
        body, guard, indices = mul(variance, partial.coefficient, y), partial.guard, list(partial.indices)
        pairs = [(own, substitute(term, names)) for own, term in zip(element, other.matrix_subscripts)]
        while pairs:
            own, term = pairs.pop()
            if own == term:
                continue
            if isinstance(own, Num) and isinstance(term, Num):
                return ZERO
            index, solution = next(
                ((i, s) for i in indices if (s := solve(frozenset((own, term)), i)) is not None), (None, None))
            if index is None:
                guard = both(guard, Compare("==", own, term))
                continue
            indices.remove(index)
            fixed = {index: solution}
            body, pairs = substitute(body, fixed), [(a, substitute(b, fixed)) for a, b in pairs]
            guard = None if guard is None else substitute(guard, fixed)
            if not (isinstance(solution, Index) and solution.range == index.range):
                guard = both(guard, in_range(solution, index.range))
        if indices:
            return Reduce("sum", body, tuple(indices), guard)
        return body if guard is None else Where(guard, body, ZERO)

    def _direction(self, matrix: Matrix, transposed: bool) -> _Direction:
        if (matrix, transposed) not in self._directions:
            atoms: set[Family] = set()
            jacobian = Jacobian(atoms.__contains__, self.additions.vector, self.additions.scalar)
            own = self._transposed(matrix) if transposed else matrix
            self._directions[matrix, transposed] = _Direction(own, atoms, jacobian)
        return self._directions[matrix, transposed]

    def _transposed(self, matrix: Matrix) -> Matrix:
        """A matrix of the transposed shape, entries of the same variance: over its own columns that is sigma^2 rows/columns."""
        rows, columns = (Width(name, self.program.widths[name]) for name in (matrix.rows, matrix.columns))
        variance = mul(matrix.variance, rows, power(columns, -1))
        return replace(matrix, name=f"{matrix.name}.T", rows=matrix.columns, columns=matrix.rows, variance=variance)
