"""What is known of a program while it is elaborated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from netsor.ir.expressions import Expr, Index, Width
from netsor.ir.facts import Randomness
from netsor.ir.program import ArrayDeclaration, Definition, Draw, Expectation, Family, Matrix, Output
from netsor.language import syntax
from netsor.language.diagnostics import Diagnostic, Label, NetsorError
from netsor.language.scope import Entity, Scope
from netsor.language.source import Span
from netsor.language.values import Value

FAMILY_LIMIT = 20_000
STATEMENT_LIMIT = 200_000


def fail(
    code: str, message: str, span: Span | None, label: str = "", secondary: tuple[Label, ...] = (), hint: str = ""
) -> NoReturn:
    """Stop the elaboration of this statement with one error."""
    raise NetsorError(Diagnostic(code, message, span, label, secondary, hint))


class TooMuchWork(NetsorError):
    """The program as a whole is too large; nothing else is worth saying."""


@dataclass(frozen=True)
class Free:
    """In a derivation, parameters stay symbols: all but those ``pinned``.  One without a value is tried at ``trial``, at SIZE if it is
    one of ``sizes``."""

    pinned: frozenset[str]
    trial: Any
    sizes: frozenset[str]

    def trial_of(self, name: str) -> Any:
        return SIZE if name in self.sizes else self.trial


SIZE = 4


class State:
    def __init__(self, tree: syntax.Program, settings: Mapping[str, Any], data: Mapping[str, Any],
                 directory: Path | None, rules: Mapping[str, Any], free: Free | None = None):
        self.tree = tree
        self.free = free
        self.scope = Scope(tree.statements)  # of the program itself
        self.settings = dict(settings)
        self.data = dict(data)
        self.directory = directory
        self.rules = rules
        self.widths: dict[str, Width] = {}
        self.width_spans: dict[str, Span] = {}
        self.families: list[Family] = []
        self.matrices: list[Matrix] = []
        self.arrays: list[ArrayDeclaration] = []
        self.outputs: list[Output] = []
        self.expectations: list[Expectation] = []
        self.parameters: dict[str, Any] = {}
        self.undetermined: set[str] = set()  # in a derivation: parameters without a value, data without numbers
        self.diagnostics: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self.annotations: list[tuple[Family, syntax.Identifier]] = []  # kinds that the program states
        self.hidden: dict[Any, Family] = {}  # hidden families by what they compute
        self.hidden_counts: dict[str, int] = {}
        self.draws: dict[Any, tuple[Draw, tuple[Expr, ...]]] = {}  # of rules of plug-ins, with the constants they are drawn with
        self.randomness = Randomness()
        self.statements = 0
        self.failed: set[syntax.Node] = set()  # statements with an error, not to be tried in every pass of a loop
        self.inlined = 0  # calls of the program's functions
        self.current: Span | None = None  # of the statement that is being elaborated
        self.call: Span | None = None  # of the block whose lines are being elaborated
        self.modules: dict[str, Scope] = {}  # imported files
        self.importing: list[str] = []  # files whose import is not finished

    @property
    def width(self) -> str | None:
        """The first width of the program."""
        return self.scope.width

    def new_family(self, name: str, pattern: tuple[Index | int, ...], definition: Definition, span: Span,
                   width: str = "", hidden: bool = False) -> Family:
        if len(self.families) >= FAMILY_LIMIT:
            raise TooMuchWork(Diagnostic(
                "N512", f"with its loops written out this program has more than {FAMILY_LIMIT:,} families of values",
                span))
        from netsor.language.check import kind_of

        span = span._replace(call=self.call)
        family = Family(name, pattern, definition, len(self.families), width=width, hidden=hidden, span=span)
        family.kind = kind_of(family, self.randomness)
        self.families.append(family)
        return family


@dataclass(frozen=True)
class Frame:
    """Where an expression stands: the names and indices that have a meaning only there, and what is known to hold.

    `indices` are the indices that are free on the left or bound around the expression (numbers where an index takes its
    values one by one); `guards` are conditions under which alone the expression counts; `owner` names the definition it
    belongs to. In the body of a function `calls` are the calls of functions that lead to it, and `visible` is how many of
    the first functions of its scope it may use. In a block `terms` are the subscripts that the call has, where they have
    values: those of `scope.prefix`, an index of it perhaps as a number.
    """

    state: State
    scope: Scope
    owner: str = ""
    terms: tuple[Expr, ...] = ()
    names: Mapping[str, Any] = field(default_factory=dict)
    indices: Mapping[str, Expr] = field(default_factory=dict)
    guards: tuple[Expr, ...] = ()
    calls: tuple[syntax.Call, ...] = ()
    visible: int | None = None

    def entity(self, name: str) -> Entity | None:
        """What a name stands for here, other than a local one; nothing if it is not known (yet)."""
        return self.scope.get(name, self.visible)

    def find(self, name: str, span: Span) -> Entity:
        return self.scope.find(name, span, self.visible)

    @property
    def path(self) -> str:
        """What the names of hidden families begin with."""
        return self.scope.path + self.owner

    def at(self, index: Index, term: Expr) -> Frame:
        """The frame in which an index of this scope is that term."""
        if index in self.scope.prefix:
            place = self.scope.prefix.index(index)
            return replace(self, terms=(*self.terms[:place], term, *self.terms[place + 1:]))
        return self.with_indices(**{written(index): term})

    def with_indices(self, **indices: Expr) -> Frame:
        names = {name: value for name, value in self.names.items() if name not in indices}
        return replace(self, indices={**self.indices, **indices}, names=names)

    def with_names(self, **names: Value) -> Frame:
        indices = {name: value for name, value in self.indices.items() if name not in names}
        return replace(self, names={**self.names, **names}, indices=indices)

    def with_guard(self, guard: Expr | None) -> Frame:
        return self if guard is None else replace(self, guards=(*self.guards, guard))

    def inside_function(self, scope: Scope, visible: int, call: syntax.Call) -> Frame:
        """The frame of a function's body, which sees the scope where it is defined but not the surroundings of the call."""
        terms = self.terms[:len(scope.prefix)]  # if that is a block, the call stands in it
        return replace(self, scope=scope, terms=terms, names={}, indices={}, calls=(*self.calls, call), visible=visible)

    @property
    def inlined(self) -> bool:
        return bool(self.calls)


def written(index: Index) -> str:
    """The name of an index as it is written; see `Scope.index`."""
    return index.name.rstrip("'")
