"""Formulas in LaTeX, and a derivation as a document that pdflatex compiles."""

from __future__ import annotations

import re
import unicodedata

import sympy
from sympy.printing.latex import LatexPrinter, latex_escape, other_symbols, tex_greek_dictionary
from sympy.core.alphabets import greeks

from netsor.derive.marginal import KURTOSIS
from netsor.derive.printing.layout import aligned
from netsor.derive.objects import label
from netsor.derive.printing.notes import notes
from netsor.derive.printing.terms import PositiveFirst

translated = {*greeks, *(letter.capitalize() for letter in greeks), *tex_greek_dictionary, *other_symbols}
KERNELS = {"K": "K", "V": "V", "k": r"\kappa", "m": "m", "C": "C", "rho": r"\rho", "e": "e"}
GREEK = {chr(code): unicodedata.name(chr(code)).split()[-1] for code in range(0x3b1, 0x3ca) if code != 0x3c2}
SIGNS = {"→": r"\to", "∞": r"\infty", "⊤": r"\top", "√": r"\surd", "≤": r"\le", "≥": r"\ge"}
SIGNS |= {letter: rf"\{found.lower()}" for letter, found in GREEK.items()}
PIECE = re.compile(r"[^\W_][\w.]*'*| ?[-+*] ?|[/^(), ]")  # of a name that is a formula
NUMBERED = re.compile(r"([^\W_][\w.']*)\[([\d,]+)\]\Z")  # p[1]
LETTER_AND_NUMBER = re.compile(r"([A-Za-z])_\{(\d+)\}\Z")
IDENTIFIER = re.compile(r"[^\W_]+(_[^\W_]+)*\Z")


class Printer(PositiveFirst, LatexPrinter):
    """SymPy's LaTeX with kernels as K^{x}_{i,i'} and expectations as a reader of papers would write them."""

    printmethod = "_netsor_latex"  # not SymPy's: some of its classes print themselves

    def _print_LoopNumber(self, expr) -> str:
        return str(expr.value)

    def _print_Symbol(self, expr, style="plain") -> str:
        return name(expr.name)

    def _print_Pi(self, expr, exp=None) -> str:
        return r"\pi"

    def _print_Exp1(self, expr, exp=None) -> str:
        return "e"

    def _print_Indexed(self, expr, exp=None) -> str:
        found = subscripted(name(str(expr.base.label)), ",".join(map(self._print, expr.indices)))
        return found if exp is None else rf"\left({found}\right)^{{{exp}}}"

    def _print_Pow(self, expr) -> str:
        if isinstance(expr.base, (sympy.Indexed, sympy.Symbol)) and expr.exp.is_Integer and expr.exp > 0:
            base = self._print(expr.base)
            return rf"\left({base}\right)^{{{expr.exp}}}" if "^" in base or "'" in base else f"{base}^{{{expr.exp}}}"
        return super()._print_Pow(expr)

    def _print_Mul(self, expr) -> str:
        sums = [factor for factor in expr.args if isinstance(factor, (sympy.Sum, sympy.Product))]
        if len(sums) != 1:
            return super()._print_Mul(expr)
        rest = sympy.Mul(*[factor for factor in expr.args if factor is not sums[0]])
        if isinstance(rest, sympy.Add):
            return super()._print_Mul(expr)
        sign = {1: "", -1: "-"}.get(rest)
        return (f"{self._print(rest)} " if sign is None else sign) + self._print(sums[0])

    def _needs_mul_brackets(self, expr, first=False, last=False) -> bool:
        return not expr.has(sympy.Mod) and super()._needs_mul_brackets(expr, first, last) or isinstance(expr, (sympy.Add, sympy.Mod))

    def _needs_add_brackets(self, expr) -> bool:
        return isinstance(expr, sympy.Mod) or not expr.has(sympy.Mod) and super()._needs_add_brackets(expr)

    def _print_KroneckerDelta(self, expr, exp=None) -> str:
        return rf"\delta_{{{self._print(expr.args[0])},{self._print(expr.args[1])}}}"

    def _print_Indicator(self, expr, exp=None) -> str:
        return rf"\mathbf{{1}}\left[{self._print(expr.args[0])}\right]"

    def _print_Sum(self, expr) -> str:
        return self._big(r"\sum", expr)

    def _print_Product(self, expr) -> str:
        return self._big(r"\prod", expr)

    def _big(self, sign: str, expr) -> str:
        names = ",".join(sorted((self._print(limit[0]) for limit in expr.limits), key=lambda n: (len(n), n)))
        inner = self._print(expr.function)
        return rf"{sign}_{{{names}}} " + (rf"\left({inner}\right)" if isinstance(expr.function, sympy.Add) else inner)

    def _print_Extremum(self, expr) -> str:
        return rf"\{expr.name}_{{{self._print(expr.limits[0])}{self._guard(expr.guard)}}} {self._print(expr.body)}"

    def _guard(self, guard) -> str:
        return "" if guard == sympy.true else rf":\,{self._print(guard)}"

    def _print_Softmax(self, expr) -> str:
        index = expr.limits[0]
        body, guard = expr.body, expr.guard
        if isinstance(expr.at, sympy.Symbol):
            body, guard, index = body.xreplace({index: expr.at}), guard.xreplace({index: expr.at}), expr.at
        at = "" if index == expr.at else rf"\big|_{{{self._print(index)}={self._print(expr.at)}}}"
        return rf"\operatorname{{softmax}}_{{{self._print(index)}{self._guard(guard)}}}\left({self._print(body)}\right){at}"

    def _print_InfiniteAverage(self, expr) -> str:
        return rf"\mathbb{{E}}_{{{self._print(expr.index)}}}\left[{self._print(expr.body)}\right]"

    def _print_ScoreExpectation(self, expr) -> str:
        return rf"\mathbb{{E}}\left[{self._print(expr.integrand)}\right]"

    def _print_GaussianExpectation(self, expr) -> str:
        variables = ",".join(map(self._print, expr.variables))
        if len(expr.variables) == 1:
            law = rf"{variables}\sim\mathcal{{N}}\left({self._print(expr.means[0])},{self._print(expr.covariance[0, 0])}\right)"
        else:
            if expr.covariance == sympy.eye(expr.covariance.rows):
                cov = "I"
            else:
                rows = r"\\".join("&".join(map(self._print, expr.covariance.row(k))) for k in range(expr.covariance.rows))
                cov = rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}"
            mean = "0" if all(m == 0 for m in expr.means) else rf"\left({','.join(map(self._print, expr.means))}\right)"
            law = rf"({variables})\sim\mathcal{{N}}\left({mean},{cov}\right)"
        return rf"\mathbb{{E}}\left[{self._print(expr.integrand)}\;;\;{law}\right]"

    def _print_Expected(self, expr) -> str:
        return rf"\mathbb{{E}}\left[{self._spaced(expr.args)}\right]"

    def _print_Covariance(self, expr) -> str:
        return rf"\operatorname{{Cov}}\left({self._spaced(expr.args, ',')}\right)"

    def _print_Rate(self, expr) -> str:
        return rf"\frac{{d}}{{d{self._print(expr.args[1])}}}{self._print(expr.args[0])}"

    def _spaced(self, args, comma: str = "") -> str:
        return (comma + r"\,").join(map(self._print, args))

    def _print_Kurtosis(self, expr) -> str:
        return rf"\operatorname{{excess\,kurtosis}}\left({self._print(expr.args[0])}\right)"

    def _print_SquaredWeights(self, expr, exp=None) -> str:
        return expr._latex(self, exp)

    def _print_Function(self, expr, exp=None) -> str:
        if type(expr).__module__.startswith("sympy"):
            return super()._print_Function(expr, exp)
        found = rf"\operatorname{{{latex_escape(label(expr))}}}"
        power = "" if exp is None else f"^{{{exp}}}"
        return rf"{found}{power}\left({', '.join(map(self._print, expr.args))}\right)"

    def _print_erf(self, expr, exp=None) -> str:
        return rf"\operatorname{{erf}}{'' if exp is None else f'^{{{exp}}}'}\left({self._print(expr.args[0])}\right)"


