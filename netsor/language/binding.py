"""The arguments of a block, and what its names for them stand for.

The subscripts of a formal `x[i]` are indices of the block. They are bound to the last free subscripts of the actual, in order; its
other free subscripts are carried: everything in the block is computed for all their values, by the same matrices and inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netsor.ir.expressions import Index, Num, Sym
from netsor.language import hidden, syntax
from netsor.language.arguments import given_arguments
from netsor.language.call_site import inside_call
from netsor.language.callees import check_passed
from netsor.language.constants import is_empty
from netsor.language.diagnostics import Label
from netsor.language.expressions import Meaning, evaluate, wrong_kind
from netsor.language.lefthand import Left, each_value, left_of
from netsor.language.references import renamed
from netsor.language.scope import (
    Argument, BlockEntity, FunctionArgument, IndexEntity, ParameterEntity, Pieces, Scope, count,
)
from netsor.language.source import Span
from netsor.language.state import Frame, fail, written
from netsor.language.values import FunctionValue, Level, MatrixValue, Value


@dataclass(frozen=True)
class Actual:
    """What is given for one formal. `bound` are the indices of the caller that its subscripts are bound to, `carried` the others."""

    formal: syntax.Formal
    node: syntax.Node
    bound: tuple[Index, ...]
    carried: tuple[Index, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The subscripts of the formal."""
        return words_of(self.formal)


@dataclass(frozen=True)
class Binding:
    """The scope of one call. `outer_words` are the caller's names of the indices that the block's are bound to."""

    scope: Scope
    frame: Frame
    outer_words: dict[str, str]
    span: Span  # of the call
    empty: bool  # it is for no values at all


def words_of(formal: syntax.Formal) -> tuple[str, ...]:
    return tuple(each.dotted for each in formal.element.subscripts)


def bind(entity: BlockEntity, node: syntax.Call, left: Left, frame: Frame) -> Binding:
    """The scope of the block for this call, its arguments declared in it; `left` is the left of the definition."""
    given = given_arguments(entity.definition, node)
    formals = entity.definition.formals
    actuals = {formal: read_actual(formal, given[formal.element.name.name], frame)
               for formal in formals if formal.element.name.name in given}
    outer = _bound_indices(list(actuals.values()))
    _check_carried(list(actuals.values()), outer, left)
    scope = _new_scope(entity, node, left, set(outer.values()), frame)
    inside = Frame(frame.state, scope, terms=tuple(each if isinstance(each, Index) else Num(each) for each in scope.prefix))
    call = node.span._replace(call=frame.state.call)
    empty = any(is_empty(axis.range) for axis in left.axes)
    locals_ = _declare_indices(formals, outer, scope)
    for formal in () if empty else formals:
        if formal in actuals:
            _declare_actual(actuals[formal], locals_, scope, frame)
        else:
            with inside_call(frame.state, call):
                _declare_default(formal, locals_, node, inside)
    return Binding(scope, inside, {word: written(index) for word, index in outer.items()}, call, empty)


def read_actual(formal: syntax.Formal, node: syntax.Node, frame: Frame) -> Actual:
    """Which free subscripts of the actual are bound and which are carried."""
    check_passed(node, frame)
    free = free_subscripts(node, frame)
    wanted = len(formal.element.subscripts)
    if len(free) < wanted:
        has = count(len(free), "free subscript") if free else "none"
        bare = isinstance(node, syntax.Name) and not node.subscripts and not free
        label, hint = "", ""
        if bare and isinstance(entity := frame.entity(node.dotted), Pieces):
            if entity.rank:
                label = "give it its subscripts, indices that are declared"
            else:
                hint = f"make it a family of one: index o in 1..1, then {node.dotted}s[o] = {node.dotted}, and pass {node.dotted}s[o]"
        fail("N332", f"`{formal.element.span.text}` stands for values with {count(wanted, 'free subscript')}, and this has {has}",
             node.span, label, (Label(formal.span, "this argument"),), hint)
    split = len(free) - wanted
    return Actual(formal, node, tuple(free[split:]), tuple(free[:split]))


def free_subscripts(node: syntax.Node, frame: Frame) -> list[Index]:
    """The indices that are free in a node, in the order of the text."""
    found: dict[str, Index] = {}
    pending: list[tuple[syntax.Node, frozenset[str]]] = [(node, frozenset())]
    while pending:
        each, bound = pending.pop()
        if isinstance(each, syntax.Reduction) and each.function.dotted != "softmax":  # softmax keeps its index free
            bound |= {binder.name.name for binder in each.binders}
        if isinstance(each, syntax.Name) and len(each.path) == 1 and each.dotted not in bound and each.dotted not in frame.names:
            entity = frame.entity(each.dotted)
            if isinstance(entity, IndexEntity):
                found.setdefault(each.dotted, entity.index)
        pending += [(child, bound) for child in each.children()][::-1]
    return list(found.values())


