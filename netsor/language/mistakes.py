"""Names for syntax errors: from the place where the parser stopped to a sentence about what was probably meant.

Each function below knows one mistake and returns its diagnostic, or None; `explain` asks them in turn.
"""

from __future__ import annotations

from collections.abc import Callable

from lark import Token

from netsor.language.characters import stray_character
from netsor.language.diagnostics import Diagnostic, Label
from netsor.language.driver import Driver
from netsor.language.grammar import reserved_words
from netsor.language.layout import CLOSER, STATEMENT_WORDS
from netsor.language.place import Place
from netsor.language.scope import is_nonlinearity

OPERATORS = ("PLUS", "MINUS", "TIMES", "OVER", "AT", "POWER", "COMPARE", "AND", "OR", "NOT")
VALUE_ENDS = ("NAME", "NUMBER", "RPAR", "RSQB", "TRANSPOSE", "INFINITY")
VALUE_STARTS = ("NAME", "NUMBER", "LPAR")

MISTAKES: list[Callable[[Place], Diagnostic | None]] = [stray_character]


def mistake(function: Callable[[Place], Diagnostic | None]) -> Callable[[Place], Diagnostic | None]:
    MISTAKES.append(function)
    return function


def explain(driver: Driver, position: int) -> Diagnostic:
    """What to say about the token at `position`, which the parser cannot take."""
    place = Place(driver, position)
    return next(filter(None, (known(place) for known in MISTAKES)), None) or unexpected(place)


def unexpected(place: Place) -> Diagnostic:
    expected = [text for kind, text in DESCRIPTIONS.items() if place.accepts(kind)]
    if "a value" in expected:
        expected = ["a value"]
    *others, last = expected or [""]
    label = f"expected {', '.join(others)}{' or ' if others else ''}{last}" if last else ""
    if place.ends:
        return place.say("N100", "this line ends too early", label)
    return place.say("N100", f"unexpected `{_shown(place.token)}`", label)


DESCRIPTIONS = {
    "NUMBER": "a value", "NAME": "a name", "STRING": "a file name in quotes", "EQUAL": "`=`", "TILDE": "`~`",
    "IN": "`in`", "LIKE": "`like`", "RANGE": "`..`", "LPAR": "`(`", "LSQB": "`[`", "COLON": "`:`", "COMMA": "`,`",
    "RPAR": "`)`", "RSQB": "`]`", "WITHIN": "`within`", "ELSE": "`else`", "_NL": "the end of the line",
}


def _shown(token: Token) -> str:
    text = str(token)
    return text if len(text) <= 20 else text[:17] + "…"


# --- files and numbers


@mistake
def unfinished_text(place: Place) -> Diagnostic | None:
    if place.kind == "OPEN_STRING":
        return place.say("N111", "this file name has no closing quote", "opened here",
                         at=place.here._replace(end=place.here.start + 1))
    if place.kind == "OPEN_DOCSTRING":
        return place.say("N111", 'this docstring has no closing """', "opened here",
                         at=place.here._replace(end=place.here.start + 3))
    if place.kind == "DOCSTRING":
        return place.say("N112", "a docstring stands once, at the top of the program",
                         at=place.here._replace(end=place.here.start + 3), hint="comments start with #")
    return None


@mistake
def number_form(place: Place) -> Diagnostic | None:
    if place.kind != "BAD_NUMBER":
        return None
    text = str(place.token)
    if place.before is not None and place.before.type == "RANGE" and text.startswith("."):
        return place.say("N127", "a range is written with two points", "one point too many")
    before = place.before
    if before is not None and before.end_pos == place.token.start_pos and before.type in VALUE_ENDS:
        return place.say("N104", "a name has no part that starts with a digit")
    fixed = "0" + text if text.startswith(".") else text.replace(".", ".0", 1)
    return place.say("N104", f"`{_shown(place.token)}` needs a digit on both sides of the point", f"write {fixed}")


# --- lines and blocks


