"""Expressions as one line of text, for messages and ``netsor check --show ir``."""

from __future__ import annotations

from netsor.ir.expressions import (
    Add, Array, Average, Call, Compare, Coord, Expect, Expr, Index, Indicator, Integral, Leaf, Let, Logic, Mul, Num, Pow,
    Reduce, ScalarRef, Softmax, Sym, Where, Width,
)

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def text(expr: Expr) -> str:
    """``expr`` in the notation of the language."""
    return _text(expr)[0]


def _wrap(expr: Expr, level: int) -> str:
    string, own = _text(expr)
    return string if own >= level else f"({string})"


def _subscripted(name: str, subscripts) -> str:
    return f"{name}[{','.join(map(text, subscripts))}]" if subscripts else name


def _element(family, subscripts) -> str:
    values = iter(subscripts)
    shown = [text(next(values)) if isinstance(part, Index) else str(part) for part in family.pattern]
    return f"{family.name}[{','.join(shown)}]" if shown else family.name


def _binder(name: str, body: Expr, indices, guard) -> str:
    suffix = "" if guard is None else f" if {text(guard)}"
    return f"{name}({text(body)} for {', '.join(text(i) for i in indices)}{suffix})"


def _text(expr: Expr) -> tuple[str, int]:
    match expr:
        case Num():
            return str(expr.value), _ATOM if expr.value >= 0 and "/" not in str(expr.value) else _SUM
        case Sym() | Width():
            return expr.name, _ATOM
        case Index():
            return expr.name + (f"'{expr.tag}" if expr.tag != "" else ""), _ATOM
        case Coord() | ScalarRef():
            return _element(expr.family, expr.subscripts), _ATOM
        case Array():
            return _subscripted(expr.declaration.name, expr.subscripts), _ATOM
        case Let():
            return _subscripted(expr.binding.name, expr.subscripts), _ATOM
        case Leaf():
            return _subscripted(f"z{expr.slot}", expr.subscripts), _ATOM
        case Add():
            return " + ".join(_wrap(term, _PRODUCT) for term in expr.terms).replace("+ -", "- "), _SUM
        case Mul():
            return " * ".join(_wrap(factor, _POWER) for factor in expr.factors), _PRODUCT
        case Pow():
            return f"{_wrap(expr.base, _ATOM)}^{_wrap(expr.exponent, _ATOM)}", _POWER
        case Call():
            return f"{expr.function}({', '.join(map(text, expr.arguments))})", _ATOM
        case Compare():
            return f"{text(expr.left)} {expr.op} {text(expr.right)}", _SUM
        case Logic():
            if expr.op == "not":
                return f"not ({text(expr.arguments[0])})", _SUM
            return f" {expr.op} ".join(f"({text(a)})" for a in expr.arguments), _SUM
        case Where():
            return f"where({text(expr.test)}, {text(expr.then)}, {text(expr.otherwise)})", _ATOM
        case Indicator():
            return f"1{{{text(expr.test)}}}", _ATOM
        case Reduce():
            return _binder(expr.op, expr.body, expr.indices, expr.guard), _ATOM
        case Softmax():
            at = "" if expr.at == expr.index else f"[{text(expr.at)}]"
            return _binder("softmax", expr.body, (expr.index,), expr.guard) + at, _ATOM
        case Average():
            return _binder("average", expr.body, (expr.index,), None), _ATOM
        case Integral():
            return f"integral({text(expr.body)} for {text(expr.variable)} in 0..1)", _ATOM
        case Expect():
            return f"E[{' * '.join(_wrap(factor, _POWER) for factor in expr.factors)}]", _ATOM
    raise TypeError(type(expr).__name__)