def _bound_indices(actuals: Sequence[Actual]) -> dict[str, Index]:
    """For each index of the block the index of the caller that it is bound to."""
    outer: dict[str, Index] = {}
    first: dict[str, Actual] = {}
    for actual in actuals:
        for word, index in zip(actual.words, actual.bound):
            known = outer.setdefault(word, index)
            first.setdefault(word, actual)
            if known != index:
                fail("N332", f"`{word}` of the block would be `{index.name}` here and `{known.name}` there", actual.node.span, "",
                     (Label(first[word].node.span, f"`{word}` is `{known.name}`"), Label(actual.formal.span, "this argument")))
    return outer


def _check_carried(actuals: Sequence[Actual], outer: dict[str, Index], left: Left) -> None:
    """What is carried stands on the left, and is not bound to a subscript of another argument."""
    bound = {index: word for word, index in outer.items()}
    for actual in actuals:
        for index in actual.carried:
            if index in bound:
                name = actual.formal.element.name.name
                fail("N332", f"`{index.name}` is bound to `{bound[index]}` of the block by another argument, and carried by this one",
                     actual.node.span, "", (Label(actual.formal.span, f"`{name}[{bound[index]}]` would be bound to it too"),))
            if index not in left.pattern:
                fail("N301", f"the index `{index.name}` is neither on the left nor bound by the argument", actual.node.span, "",
                     (Label(actual.formal.span, "this argument"),))


def _new_scope(entity: BlockEntity, node: syntax.Call, left: Left, bound: set[Index], frame: Frame) -> Scope:
    caller = len(frame.scope.prefix)
    words = (*left.words, *[None] * len(left.pattern))
    kept = [(each, word) for k, (each, word) in enumerate(zip(left.pattern, words)) if k < caller or each not in bound]
    taken = frozenset(axis.name for axis in left.axes)
    return Scope(
        entity.definition.statements, home=entity.scope, visible=entity.scope.positions[entity.definition.name.name],
        path=f"{frame.path}.", prefix=tuple(each for each, _ in kept), words=tuple(word for _, word in kept), taken=taken,
        depth=frame.scope.depth + 1)


def _declare_indices(formals: Sequence[syntax.Formal], outer: dict[str, Index], scope: Scope) -> dict[str, Index]:
    """The indices that the formals' subscripts are; those of the caller themselves where their names agree."""
    found: dict[str, Index] = {}
    for formal in formals:
        for subscript in formal.element.subscripts:
            word = subscript.dotted
            if word in outer and word not in found:
                index = outer[word]
                own = index if index.name == word and index not in found.values() else scope.index(word, index.range)
                found[word] = own
                scope.declare(subscript.path[0], IndexEntity(own, subscript.span))
    return found


# --- what the names stand for


def _declare_actual(actual: Actual, locals_: dict[str, Index], scope: Scope, frame: Frame) -> None:
    """Evaluate the actual where the block is called, and give its bound indices their names in the block."""
    names = {outer: locals_[word] for outer, word in zip(actual.bound, actual.words)}
    for index in names:
        if is_empty(index.range):
            fail("N332", "this has no elements", actual.node.span, f"`{written(index)}` has no values",
                 (Label(actual.formal.span, "this argument"),))

    def define(left: Left, inside: Frame) -> None:
        meaning = renamed(_finished(evaluate(actual.node, inside), inside), names, inside)
        _declare(actual.formal, meaning, actual.node.span, left.renamed(names), scope, inside)

    each_value(left_of((*scope.prefix, *actual.bound)), frame, define)


def _declare_default(formal: syntax.Formal, locals_: dict[str, Index], node: syntax.Call, inside: Frame) -> None:
    """A default sees what the block sees, and the arguments before it."""
    for word in words_of(formal):
        if word not in locals_:
            fail("N316", f"nothing that is given says which values `{word}` has", node.span, "", (Label(formal.span, "this argument"),))
    left = left_of((*inside.scope.prefix, *(locals_[word] for word in words_of(formal))))
    each_value(left, inside, lambda left, frame: _declare(
        formal, _finished(evaluate(formal.default, frame), frame), formal.default.span, left, inside.scope, frame))


def _finished(meaning: Meaning, frame: Frame) -> Meaning:
    return hidden.finish(meaning, frame) if isinstance(meaning, Value) else meaning


def _declare(formal: syntax.Formal, meaning: Meaning, span: Span, left: Left, scope: Scope, frame: Frame) -> None:
    """Let the formal be the name of what the meaning says, for the subscripts on this left."""
    name = formal.element.name
    if isinstance(meaning, FunctionValue):
        if formal.element.subscripts:
            wrong_kind(meaning, "a vector, scalar or number")
        scope.declare(name, FunctionArgument(meaning, name.span))
        return
    if isinstance(meaning, Value):
        if isinstance(meaning.expr, Num | Sym) and left.pattern == scope.prefix:
            scope.declare(name, ParameterEntity(name.name, meaning.expr, name.span))
            return
        if meaning.level == Level.VECTOR:
            coord = hidden.vector(meaning.expr, meaning.width, frame, span)
            meaning = Value(Level.VECTOR, coord, span, width=meaning.width)
    elif not isinstance(meaning, MatrixValue):
        wrong_kind(meaning, "a family, number or function")
    left.define(formal.element, "an argument", Argument(meaning, span), scope)