@mistake
def indentation(place: Place) -> Diagnostic | None:
    if place.kind != "_INDENT":
        return None
    return place.say("N108", "this line is indented, but it does not belong to a `for` or `block`",
                     at=place.span(place.tokens[place.position + 1]))


@mistake
def missing_body(place: Place) -> Diagnostic | None:
    if not place.accepts("_INDENT"):
        return None
    header = next(token for token in reversed(place.tokens[:place.position]) if token.type in ("FOR", "BLOCK"))
    what = "loop" if header.type == "FOR" else "block"
    return place.say("N109", f"this {what} has no indented lines", f"the lines of the {what} go below, indented",
                     at=place.span(header))


@mistake
def if_statement(place: Place) -> Diagnostic | None:
    if place.kind in ("IF", "ELSE") and place.token is place.first:
        return place.say("N130", f"there is no `{place.token}` statement",
                         hint="a choice is an expression: name = a if condition else b")
    return None


@mistake
def reserved_name(place: Place) -> Diagnostic | None:
    reserved = set(reserved_words().values())
    if place.kind in reserved and place.accepts("NAME"):
        return place.say("N105", f"`{place.token}` is a reserved word, not a name")
    before = place.before
    if before is not None and before.type in reserved - {"IN", "IF", "ELSE", "AND", "OR", "NOT", "FOR"} \
            and place.kind in ("EQUAL", "LSQB", "TILDE") and place.accepts("NAME") and not place.accepts("NUMBER"):
        return place.say("N105", f"`{before}` is a reserved word and cannot be defined", at=place.span(before))
    return None


@mistake
def unclosed_bracket(place: Place) -> Diagnostic | None:
    if place.ends or not place.brackets or place.before is None:
        return None
    opened = place.brackets[-1]
    if place.before.line < place.token.line and opened.line < place.token.line and not place.accepts("NUMBER"):
        return place.say("N102", f"`{opened}` is never closed", "opened here", at=place.span(opened),
                         secondary=(Label(place.here, "this seems to start the next statement"),))
    return None


@mistake
def missing_colon(place: Place) -> Diagnostic | None:
    if place.ends and place.first.type in ("FOR", "BLOCK") and place.accepts("COLON"):
        what = "loop" if place.first.type == "FOR" else "block"
        return place.say("N110", f"`:` is missing after the head of this {what}", "put `:` here")
    return None


@mistake
def body_beside_its_head(place: Place) -> Diagnostic | None:
    if place.first.type in ("FOR", "BLOCK") and place.before is not None and place.before.type == "COLON" and not place.ends \
            and place.before.line == place.first.line and not place.brackets:
        what = "loop" if place.first.type == "FOR" else "block"
        return place.say("N109", f"the lines of a {what} stand below its head, indented", "put this on a line of its own, indented")
    return None


@mistake
def new_line_missing(place: Place) -> Diagnostic | None:
    if place.kind in {reserved_words()[word] for word in STATEMENT_WORDS} and place.accepts("_NL"):
        return place.say("N133", f"`{place.token}` starts a new statement, which needs its own line")
    return None


# --- the parts of a statement


@mistake
def tilde(place: Place) -> Diagnostic | None:
    if place.first.type in ("INPUT", "MATRIX") and place.accepts("TILDE"):
        what = "an input" if place.first.type == "INPUT" else "a matrix"
        if place.kind == "EQUAL":
            return place.say("N134", f"{what} is drawn at random: `~` instead of `=`", "write `~`")
        if place.ends:
            return place.say("N134", f"{what} needs the law it is drawn from", "for example ~ N(0, 1)"
                             if place.first.type == "INPUT" else "for example ~ N(0, 1/n)")
        if place.kind == "NAME" and not place.brackets:
            return place.say("N134", f"`~` is missing before `{place.token}`")
    if place.kind == "TILDE" and place.first.type == "NAME":
        return place.say("N134", "what is drawn at random is declared with `input` or `matrix`",
                         f"to draw `{place.first}`, put `input` before it", at=place.span(place.first))
    return None


