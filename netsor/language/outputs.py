"""Statements that ask: output and expect."""

from __future__ import annotations

from netsor.ir.expressions import Coord, Expr, Index, Num, Range, ScalarRef
from netsor.ir.facts import uses
from netsor.ir.program import Expectation, Family, Output, Part
from netsor.ir.rewrite import free_indices
from netsor.language import syntax
from netsor.language.constants import numbers_of
from netsor.language.diagnostics import Label, NetsorError
from netsor.language.expressions import constant, value
from netsor.language.references import inner_name
from netsor.language.scope import IndexEntity, Pieces, count, label
from netsor.language.source import Span
from netsor.language.state import FAMILY_LIMIT, Frame, State, fail
from netsor.language.values import Level, NeedsValues

STATISTICS = {"cov": 2, "mean": 1, "kurtosis": 1}


# --- output


def output(node: syntax.Output, frame: Frame) -> None:
    for name in node.names:
        if isinstance(name, syntax.Infinity):
            fail("N322", "`inf` is not a value of the program", name.span)
        entity = inner_name(name.path, frame)
        if not isinstance(entity, Pieces) or entity.what != "a family":
            what = f"is {entity.what}" if isinstance(entity, Pieces) else "is not computed"
            fail("N322", f"`{name.dotted}` {what}, and only values of the program can be outputs", name.span, "",
                 (Label(entity.span, "defined here"),))
        if name.subscripts:
            frame.state.outputs += _asked(entity, name, frame)
        else:
            frame.state.outputs += whole(entity, name.span)


def _asked(entity: Pieces, name: syntax.Name, frame: Frame) -> list[Output]:
    """`x[L,i]`: the values of an index that stands by itself are all of them."""
    indices = _declared_indices(name, frame)
    try:
        reference = value(name, frame.with_indices(**{index.name: index for index in indices})).expr
    except NeedsValues as need:
        return _one_by_one(entity, name, need.index, frame)
    axes = tuple(index for index in indices if index in free_indices(reference))
    return [Output(_asked_label(name, reference, frame), axes, (Part(reference, {}),), name.span)]


def _asked_label(name: syntax.Name, reference: Coord | ScalarRef, frame: Frame) -> str:
    """As it was asked for, with numbers for constants: `x[3,i]`."""
    shown = iter(reference.subscripts)
    pattern = [next(shown) if isinstance(each, Index) else each for each in reference.family.pattern]
    return label(reference.family.name, tuple(int(each.value) if isinstance(each, Num) else each for each in pattern))


def _one_by_one(entity: Pieces, name: syntax.Name, index: Index, frame: Frame) -> list[Output]:
    found: list[Output] = []
    for number in numbers_of(index.range):
        found += _asked(entity, name, frame.with_indices(**{index.name: Num(number)}))
    return found


def _declared_indices(node: syntax.Node, frame: Frame) -> list[Index]:
    """The declared indices that occur in a node and have no value yet."""
    found: dict[str, Index] = {}
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, syntax.Name) and len(each.path) == 1 and not each.subscripts:
            entity = frame.entity(each.dotted)
            if isinstance(entity, IndexEntity) and each.dotted not in frame.names and each.dotted not in frame.indices:
                found.setdefault(each.dotted, entity.index)
        pending += list(each.children())[::-1]
    return list(found.values())


def whole(entity: Pieces, span: Span | None) -> list[Output]:
    """All of a family: one array where its parts fill a grid, else one output for each part."""
    parts = [piece.part for piece in entity.all_parts()]
    if len(parts) == 1 and not any(isinstance(each, int) for each in parts[0].pattern):
        return [Output(entity.name, parts[0].axes, (Part(parts[0].generic, {}),), span)]
    grid = _grid(entity, parts)
    if grid is None:
        return [Output(part.label, part.axes, (Part(part.generic, {}),), span) for part in parts]
    placed = []
    for part in parts:
        constants = {axis: each for axis, each in zip(grid, part.pattern) if not isinstance(each, Index)}
        own = tuple(axis for axis, each in zip(grid, part.pattern) if isinstance(each, Index))
        placed.append(Part(part[own], constants))
    return [Output(entity.name, grid, tuple(placed), span)]


