"""The names of a program and what they stand for."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from netsor.ir.expressions import Expr, Index, Range
from netsor.ir.program import ArrayDeclaration, Family, Matrix
from netsor.language import syntax
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.source import Span
from netsor.language.values import FunctionValue, Level, MatrixValue, Poisoned, Value

OPERATIONS = ("avg", "ceil", "dot", "floor", "max", "mean", "min", "mod", "prod", "softmax", "sum", "where", "wrap")
CONSTANTS = ("pi", "inf")


def is_nonlinearity(name: str) -> bool:
    """Whether the catalogue has a nonlinearity of that name."""
    from netsor import nonlinearities

    return nonlinearities.known(name)


def is_built_in(name: str) -> bool:
    return name in OPERATIONS or name in CONSTANTS or is_nonlinearity(name)


@dataclass
class WidthEntity:
    """`width` is the name of the width in the program: in a block a width has a name of its own."""

    name: str
    span: Span
    width: str


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
    """A `def`; its body is read in the scope where it stands."""

    definition: syntax.Function
    span: Span
    scope: Scope


@dataclass
class BlockEntity:
    definition: syntax.Block
    span: Span
    scope: Scope


@dataclass
class FunctionArgument:
    """The name that a block has for a function or block that was passed to it."""

    value: FunctionValue
    span: Span


@dataclass(frozen=True)
class Argument:
    """What a block was called with, over the axes of the part that it is: a number, scalar, vector or matrix."""

    value: Value | MatrixValue
    span: Span


Part = Family | Matrix | ArrayDeclaration | Argument


@dataclass(frozen=True)
class Piece:
    """A part of what a name stands for, defined for the subscripts that match `pattern`.

    `axes` are the indices of the pattern that the part has as axes of its own. A matrix declared in a block has none for
    the subscripts that the call carries: it serves all their values.
    """

    pattern: tuple[Index | int, ...]
    part: Part
    span: Span
    axes: tuple[Index, ...]


@dataclass
class Pieces:
    """A family, matrix or array by name: its parts by the constants in their subscripts.

    `parts[mask][constants]` are the parts whose subscripts are numbers exactly where the mask says so. In a block the
    first subscripts are those of the call, which are not written. `inner` are the names inside the blocks whose calls
    this family is the value of.
    """

    name: str
    what: str
    rank: int
    span: Span
    parts: dict[tuple[bool, ...], dict[tuple[int, ...], list[Piece]]] = field(default_factory=dict)
    first: Part | None = None
    left: tuple[str | None, ...] = ()  # names of loop variables or indices where the subscripts are numbers
    inner: dict[str, Pieces | None] = field(default_factory=dict)  # None: not of one form in all calls

    @property
    def is_array(self) -> bool:
        """Whether all of it is known before the limit is taken."""
        passed = self.first.value if isinstance(self.first, Argument) else None
        return self.what == "an array" or (isinstance(passed, Value) and passed.level == Level.NUMBER)

    def all_parts(self) -> list[Piece]:
        return [entry for group in self.parts.values() for entries in group.values() for entry in entries]

    def overlapping(self, pattern: tuple[Index | int, ...]) -> Piece | None:
        """A part that has an element in common with the pattern."""
        mask, constants = signature(pattern)
        same = self.parts.get(mask, {}).get(constants, ())
        others = [entry for each, group in self.parts.items() if each != mask
                  for entries in group.values() for entry in entries]
        for other in [*same, *others]:
            if all(_meet(a, b) for a, b in zip(pattern, other.pattern)):
                return other
        return None

    def add(self, piece: Piece) -> None:
        self.first = self.first or piece.part
        mask, constants = signature(piece.pattern)
        self.parts.setdefault(mask, {}).setdefault(constants, []).append(piece)


def signature(pattern: tuple[Index | int, ...]) -> tuple[tuple[bool, ...], tuple[int, ...]]:
    mask = tuple(not isinstance(each, Index) for each in pattern)
    return mask, tuple(each for each in pattern if not isinstance(each, Index))


def label(name: str, pattern: tuple[Index | int, ...]) -> str:
    if not pattern:
        return name
    return f"{name}[{','.join(each.name if isinstance(each, Index) else str(each) for each in pattern)}]"


def _values(part: Index | int) -> Range:
    return part.range if isinstance(part, Index) else Range(part, part)


def _meet(a: Index | int, b: Index | int) -> bool:
    a, b = _values(a), _values(b)
    return a.lo <= b.hi and b.lo <= a.hi


Entity = WidthEntity | ParameterEntity | IndexEntity | FunctionEntity | BlockEntity | FunctionArgument | Pieces


class Scope:
    """The names of a program, of an imported file, or of one call of a block. All share one space.

    A block sees what it declares and, in the scope `home` of its file, the first `visible` functions and blocks. `prefix`
    are the subscripts of its call that everything in it has before its own: numbers, and indices that are carried;
    `path` is what stands before its names where the whole program is seen. Names of indices in `taken` may occur in
    what comes from outside, so that indices of its own get other names.
    """

    def __init__(
        self, statements: tuple[syntax.Node, ...], *, home: Scope | None = None, visible: int = 0, path: str = "",
        prefix: tuple[Index | int, ...] = (), words: tuple[str | None, ...] = (), taken: frozenset[str] = frozenset(), depth: int = 0,
        imported: bool = False,
    ):
        self.entities: dict[str, Entity] = {}
        self.poisoned: set[str] = set()
        self.later = declared_names(statements)  # where names are first defined: "too early" is not "nowhere"
        self.home = home
        self.visible = visible
        self.path = path
        self.prefix = prefix
        self.words = words  # of the prefix, as `Pieces.left`
        self.taken = taken
        self.depth = depth  # of blocks inside each other
        self.imported = imported
        self.incomplete = False  # something could not be imported, and nobody knows its names
        self.width: str | None = None  # the first one
        self.positions: dict[str, int] = {}  # of functions and blocks, in the order in which they are declared

    @property
    def is_block(self) -> bool:
        return self.home is not None

    def declare(self, name: syntax.Identifier, entity: Entity) -> None:
        self.check_free(name)
        self.entities[name.name] = entity
        if isinstance(entity, FunctionEntity | BlockEntity):
            self.positions[name.name] = len(self.positions)

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
                own = len(self.prefix)
                raise NetsorError(Diagnostic(
                    "N303", f"`{name.name}` has {count(present.rank - own, 'subscript')} elsewhere and {rank - own} here", span,
                    "", (Label(present.span, "first defined here"),)))
            return present
        self.check_free(name)
        return Pieces(name.name, what, rank, span)

    def define(self, pieces: Pieces, piece: Piece) -> None:
        pieces.add(piece)
        self.entities[pieces.name] = pieces

    def index(self, word: str, range_: Range) -> Index:
        """An index of that name, under another one where it could be mistaken for an index from outside."""
        while word in self.taken:
            word += "'"
        return Index(word, range_)

    def width_word(self, width: str) -> str:
        """What a width is called here."""
        return next((name for name, entity in self.entities.items()
                     if isinstance(entity, WidthEntity) and entity.width == width), width)

    def poison(self, name: str) -> None:
        self.poisoned.add(name)

    def get(self, name: str, visible: int | None = None) -> Entity | None:
        """What a name stands for, nothing if it is not known (yet). `visible`: how many functions may be used here."""
        entity = self.entities.get(name)
        if entity is not None:
            hidden = visible is not None and self.positions.get(name, -1) >= visible
            return None if hidden else entity
        if self.home is not None and name in self.home.positions:
            return self.home.get(name, self.visible)
        return None

    def is_poisoned(self, name: str) -> bool:
        """Whether what the name stands for was already reported as a mistake, or may have been."""
        if name in self.poisoned:
            return True
        unknown = name not in self.entities
        return unknown and (self.incomplete or (self.home is not None and name not in self.later and self.home.is_poisoned(name)))

    def knows(self, name: str) -> bool:
        """Whether there is more to say of the name than that it is not defined."""
        scopes = (self,) if self.home is None else (self, self.home)
        return any(name in scope.entities or name in scope.later for scope in scopes) or self.is_poisoned(name)

    def find(self, name: str, span: Span, visible: int | None = None) -> Entity:
        if self.is_poisoned(name):
            raise Poisoned
        entity = self.get(name, visible)
        if entity is not None:
            return entity
        home = self.home
        known = self.entities.get(name) or (home.entities.get(name) if home is not None and name in home.positions else None)
        if known is not None and visible_to(known, name) == (visible if home is None else self.visible):
            raise NetsorError(Diagnostic(
                "N204", f"`{name}` is used in its own definition", span, "", (Label(known.span, "defined here"),),
                "what repeats itself is written as a loop"))
        if known is not None or name in self.later and not self.imported:
            where = known.span if known is not None else self.later[name]
            raise NetsorError(Diagnostic(
                "N204", f"`{name}` is used before it is defined", span, "", (Label(where, "defined here"),)))
        outside = self.later.get(name) or (home.later.get(name) if home is not None else None)
        if outside is not None:
            rule = "a block sees its arguments and what it declares; pass it as an argument" if self.is_block else (
                "an import brings in `def`s and `block`s only")
            raise NetsorError(Diagnostic("N210", f"`{name}` is not seen here", span, rule, (Label(outside, "defined here"),)))
        raise NetsorError(Diagnostic("N201", f"`{name}` is not defined", span, hint=self.suggestion(name)))

    def suggestion(self, name: str, among: tuple[str, ...] = ()) -> str:
        if name == "π":
            return "write pi"
        functions = tuple(self.home.positions)[:self.visible] if self.home is not None else ()
        known = among or tuple(dict.fromkeys((*self.entities, *functions, *CONSTANTS)))
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        near += [each for each in known if each.lower() == name.lower() and each not in near]
        return f"did you mean {' or '.join(near)}?" if near else ""


def visible_to(entity: Entity, name: str) -> int | None:
    """How many functions and blocks of its file a function or block may use: those above it."""
    return entity.scope.positions.get(name) if isinstance(entity, FunctionEntity | BlockEntity) else None


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
