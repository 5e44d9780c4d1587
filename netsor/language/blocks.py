"""Blocks: their declaration, and a call of one as the statements of its own that it stands for.

A call is elaborated like any other part of the program, in a scope of its own: its families are families of the program, with the
subscripts of the call before their own, and the value of the call is the value of what the block returns.
"""

from __future__ import annotations

from collections.abc import Callable

from netsor.ir.expressions import Index, Num
from netsor.language import syntax
from netsor.language.arguments import check_formals
from netsor.language.binding import Binding, bind
from netsor.language.diagnostics import Diagnostic, NetsorError, calls_around
from netsor.language.call_site import inside_call
from netsor.language.expressions import Meaning, quantity
from netsor.language.lefthand import Left
from netsor.language.scope import BlockEntity, Pieces, is_built_in
from netsor.language.state import Frame, fail, written
from netsor.language.values import Poisoned

NESTING_LIMIT = 30
NOT_INSIDE = {
    syntax.Param: ("`param`", "parameters are set from outside the program: make it an argument of the block"),
    syntax.Data: ("`data`", "data belong to the program: pass them to the block as an argument"),
    syntax.Output: ("`output`", "what is reported is said where the block is called, as in output z.p"),
    syntax.Expect: ("`expect`", "what is expected is said where the block is called, as in expect mean(z.p[1]) = …"),
    syntax.Block: ("a block", "blocks stand side by side, and may call those above them"),
    syntax.ImportFile: ("`import`", "imports stand outside the blocks of a file, which all see them"),
    syntax.ImportStd: ("`import`", "imports stand outside the blocks of a file, which all see them"),
}


# --- declaration


def declare(node: syntax.Block, frame: Frame) -> None:
    check_formals(node.formals)
    names = {formal.element.name.name for formal in node.formals}
    for formal in node.formals:
        if is_built_in(formal.element.name.name):
            fail("N203", f"`{formal.element.name.name}` is built in and cannot be defined anew", formal.element.name.span)
        _check_subscripts(formal, names)
    _check_statements(node)
    frame.scope.declare(node.name, BlockEntity(node, node.name.span, frame.scope))


def _check_subscripts(formal: syntax.Formal, names: set[str]) -> None:
    seen: set[str] = set()
    for each in formal.element.subscripts:
        if not isinstance(each, syntax.Name) or each.subscripts or len(each.path) > 1:
            fail("N321", "the subscripts of an argument are names, which are indices in the block", each.span)
        if each.dotted in names or is_built_in(each.dotted):
            fail("N321", f"`{each.dotted}` is no name for an index here", each.span,
                 "it is an argument" if each.dotted in names else "it is built in")
        if each.dotted in seen:
            fail("N321", f"the index `{each.dotted}` occurs twice", each.span)
        seen.add(each.dotted)


def _check_statements(node: syntax.Block) -> None:
    """A block ends with its only `return`, and has no statements that are about the whole program."""
    problems: list[Diagnostic] = []
    last = node.statements[-1] if node.statements else None
    pending = [(statement, False) for statement in node.statements][::-1]
    while pending:
        statement, in_loop = pending.pop()
        if isinstance(statement, syntax.Loop):
            pending += [(each, True) for each in statement.statements][::-1]
        elif isinstance(statement, syntax.Return) and (in_loop or statement is not last):
            reason = "it stands in a loop" if in_loop else "lines after it would never be reached"
            problems.append(Diagnostic("N330", "`return` is the last line of a block", statement.span, reason))
        elif type(statement) in NOT_INSIDE:
            what, reason = NOT_INSIDE[type(statement)]
            problems.append(Diagnostic("N330", f"{what} stands inside a block", statement.span, reason))
    if not isinstance(last, syntax.Return) and not any("`return`" in problem.message for problem in problems):
        problems.append(Diagnostic("N330", f"the block `{node.name.name}` returns nothing", node.name.span,
                                   "its last line is: return …"))
    if problems:
        raise NetsorError(problems)


# --- calls


def enter(entity: BlockEntity, node: syntax.Call, left: Left, frame: Frame) -> BlockCall:
    """The call with its arguments in place."""
    if frame.scope.depth >= NESTING_LIMIT:
        hint = "what repeats itself is written as a loop" if _repeats(node, frame) else ""
        fail("N113", f"blocks are nested more than {NESTING_LIMIT} deep", node.function.span, hint=hint)
    return BlockCall(entity.definition, frame, bind(entity, node, left, frame))


def _repeats(node: syntax.Call, frame: Frame) -> bool:
    """Whether one of the calls around this one stands in a block that it calls itself: one that was passed to itself."""
    calls = calls_around(node.span._replace(call=frame.state.call))
    return len(set(calls)) < len(calls)


class BlockCall:
    """One call: a scope of its own in which the lines of the block are elaborated once."""

    def __init__(self, definition: syntax.Block, frame: Frame, binding: Binding):
        self.definition = definition
        self.state = frame.state
        self.binding = binding

    def run(self, run: Callable[[syntax.Node, Frame], None]) -> None:
        """Elaborate the lines; `run(statement, frame)` does so with one, and keeps its mistakes."""
        known = len(self.state.diagnostics)
        with inside_call(self.state, self.binding.span):
            for statement in () if self.binding.empty else self.definition.statements[:-1]:
                run(statement, self.binding.frame)
        if len(self.state.diagnostics) > known:
            raise Poisoned

    def result(self, frame: Frame) -> Meaning:
        """What the block returns, where the indices of the caller have the values that `frame` says."""
        scope, outer_words = self.binding.scope, self.binding.outer_words
        carried = scope.prefix[len(frame.terms):]
        terms = [frame.indices[written(each)] if isinstance(each, Index) else Num(each) for each in carried]
        indices = {word: frame.indices[outer] for word, outer in outer_words.items() if outer in frame.indices}
        inside = Frame(self.state, scope, "return", (*frame.terms, *terms), indices=indices)
        with inside_call(self.state, self.binding.span):
            return quantity(self.definition.statements[-1].value, inside)

    def keep_names(self, family: Pieces | None) -> None:
        """Let the values of the block be found as `z.p`, `z` being the family that the call defines."""
        if family is None:
            return
        for name, pieces in self.binding.scope.entities.items():
            if isinstance(pieces, Pieces) and pieces.what != "an argument":
                _keep(family, name, pieces)


def _keep(outer: Pieces, name: str, pieces: Pieces) -> None:
    """Add what one call has under a name inside the block to what the calls before it have."""
    kept = outer.inner.setdefault(name, Pieces(f"{outer.name}.{name}", pieces.what, pieces.rank, pieces.span))
    if kept is None or not _alike(kept, pieces):
        outer.inner[name] = None
        return
    if any(kept.overlapping(piece.pattern) for piece in pieces.all_parts()):
        outer.inner[name] = None
        return
    kept.left = pieces.left
    for piece in pieces.all_parts():
        kept.add(piece)
    for deeper, inner in pieces.inner.items():
        if inner is None:
            kept.inner[deeper] = None
        else:
            _keep(kept, deeper, inner)


def _alike(kept: Pieces, pieces: Pieces) -> bool:
    if (kept.what, kept.rank) != (pieces.what, pieces.rank):
        return False
    return kept.first is None or kept.what != "a family" or kept.first.is_vector == pieces.first.is_vector


