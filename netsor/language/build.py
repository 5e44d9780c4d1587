"""From the rules of grammar.lark to the nodes of syntax.py: one method for each rule."""

from __future__ import annotations

from dataclasses import replace

from lark import Token

from netsor.language import syntax
from netsor.language.diagnostics import Diagnostic
from netsor.language.source import Source, Span

KEPT_TOKENS = frozenset({"NAME", "NUMBER", "STRING", "DOCSTRING", "COMPARE", "PLUS", "MINUS", "TIMES", "OVER"})
LONGEST_WHOLE_NUMBER = 300  # digits; float ends at 308


class Builder:
    """Makes the node of a rule from its span and parts.

    Parts are nodes, tokens that carry text (KEPT_TOKENS), and None for an optional part that is absent.
    Mistakes found on the way are collected in `diagnostics`.
    """

    def __init__(self, source: Source):
        self.source = source
        self.diagnostics: list[Diagnostic] = []

    def identifier(self, token: Token) -> syntax.Identifier:
        return syntax.Identifier(Span(self.source, token.start_pos, token.end_pos), str(token))

    def identifiers(self, tokens) -> tuple[syntax.Identifier, ...]:
        return tuple(map(self.identifier, tokens))

    # --- the program

    def start(self, span, *parts):
        has_docstring = bool(parts) and isinstance(parts[0], Token)
        lines = str(parts[0])[3:-3].strip().split("\n") if has_docstring else []
        docstring = "\n".join(line.rstrip() for line in lines)  # how the file ends its lines does not matter
        return syntax.Program(span, self.source, docstring, parts[1:] if has_docstring else parts)

    def width(self, span, *entries):
        return syntax.Width(span, entries)

    def width_new(self, span, name):
        return syntax.WidthNew(span, self.identifier(name))

    def width_ratio(self, span, name, value):
        return syntax.WidthRatio(span, self.identifier(name), value)

    def width_like(self, span, name, like):
        return syntax.WidthLike(span, self.identifier(name), self.identifier(like))

    def param(self, span, *settings):
        return syntax.Param(span, settings)

    def setting(self, span, name, default):
        return syntax.Setting(span, self.identifier(name), default)

    def default(self, span, value):
        return value

    def index_in(self, span, *parts):
        return syntax.IndexIn(span, self.identifiers(parts[:-1]), parts[-1])

    def index_like(self, span, *names):
        return syntax.IndexLike(span, self.identifiers(names[:-1]), self.identifier(names[-1]))

    def range(self, span, low, high):
        return syntax.Range(span, low, high)

    def data(self, span, element, table):
        return syntax.Data(span, element, table)

    def table(self, span, value):
        return value

    def file(self, span, text):
        return syntax.File(span, str(text)[1:-1])

    def list(self, span, *items):
        return syntax.List(span, items)

    def const(self, span, element, value):
        return syntax.Const(span, element, value)

    def input(self, span, *parts):
        *elements, size, law = parts
        return syntax.Input(span, tuple(elements), size, law)

    def size(self, span, value):
        return value

    def matrix(self, span, *parts):
        *elements, shape, law = parts
        return syntax.Matrix(span, tuple(elements), shape, law)

    def shape(self, span, rows, columns):
        return syntax.Shape(span, rows, columns)

    def law(self, span, name, *arguments):
        return syntax.Law(span, self.identifier(name), arguments)

    def function(self, span, name, *parts):
        return syntax.Function(span, self.identifier(name), parts[:-1], parts[-1])

    def formal(self, span, element, default):
        return syntax.Formal(span, element, default)

    def block(self, span, name, *parts):
        formals = tuple(part for part in parts if isinstance(part, syntax.Formal))
        return syntax.Block(span, self.identifier(name), formals, parts[len(formals):])

    def loop(self, span, name, range_, *statements):
        return syntax.Loop(span, self.identifier(name), range_, statements)

    def return_(self, span, value):
        return syntax.Return(span, value)

    def import_file(self, span, text):
        quoted = Span(self.source, text.start_pos, text.end_pos)
        return syntax.ImportFile(span, syntax.File(quoted, str(text)[1:-1]))

    def import_std(self, span, path):
        return syntax.ImportStd(span, path.path)

    def definition(self, span, element, kind, value):
        return syntax.Definition(span, element, kind, value)

    def kind(self, span, name):
        return self.identifier(name)

    def element(self, span, name, *subscripts):
        return syntax.Element(span, self.identifier(name), subscripts)

    def output(self, span, *names):
        return syntax.Output(span, names)

    def expect(self, span, value, expected, tolerance):
        return syntax.Expect(span, value, expected, tolerance)

    # --- expressions

    def path(self, span, *names):
        return syntax.Name(span, self.identifiers(names), ())

    def name(self, span, path):
        return syntax.Infinity(span) if path.dotted == "inf" else path

    def subscripted(self, span, path, *subscripts):
        return replace(path, span=span, subscripts=subscripts)

    def number(self, span, text):
        return syntax.Number(span, self._value(span, str(text)), str(text))

    def _value(self, span: Span, text: str) -> int | float:
        whole = text.isdigit()
        if whole and len(text.lstrip("0")) <= LONGEST_WHOLE_NUMBER:
            return int(text.lstrip("0") or "0")
        value = float(text)
        if value == float("inf"):
            self.diagnostics.append(Diagnostic("N501", "this number is too large", span,
                                               "the largest is about 1.8e308"))
        elif value == 0 and any(digit in "123456789" for digit in text.lower().split("e")[0]):
            self.diagnostics.append(Diagnostic("N501", "this number is too small to be told from zero", span,
                                               "the smallest is about 4.9e-324"))
        return value

    def infinity(self, span):
        return syntax.Infinity(span)

    def transpose(self, span, operand):
        return syntax.Transpose(span, operand)

    def parenthesised(self, span, inner):
        return replace(inner, span=span)

    def call(self, span, function, *arguments):
        keywords = tuple(each for each in arguments if isinstance(each, syntax.Keyword))
        positional = tuple(each for each in arguments if not isinstance(each, syntax.Keyword))
        for late in positional:
            if keywords and late.span.start > keywords[0].span.start:
                self.diagnostics.append(Diagnostic(
                    "N125", "an argument without a name follows one with a name", late.span,
                    "move this before the named ones"))
                break
        return syntax.Call(span, function, positional, keywords)

    def keyword(self, span, name, value):
        return syntax.Keyword(span, self.identifier(name), value)

    def reduction(self, span, function, body, *parts):
        *binders, guard = parts
        return syntax.Reduction(span, function, body, tuple(binders), guard)

    def binder(self, span, name, range_=None):
        return syntax.Binder(span, self.identifier(name), range_)

    def guard(self, span, condition):
        return syntax.Guard(span, condition)

    def conditional(self, span, value, condition, otherwise):
        return syntax.Conditional(span, value, condition, otherwise)

    def either(self, span, *operands):
        return syntax.Either(span, operands)

    def both(self, span, *operands):
        return syntax.Both(span, operands)

    def negation(self, span, operand):
        return syntax.Negation(span, operand)

    def compare(self, span, *parts):
        return syntax.Compare(span, parts[::2], tuple(map(str, parts[1::2])))

    def add(self, span, *parts):
        return syntax.Add(span, parts[::2], ("+", *map(str, parts[1::2])))

    def multiply(self, span, *parts):
        return syntax.Multiply(span, parts[::2], ("*", *map(str, parts[1::2])))

    def negative(self, span, _minus, operand):
        return syntax.Negative(span, operand)

    def positive(self, span, _plus, operand):
        return replace(operand, span=span)

    def matmul(self, span, left, right):
        return syntax.MatMul(span, left, right)

    def raise_(self, span, base, exponent):
        return syntax.Power(span, base, exponent)
