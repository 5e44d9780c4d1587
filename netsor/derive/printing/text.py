"""Formulas as lines of text, in the notation of the language."""

from __future__ import annotations

import sympy
from sympy.printing.str import StrPrinter

from netsor.derive.objects import label
from netsor.derive.printing.notes import notes
from netsor.derive.printing.terms import PositiveFirst


class TextPrinter(PositiveFirst, StrPrinter):
    """SymPy's text with subscripts, sums and expectations as a reader of programs would write them."""

    printmethod = "_netsor_text"  # not SymPy's: some of its classes print themselves

    def _print_Symbol(self, expr) -> str:
        return expr.name

    def _print_Infinity(self, expr) -> str:
        return "∞"

    def _print_LoopNumber(self, expr) -> str:
        return str(expr.value)

    def _print_Pow(self, expr, rational=False) -> str:
        return super()._print_Pow(expr, rational).replace("**", "^")

    def _print_Indexed(self, expr) -> str:
        return f"{self._print(expr.base.label)}[{','.join(map(self._print, expr.indices))}]"

    def _print_KroneckerDelta(self, expr) -> str:
        return f"δ[{','.join(map(self._print, expr.args))}]"

    def _print_Indicator(self, expr) -> str:
        return f"1[{self._print(expr.args[0])}]"

    def _print_Relational(self, expr) -> str:
        return f"{self._print(expr.lhs)} {expr.rel_op} {self._print(expr.rhs)}"

    _print_StrictLessThan = _print_LessThan = _print_GreaterThan = _print_StrictGreaterThan = _print_Relational
    _print_Equality = _print_Unequality = _print_Relational

    def _print_And(self, expr) -> str:
        return " and ".join(map(self._print, expr.args))

    def _print_Sum(self, expr) -> str:
        return f"sum({self._print(expr.function)} for {_names(self, expr.limits)})"

    def _print_Product(self, expr) -> str:
        return f"prod({self._print(expr.function)} for {_names(self, expr.limits)})"

    def _print_Integral(self, expr) -> str:
        ranges = ", ".join(f"{symbol} in {self._print(low)}..{self._print(high)}" for symbol, low, high in expr.limits)
        return f"integral({self._print(expr.function)} for {ranges})"

    def _print_Piecewise(self, expr) -> str:
        *cases, (last, _) = expr.args
        shown = [f"{self._print(value)} if {self._print(test)} else " for value, test in cases]
        return f"({''.join(shown)}{self._print(last)})"

    def _print_Extremum(self, expr) -> str:
        return f"{expr.name}({self._print(expr.body)} for {expr.limits[0]}{self._guard(expr.guard)})"

    def _print_Softmax(self, expr) -> str:
        index = expr.limits[0]
        if isinstance(expr.at, sympy.Symbol):  # the name that the reader knows
            body, guard = (part.xreplace({index: expr.at}) for part in (expr.body, expr.guard))
            return f"softmax({self._print(body)} for {expr.at}{self._guard(guard)})"
        return f"softmax({self._print(expr.body)} for {index}{self._guard(expr.guard)} at {self._print(expr.at)})"

    def _guard(self, guard) -> str:
        return "" if guard == sympy.true else f" if {self._print(guard)}"

    def _print_InfiniteAverage(self, expr) -> str:
        return f"E_{expr.index}[{self._print(expr.body)}]"

    def _print_GaussianExpectation(self, expr) -> str:
        return f"E[{self._print(expr.integrand)}; {self.law(expr)}]"

    def law(self, expr) -> str:
        """The law of the variables of an expectation."""
        names = ", ".join(map(self._print, expr.variables))
        if len(expr.variables) == 1 and not expr.inner[0]:
            return f"{names} ~ N({self._print(expr.means[0])}, {self._print(expr.covariance[0, 0])})"
        means = "" if all(mean == 0 for mean in expr.means) else f"mean ({', '.join(map(self._print, expr.means))}), "
        rows = ["[" + ", ".join(map(self._print, expr.covariance.row(k))) + "]" for k in range(expr.covariance.rows)]
        size = f"({names})" if len(expr.variables) > 1 else names
        return f"{size} ~ N({means or '0, '}[{', '.join(rows)}])"

    def _print_ScoreExpectation(self, expr) -> str:
        return f"E[{self._print(expr.integrand)}]"

    def _print_SquaredWeights(self, expr) -> str:
        order, *rest = expr.args
        return f"W_{order}({', '.join(map(self._print, rest))})"

    def _print_Expected(self, expr) -> str:
        return f"E[{' '.join(map(self._print, expr.args))}]"

    def _print_Covariance(self, expr) -> str:
        return f"Cov({', '.join(map(self._print, expr.args))})"

    def _print_Kurtosis(self, expr) -> str:
        return f"excess kurtosis({self._print(expr.args[0])})"

    def _print_Max(self, expr) -> str:
        return f"max({', '.join(sorted(map(self._print, expr.args)))})"

    def _print_Min(self, expr) -> str:
        return f"min({', '.join(sorted(map(self._print, expr.args)))})"

    def _print_Rate(self, expr) -> str:
        return f"d {self._print(expr.args[0])} / d {self._print(expr.args[1])}"

    def _print_acos(self, expr) -> str:
        return f"arccos({self._print(expr.args[0])})"

    def _print_asin(self, expr) -> str:
        return f"arcsin({self._print(expr.args[0])})"

    def _print_Function(self, expr) -> str:
        return f"{label(expr)}({', '.join(map(self._print, expr.args))})"

    def parenthesize(self, item, level, strict=False):
        if isinstance(item, (sympy.Sum, sympy.Product)):
            return self._print(item)
        return super().parenthesize(item, level, strict)


