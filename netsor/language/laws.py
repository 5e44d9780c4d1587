"""Statements that draw at random: input and matrix."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from netsor.ir.expressions import ONE, ZERO, Expr, Index, Num, fresh, mul
from netsor.ir.labelled import TooLarge
from netsor.ir.laws import LAWS
from netsor.ir.program import Definition, Given, Iid, Matrix, RandomScalar, ScalarFunction
from netsor.ir.rewrite import free_indices
from netsor.language import references, syntax
from netsor.language.constants import evaluator
from netsor.language.declarations import ARRAY_LIMIT
from netsor.language.diagnostics import Label
from netsor.language.expressions import constant, quantity
from netsor.language.iid_laws import arguments, read_law
from netsor.language.lefthand import Left, each_value, read_left, serves_all
from netsor.language.scope import IndexEntity, Pieces
from netsor.language.source import Span
from netsor.language.state import Frame, fail
from netsor.language.values import Dot, Level
from netsor.language.widths import named_width, order, relative

RELATIVE_TOLERANCE = 1e-10  # of the largest eigenvalue: less than this below zero is rounding


# --- inputs


def inputs(node: syntax.Input, frame: Frame) -> None:
    need_width(frame, node.span)
    scalar = isinstance(node.size, syntax.Number) and node.size.value == 1
    width = "" if scalar else frame.scope.width if node.size is None else named_width(node.size, frame)
    law = node.law.name.name
    if law not in ("N", "Const", *LAWS):
        fail("N319", f"`{law}` is not a law that inputs can have", node.law.name.span, "",
             (), f"the laws of inputs are N(mean, variance), Const(value), {', '.join(LAWS)}")
    for element in node.elements:
        left = read_left(element, frame).without(_carried(frame))
        each_value(left, frame, lambda left, inside, element=element: _one_input(node.law, element, left, width, inside))


def need_width(frame: Frame, span: Span) -> None:
    if frame.scope.width is None:
        what, first = ("block", "width n like x, with a vector x") if frame.scope.is_block else ("program", "width n")
        fail("N207", f"this {what} has no width", span, "vectors and matrices need one", (), f"begin with: {first}")


def _one_input(law: syntax.Law, element: syntax.Element, left: Left, width: str, frame: Frame) -> None:
    """One family of vectors of that width, or of random scalars (no width)."""
    given: Definition = _law(law, element, left, frame)
    if not width:
        given = _of_scalars(given, element, left, frame)
    family = frame.state.new_family(frame.scope.path + element.name.name, left.own, given, element.span, width)
    left.define(element, "a family", family, frame.scope)


def _of_scalars(given: Given | Iid, element: syntax.Element, left: Left, frame: Frame) -> RandomScalar | ScalarFunction:
    """The same law for scalars; one that is not Gaussian is a function of a hidden standard normal scalar."""
    if isinstance(given, Given):
        return ScalarFunction(given.mean) if given.covariance == ZERO else RandomScalar(given.mean, given.covariance, given.second)
    normal = RandomScalar(ZERO, ONE, (None,) * len(left.axes))
    hidden = frame.state.new_family(f"{frame.scope.path}{element.name.name}.1", left.own, normal, element.span, hidden=True)
    return ScalarFunction(given.law.of_normal(hidden.generic))


def _law(law: syntax.Law, element: syntax.Element, left: Left, frame: Frame) -> Given | Iid:
    if law.name.name in LAWS:
        return Iid(read_law(law, frame))
    if law.name.name == "Const":
        (mean,) = arguments(law, ("its value",))
        given = Given(constant(mean, frame, "the value of a constant input"), ZERO, (None,) * len(left.axes))
    else:
        mean, variance = arguments(law, ("mean", "variance"))
        shift = constant(mean, frame, "a mean")
        covariance, second = read_covariance(variance, left, frame)
        _check_own(covariance, frame, variance.span)
        check_covariance(element.name.name, covariance, second, left, frame, variance.span)
        given = Given(shift, covariance, second)
    _check_numbers(given.mean, frame, mean.span, "the mean")
    return given


def read_covariance(node: syntax.Node, left: Left, frame: Frame) -> tuple[Expr, tuple[Index | None, ...]]:
    """The covariance of two elements, and for each axis its second copy (None: elements are independent along it)."""
    axes = left.axes
    array = _bare_array(node, frame)
    if array is not None:
        rank = array.rank - len(frame.terms)
        if rank != 2 * len(axes) or len(array.all_parts()) > 1:
            names = [axis.name for axis in axes]
            hint = f"independent elements: {array.name}[{', '.join(names)}]" if rank == len(axes) else ""
            fail("N319", f"`{array.name}` alone must have two copies of the subscripts on the left, "
                 f"{2 * len(axes)} in all; it has {rank}", node.span, "", (Label(array.span, "defined here"),), hint)
        seconds = tuple(fresh(axis) for axis in axes)
        for axis, own in zip((*axes, *axes), array.all_parts()[0].pattern[len(frame.terms):]):
            if own.range != axis.range:
                fail("N319", f"`{array.name}` has the range {own.range.lo}..{own.range.hi} where `{axis.name}` has "
                     f"{axis.range.lo}..{axis.range.hi}", node.span, "", (Label(array.span, "defined here"),))
        return references.element(array, [*axes, *seconds], node, frame).expr, seconds
    return _written_covariance(node, axes, frame)


def _bare_array(node: syntax.Node, frame: Frame) -> Pieces | None:
    if isinstance(node, syntax.Name) and not node.subscripts and node.dotted not in frame.names:
        entity = frame.entity(node.dotted)
        is_array = isinstance(entity, Pieces) and entity.is_array and entity.rank > len(frame.terms)
        if is_array and not frame.scope.is_poisoned(node.dotted):
            return entity
    return None


def _written_covariance(node: syntax.Node, axes: tuple[Index, ...], frame: Frame):
    """Names on the left mean the first element; other declared names, in order, the second."""
    others: dict[str, Index] = {}
    for name in names_in(node):
        entity = frame.entity(name)
        if isinstance(entity, IndexEntity) and name not in frame.indices and name not in frame.names:
            others.setdefault(name, entity.index)
    expr = constant(node, frame.with_indices(**others), "a variance")
    occurring = [axis for axis in axes if axis in free_indices(expr)]
    seconds = [index for index in others.values() if index in free_indices(expr)]
    pairs = _paired(occurring, seconds, node)
    return expr, tuple(pairs.get(axis) for axis in axes)


def _paired(first: list[Index], second: list[Index], node: syntax.Node) -> dict[Index, Index]:
    """Which second index belongs to which first one: in order; where there are fewer, the ranges must decide."""
    def assignments(first, second):
        if not second:
            yield {}
        for k in range(len(first) - len(second) + 1):
            if second and first[k].range == second[0].range:
                for rest in assignments(first[k + 1:], second[1:]):
                    yield {first[k]: second[0], **rest}

    found = []
    for each in assignments(first, second):
        found.append(each)
        if len(found) > 1 or len(first) == len(second):
            break
    if len(found) != 1:
        one, other = (", ".join(f"`{index.name}` ({index.range.lo}..{index.range.hi})" for index in group) or "nothing"
                      for group in (first, second))
        fail("N319", "it is not clear which elements this covariance relates", node.span,
             f"{other} for the second element, {one} for the first")
    return found[0]


def names_in(node: syntax.Node) -> list[str]:
    """Names without dots in the order of the text, those that reductions bind left out."""
    found: list[str] = []
    pending: list[tuple[syntax.Node, frozenset[str]]] = [(node, frozenset())]
    while pending:
        each, bound = pending.pop()
        if isinstance(each, syntax.Reduction):
            bound |= {binder.name.name for binder in each.binders}
        if isinstance(each, syntax.Name) and each.dotted not in bound:
            found.append(each.dotted)
        pending += [(child, bound) for child in each.children()][::-1]
    return found


def _carried(frame: Frame) -> list[Index]:
    """The subscripts of a call that its matrices and inputs do not have: they serve all their values."""
    return [each for each in frame.scope.prefix if isinstance(each, Index)]


def _check_own(expr: Expr, frame: Frame, span: Span) -> None:
    for index in _carried(frame):
        if index in free_indices(expr):
            serves_all(index, span)


def _check_numbers(expr: Expr, frame: Frame, span: Span, what: str) -> None:
    _check_own(expr, frame, span)
    if isinstance(expr, Num):
        if not math.isfinite(expr.value):
            fail("N502", f"{what} is not finite", span)
        return
    if any(index.range.infinite for index in free_indices(expr)):
        return
    values = evaluator().evaluate(expr).data
    if not np.isfinite(values).all():
        fail("N502", f"{what} is not a finite number for all subscripts", span)


def check_covariance(
    name: str, expr: Expr, second: tuple[Index | None, ...], left: Left, frame: Frame, span: Span
) -> None:
    """Raise N508 unless the covariance is symmetric and positive semidefinite, N509 for a negative variance."""
    joint = [axis for axis, other in zip(left.axes, second) if other is not None]
    copies = [other for other in second if other is not None]
    single = [axis for axis, other in zip(left.axes, second) if other is None and axis in free_indices(expr)]
    if any(axis.range.infinite for axis in joint):
        fail("N313", f"elements along the infinite range of `{joint[0].name}` are independent", span)
    order = math.prod(axis.range.size for axis in joint)
    batch = math.prod(axis.range.size for axis in single)
    if order * order * batch > ARRAY_LIMIT:
        fail("N512", f"this covariance has {order * order * batch:,} entries; {ARRAY_LIMIT:,} are possible", span)
    try:
        values = evaluator().array(expr, (*single, *joint, *copies)).reshape(batch, order, order)
    except TooLarge as error:
        fail("N512", f"this covariance is too large: {error}", span)
    if not np.isfinite(values).all():
        fail("N508", "this covariance has entries that are not finite", span)
    for matrix in values:
        _check_matrix(name, matrix, joint, span)


def _check_matrix(name: str, matrix: np.ndarray, joint: list[Index], span: Span) -> None:
    sizes = tuple(axis.range.size for axis in joint)

    def element(flat: int) -> str:
        position = np.unravel_index(flat, sizes) if sizes else ()
        subscripts = ",".join(str(axis.range.lo + int(p)) for axis, p in zip(joint, position))
        return f"{name}[{subscripts}]" if subscripts else name

    diagonal = np.diagonal(matrix)
    if (diagonal < 0).any():
        worst = int(np.argmin(diagonal))
        fail("N509", f"the variance of `{element(worst)}` is negative: {diagonal[worst]:.6g}", span)
    if len(matrix) == 1:
        return
    scale = float(np.abs(matrix).max())
    gap = np.abs(matrix - matrix.T)
    if gap.max() > RELATIVE_TOLERANCE * scale:
        i, j = np.unravel_index(int(np.argmax(gap)), matrix.shape)
        fail("N508", "this covariance is not symmetric", span,
             f"{matrix[i, j]:.6g} for {element(int(i))} and {element(int(j))}, {matrix[j, i]:.6g} the other way round")
    smallest = _smallest_eigenvalue(matrix)
    if smallest is not None:
        fail("N508", "this covariance is not positive semidefinite", span, f"its smallest eigenvalue is {smallest:.6g}")


def _smallest_eigenvalue(matrix: np.ndarray) -> float | None:
    """The smallest eigenvalue where it is below zero by more than rounding, else None."""
    import scipy.linalg

    bound = float(np.linalg.norm(matrix, np.inf))  # at least the largest eigenvalue
    jitter = 0.5 * RELATIVE_TOLERANCE * float(np.diagonal(matrix).max(initial=0.0))
    if bound == 0:
        return None
    try:
        scipy.linalg.cholesky(matrix + jitter * np.eye(len(matrix)), lower=True, check_finite=False)
        return None
    except scipy.linalg.LinAlgError:
        eigenvalues = scipy.linalg.eigvalsh(matrix)
        tolerance = RELATIVE_TOLERANCE * max(float(eigenvalues[-1]), float(np.finfo(float).eps) * len(matrix) * bound)
        return float(eigenvalues[0]) if eigenvalues[0] < -tolerance else None


# --- matrices


def matrices(node: syntax.Matrix, frame: Frame) -> None:
    need_width(frame, node.span)
    sides = (node.shape.rows, node.shape.columns) if node.shape is not None else ()
    shape = tuple(named_width(side, frame) for side in sides) or (frame.scope.width,) * 2
    if node.law.name.name != "N":
        fail("N319", "the entries of a matrix are Gaussian", node.law.name.span, "expected N(0, variance/n)")
    for element in node.elements:
        left = read_left(element, frame).without(_carried(frame))
        each_value(left, frame, lambda left, inside, element=element: _one_matrix(node.law, element, left, shape, inside))


def _one_matrix(
    law: syntax.Law, element: syntax.Element, left: Left, shape: tuple[str, str], frame: Frame
) -> None:
    mean, variance = arguments(law, ("mean", "variance"))
    if constant(mean, frame, "the mean of a matrix") != Num(0):
        fail("N408", "the entries of a matrix have mean 0", mean.span)
    rows, columns = shape
    expr = matrix_variance(variance, columns, frame)
    _check_numbers(expr, frame, variance.span, "this variance")
    _check_not_negative(expr, frame, variance.span)
    constants = tuple(each for each in left.own if not isinstance(each, Index))
    span = element.span._replace(call=frame.state.call)
    matrix = Matrix(frame.scope.path + element.name.name, left.axes, rows, columns, expr, constants, span)
    left.define(element, "a matrix", matrix, frame.scope)
    frame.state.matrices.append(matrix)


def matrix_variance(node: syntax.Node, width: str, frame: Frame) -> Expr:
    """The constant in `constant/width`, the fan-in; N408 where products with the matrix would diverge or vanish.

    Any width counts as a multiple of the fan-in, so that the constant may be a ratio of widths.
    """
    found = quantity(node, frame)
    word = frame.scope.width_word(width)
    if found.level != Level.NUMBER or isinstance(found.pending, Dot):
        fail("N320", f"the variance of a matrix must be a constant over {word}, and this is {found.level.word}",
             node.span)
    power = order(found.widths)
    if power != -1:
        fate = "diverge" if power > -1 else "vanish"
        fail("N408", f"products with this matrix {fate} as {frame.scope.width_word(frame.state.width)} grows", node.span,
             f"the variance of an entry must be a constant over {word}", (),
             f"write {node.span.text}/{word}" if power == 0 and isinstance(node, (syntax.Number, syntax.Name)) else "")
    return mul(found.expr, relative(found.widths, frame.state.widths[width], Fraction(-1)))


def _check_not_negative(expr: Expr, frame: Frame, span: Span) -> None:
    values = np.asarray(evaluator().evaluate(expr).data)
    if (values < 0).any():
        fail("N509", f"a variance is negative: {values.min():.6g}", span)