def _grid(entity: Pieces, parts: list[Family]) -> tuple[Index, ...] | None:
    """Axes over which the parts form one full array, or None."""
    if len({part.width for part in parts}) > 1:
        return None
    axes: list[Index] = []
    cells = 1
    for k in range(entity.rank):
        column = [part.pattern[k] for part in parts]
        if all(isinstance(each, Index) for each in column):
            if len({each.range for each in column}) > 1:
                return None
            axes.append(column[0])
        elif not any(isinstance(each, Index) for each in column):
            low, high = min(column), max(column)
            cells *= high - low + 1
            word = entity.left[k] if k < len(entity.left) and entity.left[k] else f"{entity.name}.{k + 1}"
            axes.append(Index(word, Range(low, high)))
        else:
            return None
    if cells != len(parts) or len(set(axes)) != len(axes):
        return None
    return tuple(axes)


def default_outputs(state: State) -> None:
    """Without `output`: every value that no other definition uses."""
    used = {family for each in state.families for family in uses(each)}
    for entity in state.scope.entities.values():
        if not isinstance(entity, Pieces) or entity.what != "a family":
            continue
        unused = [piece.part for piece in entity.all_parts() if piece.part not in used]
        if len(unused) == len(entity.all_parts()):
            state.outputs += whole(entity, None)
        else:
            state.outputs += [Output(part.label, part.axes, (Part(part.generic, {}),), None) for part in unused]


def name_outputs(outputs: list[Output]) -> list[Output]:
    """Outputs under short names: the family's where only one part of it is asked for. Repetitions are dropped."""
    distinct: dict[str, Output] = {}
    for each in outputs:
        distinct.setdefault(each.name, each)
    families: dict[str, list[str]] = {}
    for each in distinct.values():
        families.setdefault(each.parts[0].reference.family.name, []).append(each.name)
    named = []
    for each in distinct.values():
        family = each.parts[0].reference.family.name
        name = family if len(families[family]) == 1 else each.name
        named.append(Output(name, each.axes, each.parts, each.span))
    return named


# --- expect

MISSING = ("N206", "N304")  # no such element


def expect(node: syntax.Expect, frame: Frame) -> None:
    call = node.value
    if not isinstance(call, syntax.Call) or call.function.dotted not in STATISTICS or call.keywords:
        fail("N322", "an expectation is about cov(…, …), mean(…) or kurtosis(…)", node.value.span)
    statistic = call.function.dotted
    if len(call.arguments) != STATISTICS[statistic]:
        fail("N316", f"`{statistic}` takes {count(STATISTICS[statistic], 'argument')}", call.span)
    try:
        _expected(node, call, statistic, frame)
    except NetsorError as error:
        changed = frame.state.settings or frame.state.free is not None
        if not changed or any(found.code not in MISSING for found in error.diagnostics):
            raise  # otherwise it speaks of an element that the program has with its own parameters only


def _expected(node: syntax.Expect, call: syntax.Call, statistic: str, frame: Frame) -> None:
    indices = _declared_indices(node, frame)
    inside = frame.with_indices(**{index.name: index for index in indices})
    try:
        references = [_reference(argument, inside) for argument in call.arguments]
        expected = constant(node.expected, inside, "the expected value")
        tolerance = constant(node.tolerance, inside, "a tolerance")
    except NeedsValues as need:
        if need.index.range.size > FAMILY_LIMIT:
            fail("N512", f"this would be {need.index.range.size:,} separate expectations", node.span)
        for number in numbers_of(need.index.range):
            _expected(node, call, statistic, frame.with_indices(**{need.index.name: Num(number)}))
        return
    if isinstance(tolerance, Num) and not tolerance.value > 0:
        fail("N322", "a tolerance is positive", node.tolerance.span)
    occurring = frozenset().union(*map(free_indices, (*references, expected, tolerance)))
    free = tuple(index for index in indices if index in occurring)
    infinite = next((index for index in free if index.range.infinite), None)
    if infinite is not None:
        fail("N313", f"an expectation for every one of the infinitely many values of `{infinite.name}`", node.span,
             "", (), "give the index a value")
    frame.state.expectations.append(Expectation(statistic, tuple(references), expected, tolerance, free, node.span))


def _reference(node: syntax.Node, frame: Frame) -> Expr:
    found = value(node, frame)
    is_reference = isinstance(found.expr, (Coord, ScalarRef)) and found.level != Level.NUMBER
    if not is_reference or not isinstance(node, syntax.Name):
        fail("N322", "an expectation is about values that have a name", node.span, "", (),
             "define the value on a line of its own")
    return found.expr
