"""What is called by a name, or passed to a block to be called there: blocks, and what is not there."""

from __future__ import annotations

from typing import NoReturn

from netsor.language import syntax
from netsor.language.diagnostics import Label
from netsor.language.scope import OPERATIONS, BlockEntity, FunctionArgument, FunctionEntity, is_built_in
from netsor.language.state import Frame, fail


def block_of(node: syntax.Node, frame: Frame) -> BlockEntity | None:
    """The block that a right-hand side calls, if it is the call of one, perhaps by the name of an argument."""
    if not isinstance(node, syntax.Call) or node.function.dotted in frame.names:
        return None
    entity = frame.entity(node.function.dotted)
    if isinstance(entity, FunctionArgument):
        entity = entity.value.entity
    return entity if isinstance(entity, BlockEntity) else None


def not_a_whole_side(node: syntax.Call, entity: BlockEntity) -> NoReturn:
    """N331 where a block is called in an expression."""
    word, own = node.function.dotted, entity.definition.name.name
    what = f"`{word}` is a block" if word == own else f"`{word}` is the block `{own}` here"
    hint = "give the call a name on a line of its own, and use that here"
    fail("N331", f"{what}, and a call of a block is a whole right-hand side", node.function.span, "",
         (Label(entity.span, "defined here"),), hint if word == own else f"pass a function for it, or {hint}")


def no_function(node: syntax.Call, frame: Frame) -> NoReturn:
    """N208 for the call of a name that nothing has."""
    from netsor import nonlinearities

    word, scope = node.function.dotted, frame.scope
    functions = (*nonlinearities.names(), *OPERATIONS, *scope.positions, *(scope.home.positions if scope.home is not None else ()))
    known = _without_its_file(node.function, frame)
    fail("N208", f"there is no function `{word}`", node.function.span, "", (),
         f"write {known}(…)" if known else _in_the_library(word) or ELSEWHERE.get(word) or scope.suggestion(word, functions))


ELSEWHERE = {
    "relu6": "write clip(x, 0, 6)", "swish": "it is silu(x) here", "hard_swish": "write x*hardsigmoid(x)",
    "hardswish": "write x*hardsigmoid(x)", "quick_gelu": "write x*sigmoid(1.702*x)", "softsign": "write x/(1 + abs(x))",
    "tan": "write sin(x)/cos(x)", "log1p": "write log(1 + x)", "expm1": "write exp(x) - 1", "logsigmoid": "write -softplus(-x)",
    "square_root": "write sqrt(x)", "norm": "write sqrt(dot(x, x)/n), or sqrt(avg(x^2))", "cumsum": "write sum(x[u] for u if u <= t)",
    "einsum": "write the sum with its indices: sum(a[i,j]*b[j] for j)", "concat": "a family has all parts: z[1,i] = x[i] and z[2,i] = y[i]",
    "matmul": "write W @ x", "argmax": "write where(x[i] >= max(x[j] for j), 1, 0), for the place of the largest",
    "sort": "a sum of comparisons tells a rank: sum(where(x[j] > x[i], 1, 0) for j)", "variance": "write mean((x[i] - mean(x[j] for j))^2 for i)",
    "var": "write mean((x[i] - mean(x[j] for j))^2 for i)", "std": "write sqrt(mean((x[i] - mean(x[j] for j))^2 for i))",
    "dropout": "declare a mask: input m ~ Bernoulli(1 - p), and write x*m/(1 - p)",
}
"""What functions of other libraries are called, or written as, here."""


def check_passed(node: syntax.Node, frame: Frame) -> None:
    """What is passed to a block is not the call of a block (N331), nor a block that must be imported, or that is named with its
    file (N201)."""
    if (called := block_of(node, frame)) is not None:
        not_a_whole_side(node, called)
    if not isinstance(node, syntax.Name) or node.subscripts:
        return
    first = node.path[0].name
    if first in frame.names or is_built_in(first) or frame.scope.knows(first) or frame.entity(first) is not None:
        return
    known = _without_its_file(node, frame)
    hint = f"write {known}" if known else _in_the_library(node.path[-1].name)
    if hint:
        fail("N201", f"`{first}` is not defined", node.path[0].span, hint=hint)


def _without_its_file(name: syntax.Name, frame: Frame) -> str:
    """An import brings names in without those of their file."""
    last = name.path[-1].name
    return last if len(name.path) > 1 and isinstance(frame.entity(last), FunctionEntity | BlockEntity) else ""


def _in_the_library(word: str) -> str:
    from netsor.language.imports import file_with

    shelf = file_with(word)
    return f"it is in the library: import std.{shelf}" if shelf else ""
