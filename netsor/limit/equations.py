"""Let-bound equations: what the recursion emits and the interpreters read."""

from __future__ import annotations

from dataclasses import dataclass
from collections.abc import Iterator

from netsor.ir.expressions import Array, Compare, Expr, Index, Indicator, Let, Mul, Num, ScalarRef, Sym, Width, add, mul
from netsor.ir.kernel import Kernel, sides
from netsor.ir.program import Family
from netsor.ir.rewrite import free_indices, substitute, walk


@dataclass(eq=False)
class Binding:
    """``name[labels] = expression``.  ``about`` says which families it is a moment of."""

    name: str
    labels: tuple[Index, ...]
    expression: Expr
    about: tuple[Family, ...] = ()

    def __repr__(self) -> str:
        return self.name

    def references(self) -> Iterator[Let | ScalarRef]:
        """Other bindings and scalars that the expression mentions."""
        for part in walk(self.expression):
            if isinstance(part, (Let, ScalarRef)):
                yield part


class Equations:
    """The list of bindings, in the order in which they were made.

    With ``whole``, a kernel with several terms gets one name, which only the equalities that all terms share stand beside: what a
    reader of formulas wants; numbers are cheaper with every term apart."""

    def __init__(self, whole: bool = False) -> None:
        self.bindings: list[Binding] = []
        self.whole = whole

    def bind(self, kernel: Kernel, about: tuple[Family, ...], name: str) -> Kernel:
        """The same kernel with every coefficient worth naming bound; under an equality the coefficient mentions one side only."""
        if self.whole:
            kernel = _as_whole(kernel)
        bound = []
        for (equalities, powers), coefficient in kernel.terms.items():
            coefficient = substitute_chain(coefficient, representatives(equalities))
            if not _plain(coefficient):
                labels = tuple(sorted(free_indices(coefficient), key=lambda i: (str(i.tag), i.name)))
                suffix = "" if len(kernel.terms) == 1 else f".{len(bound) + 1}"
                self.bindings.append(Binding(name + suffix, labels, coefficient, about))
                coefficient = Let(self.bindings[-1], labels)
            bound.append(((equalities, powers), coefficient))
        return Kernel(bound)


def _as_whole(kernel: Kernel) -> Kernel:
    """The kernel with one term for each power of infinite sizes: common equalities times one coefficient."""
    groups: dict[tuple, list] = {}
    for (equalities, powers), coefficient in kernel.terms.items():
        groups.setdefault(powers, []).append((equalities, coefficient))
    terms = []
    for powers, parts in groups.items():
        common = frozenset.intersection(*[equalities for equalities, _ in parts])
        rest = [equality for equalities, _ in parts for equality in equalities - common]
        if len(parts) == 1 or any(index.range.infinite for e in rest for side in e for index in free_indices(side)):
            terms += [((equalities, powers), coefficient) for equalities, coefficient in parts]
            continue
        total = add(*[
            mul(*[Indicator(Compare("==", *sides(e))) for e in sorted(equalities - common, key=repr)], coefficient)
            for equalities, coefficient in parts])
        terms.append(((common, powers), substitute_chain(total, representatives(common))))
    return Kernel(terms)


def representatives(equalities: frozenset) -> list[tuple[Index, Expr]]:
    """Substitutions, in order, that replace one side of each equality by the other (second copies by first ones)."""
    replaced: list[tuple[Index, Expr]] = []
    for equality in sorted(equalities, key=repr):
        left, right = (substitute_chain(side, replaced) for side in sides(equality))
        if left == right:
            continue
        if not isinstance(left, Index) or (isinstance(right, Index) and _is_second(right)):
            left, right = right, left
        if isinstance(left, Index) and left not in free_indices(right):
            replaced.append((left, right))
    return replaced


def substitute_chain(expr: Expr, replaced: list[tuple[Index, Expr]]) -> Expr:
    """Substitutions one after the other."""
    for index, term in replaced:
        expr = substitute(expr, {index: term})
    return expr


def _is_second(index: Index) -> bool:
    return index.tag == "y" or (isinstance(index.tag, tuple) and index.tag[0] == "y")


def _plain(expr: Expr) -> bool:
    """Whether a name would only hide the expression: numbers, single references, numbers times a reference."""
    if isinstance(expr, Mul) and len(expr.factors) == 2 and isinstance(expr.factors[0], Num):
        expr = expr.factors[1]
    return isinstance(expr, (Num, Sym, Width, Let, Array, ScalarRef))