def name(text: str) -> str:
    """A name as LaTeX: kernels by the family they belong to, Greek letters and subscripts as such."""
    head, _, rest = text.partition("_")
    if head in KERNELS and rest:
        return rf"{KERNELS[head]}^{{{about(rest)}}}"
    if rest and head.lstrip("d") in KERNELS:  # a derivative
        return "d" * (len(head) - len(head.lstrip("d"))) + name(text.lstrip("d"))
    return about(text)


def about(text: str) -> str:
    """The name of a family or parameter; what a family without a name computes is set as a formula."""
    text = "".join(GREEK[letter].lower() if letter in GREEK else letter for letter in text)
    primes = len(text) - len(text.rstrip("'"))
    plain = text.rstrip("'")
    if IDENTIFIER.match(plain):
        return identifier(plain) + "'" * primes
    if found := NUMBERED.match(text):
        return subscripted(about(found[1]), found[2])
    pieces = PIECE.findall(text)
    if "".join(pieces) == text and (len(pieces) > 1 or "." in text):
        return "".join(_piece(piece, after) for piece, after in zip(pieces, [*pieces[1:], ""]))
    return rf"\text{{{latex_escape(text)}}}"


def identifier(text: str) -> str:
    """A name in LaTeX: one letter or Greek letter in italics, several upright, with digits at the end and what follows ``_`` below."""
    head, _, below = text.partition("_")
    letters = head.rstrip("0123456789")
    subscripts = [part for part in (head[len(letters):], *below.split("_")) if part]
    if len(letters) == 1 or letters in translated:
        shown = LatexPrinter()._print_Symbol(sympy.Symbol(letters))
    else:
        shown = rf"\mathrm{{{letters}}}"
    if not letters or not subscripts:
        return shown if letters else text
    inner = " ".join(part if len(part) == 1 or part.isdigit() else about(part) for part in subscripts)
    return f"{shown}_{{{inner}}}"