@mistake
def within(place: Place) -> Diagnostic | None:
    if place.first.type != "EXPECT":
        return None
    if place.accepts("WITHIN") and (place.ends or place.kind == "NAME"):
        return place.say("N135", "this expectation has no tolerance", "add `within` and an absolute tolerance")
    equals = next((token for token in place.statement if token == "=="), None)
    if place.accepts("EQUAL") and equals is not None:
        return place.say("N120", "an expectation is stated with `=`", "write `=`", at=place.span(equals))
    return None


@mistake
def equals_signs(place: Place) -> Diagnostic | None:
    if place.token == "==" and place.accepts("EQUAL"):
        return place.say("N120", "a definition is written with `=`; `==` compares", "write `=`")
    if place.kind != "EQUAL":
        return None
    if place.first.type == "NAME" and place.before.type == "COLON":
        return place.say("N120", "a definition is written with `=`", "write only `=`",
                         at=place.span(place.before).to(place.here))
    words = [token.type for token in place.tokens[place.driver.statement:place.position]]
    if "IF" in words:
        return place.say("N120", "`=` defines; a comparison is written with `==`", "write `==`")
    if "EQUAL" in words and place.first.type in ("NAME", "CONST", "WIDTH", "PARAM", "DATA"):
        return place.say("N120", "a second `=` in one definition", "a name is defined once, on a line of its own")
    return None


@mistake
def range_form(place: Place) -> Diagnostic | None:
    if not place.accepts("RANGE") or place.kind in VALUE_STARTS + ("BAD_NUMBER",):
        return None
    words = [token.type for token in place.tokens[place.driver.statement:place.position]]
    if "IN" not in words or "EQUAL" in words[len(words) - words[::-1].index("IN"):]:
        return None
    after = place.tokens[place.position + 1]
    hint = ""
    if place.kind == "COLON" and place.before is not None and after.type in ("NAME", "NUMBER"):
        hint = f"{place.before}..{after}"
    return place.say("N127", "a range is written low..high", f"write {hint}" if hint else "expected `..`")


@mistake
def range_outside_in(place: Place) -> Diagnostic | None:
    if place.kind == "RANGE":
        return place.say("N127", "a range belongs after `in`, in an `index`, a loop or a reduction")
    return None


@mistake
def shape_form(place: Place) -> Diagnostic | None:
    if place.first.type == "MATRIX" and place.before is not None and place.before.type == "COLON":
        return place.say("N137", "a shape is written (rows, columns)", "expected `(`")
    return None


@mistake
def augmented(place: Place) -> Diagnostic | None:
    after = place.tokens[place.position + 1] if not place.ends else place.token
    if place.first.type == "NAME" and place.accepts("EQUAL") and after.type == "EQUAL" \
            and place.kind in ("PLUS", "MINUS", "TIMES", "OVER", "AT", "POWER"):
        return place.say("N121", f"there is no `{place.token}=`: a name has one value", "use a new name",
                         at=place.here._replace(end=after.end_pos))
    return None


@mistake
def no_name_to_define(place: Place) -> Diagnostic | None:
    starts_value = place.token is place.first and place.kind in ("NUMBER", "LPAR", "MINUS", "PLUS", "INFINITY", "NOT")
    after_name = place.first.type == "NAME" and place.accepts("EQUAL") and not place.brackets
    if not (starts_value or after_name) or place.kind in ("STRAY", "NAME", "NUMBER") and not starts_value:
        return None
    equals = next((token for token in place.statement if token.type == "EQUAL"), None)
    whole = place.span(place.statement[0]).to(place.span(place.statement[-1]))
    if equals is None:
        if place.ends:
            return place.say("N122", f"`{place.text(place.first, place.before)}` is only named here, not defined",
                             "expected `=` and a value")
        return place.say("N122", "this value has no name", "write name = … to define it", at=whole)
    left = place.statement[:place.statement.index(equals)]
    if not left:
        return None
    if place.kind == "LPAR" and len(place.statement) > 1 and place.before is place.first:
        return place.say("N122", f"`{place.first}(…)` on the left of `=` is not a name that can be defined",
                         hint=f"functions are defined with def, as in: def {place.text(left[0], left[-1])} = …\n"
                              "subscripts are written in square brackets")
    return place.say("N122", "only a name, with subscripts perhaps, can be defined",
                     at=place.span(left[0]).to(place.span(left[-1])))