def _names(printer: TextPrinter, limits) -> str:
    return ", ".join(sorted((printer._print(limit[0]) for limit in limits), key=lambda name: (len(name), name)))


def text(expr: sympy.Expr) -> str:
    """A formula on one line."""
    return TextPrinter().doprint(expr)


def document(derivation) -> str:
    """The whole derivation."""
    lines: list[str] = []
    heading = f"{derivation.program.name}: the limit as {derivation.program.width} → ∞"
    lines += [heading, "=" * len(heading)]
    lines += [f"- {each}" for each in derivation.hypotheses]
    lines.append("")
    for title, content in derivation.sections():
        lines.append(title)
        lines += [f"  {each.text()}" for each in derivation.inputs if title == "Given"]
        for entry in content:
            lines += ["  " + line for line in entry_lines(entry, derivation.steps)]
        lines.append("")
    lines += notes(derivation)
    return "\n".join(lines).rstrip() + "\n"


def left_side(entry) -> str:
    """The left side of a statement, with the scores that it is conditional on."""
    shown = text(entry.left)
    if entry.given and shown[-1] in ")]" and not isinstance(entry.left, (sympy.Indexed, sympy.Symbol)):
        return f"{shown[:-1]} | {', '.join(entry.given)}{shown[-1]}"
    return shown


def entry_lines(entry, cited: bool = False) -> list[str]:
    """One statement: the equation, where its parts are explained, and why it holds (``cited``: with the source)."""
    reason = entry.rule + (f": {entry.citation}" if cited and entry.citation else "")
    left = left_side(entry)
    name = f" = {text(entry.name)}" if entry.name is not None else ""
    remarks = [
        f"for {entry.condition}" if entry.condition else "", f"over {', '.join(entry.over)}" if entry.over else "", f"[{reason}]" if reason else ""]
    lines = [entry.law.text()] if entry.law else []
    lines += ["    ".join([f"{left}{name} = {text(entry.right)}", *filter(None, remarks)])]
    for part in entry.where:
        lines.append(f"    with {text(part.left)} = {text(part.right)}")
    return lines
