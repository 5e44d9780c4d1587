"""The names of a program and what they stand for."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from netsor.ir.expressions import Expr, Index, Range
from netsor.ir.program import ArrayDeclaration, Family, Matrix
from netsor.language import syntax
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.source import Span
from netsor.language.values import Poisoned

OPERATIONS = ("avg", "ceil", "dot", "floor", "max", "mean", "min", "mod", "prod", "softmax", "sum", "where", "wrap")
CONSTANTS = ("pi", "inf")
Part = Family | Matrix | ArrayDeclaration


def catalogue() -> frozenset[str]:
    """The names of the nonlinearities."""
    from netsor import nonlinearities

    return frozenset(nonlinearities.names())


def is_built_in(name: str) -> bool:
    return name in OPERATIONS or name in CONSTANTS or name in catalogue()


@dataclass
class WidthEntity:
    name: str
    span: Span


@dataclass
class ParameterEntity:
    name: str
    value: Expr
    span: Span


@dataclass
class IndexEntity:
    index: Index
    span: Span


@dataclass
class FunctionEntity:
    definition: syntax.Function
    span: Span
    order: int


@dataclass
class Pieces:
    """A family, matrix or array by name: its parts by the constants in their subscripts.

    `parts[mask][constants]` are the parts whose subscripts are numbers exactly where the mask says so.
    """

    name: str
    what: str
    rank: int
    span: Span
    parts: dict[tuple[bool, ...], dict[tuple[int, ...], list[tuple[tuple[Index | int, ...], Part, Span]]]] = field(
        default_factory=dict)
    first: Part | None = None
    left: tuple[str | None, ...] = ()  # names of loop variables or indices where the subscripts are numbers

    def all_parts(self) -> list[tuple[tuple[Index | int, ...], Part, Span]]:
        return [entry for group in self.parts.values() for entries in group.values() for entry in entries]

    def overlapping(self, pattern: tuple[Index | int, ...]) -> tuple[tuple[Index | int, ...], Span] | None:
        """A part that has an element in common with the pattern."""
        mask, constants = signature(pattern)
        same = self.parts.get(mask, {}).get(constants, ())
        others = [entry for each, group in self.parts.items() if each != mask
                  for entries in group.values() for entry in entries]
        for other, _, span in [*same, *others]:
            if all(_meet(a, b) for a, b in zip(pattern, other)):
                return other, span
        return None

    def add(self, pattern: tuple[Index | int, ...], part: Part, span: Span) -> None:
        self.first = self.first or part
        mask, constants = signature(pattern)
        self.parts.setdefault(mask, {}).setdefault(constants, []).append((pattern, part, span))


def signature(pattern: tuple[Index | int, ...]) -> tuple[tuple[bool, ...], tuple[int, ...]]:
    mask = tuple(not isinstance(each, Index) for each in pattern)
    return mask, tuple(each for each in pattern if not isinstance(each, Index))


def _values(part: Index | int) -> Range:
    return part.range if isinstance(part, Index) else Range(part, part)


def _meet(a: Index | int, b: Index | int) -> bool:
    a, b = _values(a), _values(b)
    return a.lo <= b.hi and b.lo <= a.hi


Entity = WidthEntity | ParameterEntity | IndexEntity | FunctionEntity | Pieces


class Scope:
    """All names of a program share one space."""

    def __init__(self, tree: syntax.Program):
        self.entities: dict[str, Entity] = {}
        self.poisoned: set[str] = set()
        self.later = declared_names(tree.statements)  # where names are first defined: "too early" is not "nowhere"

    def declare(self, name: syntax.Identifier, entity: Entity) -> None:
        self.check_free(name)
        self.entities[name.name] = entity

    def check_free(self, name: syntax.Identifier) -> None:
        if is_built_in(name.name):
            raise NetsorError(Diagnostic("N203", f"`{name.name}` is built in and cannot be defined anew", name.span))
        if name.name in self.entities:
            raise NetsorError(Diagnostic(
                "N202", f"`{name.name}` is already defined", name.span, "defined again here",
                (Label(self.entities[name.name].span, "first defined here"),)))

    def pieces(self, name: syntax.Identifier, what: str, rank: int, span: Span) -> Pieces:
        """The family, matrix or array of that name, new or defined in part already."""
        present = self.entities.get(name.name)
        if isinstance(present, Pieces) and present.what == what:
            if present.rank != rank:
                raise NetsorError(Diagnostic(
                    "N303", f"`{name.name}` has {count(present.rank, 'subscript')} elsewhere and {rank} here", span, "",
                    (Label(present.span, "first defined here"),)))
            return present
        self.check_free(name)
        return Pieces(name.name, what, rank, span)

    def define(self, pieces: Pieces, pattern: tuple[Index | int, ...], part: Part, span: Span) -> None:
        pieces.add(pattern, part, span)
        self.entities[pieces.name] = pieces

    def poison(self, name: str) -> None:
        self.poisoned.add(name)

    def find(self, name: str, span: Span) -> Entity:
        if name in self.entities:
            if name in self.poisoned:
                raise Poisoned
            return self.entities[name]
        if name in self.poisoned:
            raise Poisoned
        if name in self.later:
            raise NetsorError(Diagnostic(
                "N204", f"`{name}` is used before it is defined", span, "", (Label(self.later[name], "defined here"),)))
        raise NetsorError(Diagnostic("N201", f"`{name}` is not defined", span, hint=self.suggestion(name)))

    def suggestion(self, name: str, among: tuple[str, ...] = ()) -> str:
        if name == "π":
            return "write pi"
        known = among or (*self.entities, *CONSTANTS)
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        near += [each for each in known if each.lower() == name.lower() and each not in near]
        return f"did you mean {' or '.join(near)}?" if near else ""


def declared_names(statements: tuple[syntax.Node, ...]) -> dict[str, Span]:
    """Every name that the statements define anywhere, and where they do so first."""
    found: dict[str, Span] = {}
    pending = list(statements)[::-1]
    while pending:
        statement = pending.pop()
        match statement:
            case syntax.Loop():
                pending += statement.statements[::-1]
                continue
            case syntax.Data(element=element):
                sizes = (each.path[0] for each in element.subscripts if isinstance(each, syntax.Name))
                names = (element.name, *sizes)
            case syntax.Definition(element=element) | syntax.Const(element=element):
                names = (element.name,)
            case syntax.Input(elements=elements) | syntax.Matrix(elements=elements):
                names = tuple(element.name for element in elements)
            case syntax.Width(entries=entries):
                names = tuple(entry.name for entry in entries)
            case syntax.Param(settings=settings):
                names = tuple(setting.name for setting in settings)
            case syntax.IndexIn(names=names) | syntax.IndexLike(names=names):
                pass
            case syntax.Function(name=name) | syntax.Block(name=name):
                names = (name,)
            case _:
                continue
        for name in names:
            found.setdefault(name.name, name.span)
    return found


def count(number: int, noun: str) -> str:
    """`no subscripts`, `1 subscript`, `2 subscripts`"""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