def _piece(piece: str, after: str) -> str:
    """A part of a name that is a formula: an identifier, a number, a sign."""
    if not IDENTIFIER.match(piece[:1]):
        return {" ": r"\,", "*": r"\,"}.get(piece.strip() or " ", piece.strip())
    if piece.replace(".", "").isdigit():
        return f"{{{piece}}}"
    if after == "(":
        return rf"\operatorname{{{latex_escape(piece)}}}"
    plain = piece.rstrip("'")
    return rf"\mathrm{{{latex_escape(plain)}}}{piece[len(plain):]}" if "." in piece else about(piece)


def subscripted(base: str, subscripts: str) -> str:
    """``base`` with subscripts; one that has some already, or is a formula, is set in braces, and a digit at its end upright beside it."""
    head = base.split("^")[0]
    if found := LETTER_AND_NUMBER.match(base):
        return rf"\mathrm{{{found[1]}{found[2]}}}_{{{subscripts}}}"
    if "_" in head or "(" in head or r"\," in head:
        return rf"{{{base}}}_{{{subscripts}}}"
    return f"{base}_{{{subscripts}}}"


def latex(expr: sympy.Expr) -> str:
    """A formula in LaTeX (mathematics mode)."""
    return Printer({"fold_short_frac": False, "order": None, "inv_trig_style": "full"}).doprint(expr)


def left_side(statement) -> str:
    """The left side of a statement, with the scores that it is conditional on."""
    shown = latex(statement.left)
    if statement.given and shown.endswith((r"\right)", r"\right]")):
        scores = ",".join(map(name, statement.given))
        return rf"{shown[:-7]}\,\middle|\,{scores}{shown[-7:]}"
    return shown


def equations(statement) -> str:
    """A statement and those that explain its parts as displayed equations (the inside of ``align*`` or ``aligned``), broken over lines."""
    return aligned([_row(part) for part in (statement, *statement.where)])


def _row(statement) -> tuple[str, str, str]:
    left = left_side(statement)
    if statement.name is not None:
        left += f" = {latex(statement.name)}"
    return left, latex(statement.right), _condition(statement.passes) if statement.passes else ""


def _condition(passes: tuple[tuple, ...]) -> str:
    ranges = [rf"{latex(letter)} = {latex(low)},\ldots,{latex(high)}" for letter, low, high in reversed(passes)]
    return "(" + r";\; ".join(ranges) + ")"


def remark(statement) -> str:
    """Rule and citation of a statement and what it is an expectation over, in LaTeX."""
    parts = []
    if statement.over:
        parts.append(f"over the law of {', '.join(f'${name(each)}$' for each in statement.over)}")
    if statement.rule:
        parts.append(words(statement.rule) + (words(f" ({statement.citation})") if statement.citation else ""))
    return "; ".join(parts)


def body(derivation) -> str:
    """The derivation without preamble."""
    found = [r"\begin{itemize}"] + [rf"\item {each.latex()}" for each in derivation.premises()] + [r"\end{itemize}"]
    for title, statements in derivation.sections():
        found.append(rf"\paragraph{{{title}.}}")
        if title == "Given":
            found += [r"\begin{itemize}", *(rf"\item {each.latex()}" for each in derivation.inputs), r"\end{itemize}"]
        for statement in statements:
            if statement.law is not None:
                found.append(statement.law.latex())
            found.append(r"\begin{align*}" + "\n" + equations(statement) + "\n" + r"\end{align*}")
            if remark(statement):
                found.append(rf"{{\small {remark(statement)}.}}\par\smallskip")
    found += [rf"\paragraph{{Note.}} {note}" for note in notes(derivation, latex=True)]
    return "\n".join(found)


def document(derivation) -> str:
    """A LaTeX document."""
    title = latex_escape(f"{derivation.program.name}: the limit as ") + rf"${derivation.program.width}\to\infty$"
    return "\n".join([
        r"\documentclass{article}", r"\usepackage[utf8]{inputenc}", r"\usepackage{amsmath,amssymb}",
        r"\usepackage[margin=2cm]{geometry}", r"\allowdisplaybreaks", r"\setlength{\parindent}{0pt}", r"\emergencystretch=3em",
        r"\renewcommand{\labelitemi}{$\bullet$}",
        r"\begin{document}", rf"\section*{{{title}}}", body(derivation),
        r"\end{document}", ""])


FORMULAS = {KURTOSIS: r"$3\operatorname{Var}V/(\mathbb{E}\,V)^2$, $V$ the conditional variance"}  # names of rules that are formulas


def words(text: str) -> str:
    """Words in LaTeX."""
    if text in FORMULAS:
        return FORMULAS[text]
    escaped = latex_escape(text).replace("n → ∞", r"$n\to\infty$")
    for sign, command in SIGNS.items():
        escaped = escaped.replace(sign, f"${command}$")
    return escaped