@mistake
def output_of_expression(place: Place) -> Diagnostic | None:
    if place.first.type == "OUTPUT" and (place.kind in OPERATORS + ("LPAR", "NUMBER", "TRANSPOSE")):
        return place.say("N136", "an output is a name, with subscripts perhaps", hint="define the value on a line of "
                         "its own and output its name")
    return None


# --- expressions


@mistake
def transpose_place(place: Place) -> Diagnostic | None:
    if place.kind == "TRANSPOSE":
        return place.say("N131", "`.T` transposes a matrix that has a name", "this is not right after a name")
    if place.before is not None and place.before.type == "TRANSPOSE" and place.kind == "LSQB":
        return place.say("N131", "subscripts come before `.T`", hint="W[a].T, not W.T[a]")
    return None


@mistake
def second_subscripts(place: Place) -> Diagnostic | None:
    if place.kind == "LSQB" and place.before is not None and place.before.type == "RSQB":
        return place.say("N138", "a name has one pair of brackets", hint="x[1,2], not x[1][2]")
    return None


@mistake
def missing_else(place: Place) -> Diagnostic | None:
    if place.accepts("ELSE") and (place.ends or place.kind in ("RPAR", "RSQB", "COMMA")):
        return place.say("N128", "this `if` has no `else`", "add `else` and the value otherwise")
    return None


@mistake
def misplaced_for(place: Place) -> Diagnostic | None:
    if place.kind != "FOR":
        return None
    return place.say("N129", "`for` belongs inside the brackets of a reduction",
                     hint="sum(… for i), and so for prod, mean, max, min, softmax; to repeat lines, "
                          "a loop: for i in 1..3:")


@mistake
def list_place(place: Place) -> Diagnostic | None:
    if place.kind == "LSQB" and place.accepts("NUMBER"):
        return place.say("N132", "a list of numbers is not an expression",
                         hint="name it first: data NAME[SIZE] = [ … ]")
    return None


@mistake
def missing_value(place: Place) -> Diagnostic | None:
    if not place.accepts("NUMBER") or place.before is None or place.kind in VALUE_STARTS:
        return None
    if place.ends or place.kind in ("RPAR", "RSQB", "COMMA", "IF", "ELSE", "FOR", "WITHIN", "COLON", "TILDE", "EQUAL",
                                    "RANGE") or place.kind in OPERATORS:
        if place.kind in ("EQUAL", "TIMES") and str(place.before) in ("<", ">", "*", "!"):
            return None
        if place.before.type in CLOSER and place.kind == CLOSER[place.before.type]:
            return place.say("N123", "there is nothing between these brackets",
                             at=place.span(place.before).to(place.here))
        return place.say("N123", f"a value is missing after `{place.before}`",
                         "" if place.ends else f"before this `{place.token}`")
    return None


@mistake
def missing_operator(place: Place) -> Diagnostic | None:
    before = place.before
    if before is None or before.type not in VALUE_ENDS or place.kind not in VALUE_STARTS:
        return None
    if not place.accepts("TIMES"):
        return None
    left, right = place.span(before), place.here
    hint = ""
    if place.kind == "NAME" and before.type == "NUMBER":
        hint = f"a product is written {before}*{place.token}"
    elif place.kind == "NAME" and before.type == "NAME":
        hint = (f"functions have brackets: {before}({place.token})" if is_nonlinearity(str(before)) else
                f"a product with a matrix is written {before} @ {place.token}, any other {before}*{place.token}")
    return place.say("N126", f"an operator is missing between `{before}` and `{place.token}`", "",
                     hint, at=right if left.line != right.line else left.to(right))
