"""Lines and brackets: a stream of tokens becomes logical lines with _NL, _INDENT and _DEDENT.

A line ends where no bracket is open. Indentation is compared as text (a deeper line must begin with the
indentation of the line it belongs to), so that no width of a tab has to be assumed. Brackets are matched here and not
by the parser, because the place to report an open bracket is where it opened. A statement whose brackets
do not match is reported once and replaced by _BROKEN; reading goes on with the next line.
"""

from __future__ import annotations

from lark import Token

from netsor.language.diagnostics import Diagnostic, Label
from netsor.language.grammar import reserved_words
from netsor.language.source import Source, Span

NESTING_LIMIT = 200
ERROR_LIMIT = 20
CLOSER = {"LPAR": "RPAR", "LSQB": "RSQB"}
STATEMENT_WORDS = ("width", "param", "index", "data", "const", "input", "matrix", "def", "block", "import", "output",
                   "expect", "return")


class TooManyErrors(Exception):
    """Enough has been reported; what follows is probably noise."""


class Layout:
    def __init__(self, tokens: list[Token], source: Source):
        self.tokens = tokens
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.output: list[Token] = []
        self.open: list[Token] = []
        self.indents = [""]
        self.statement = 0  # where the current statement starts in `output`
        self.statement_types = {reserved_words()[word] for word in STATEMENT_WORDS}

    def run(self) -> list[Token]:
        """The tokens as the parser wants them, ended by $END."""
        position = 0
        if self.tokens and self.tokens[0].type != "_NL":
            self._indentation(self.tokens[0])
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.type == "_NL":
                position = self._line_break(position)
            else:
                if token.type in CLOSER:
                    self._open(token)
                elif token.type in CLOSER.values():
                    self._close(token)
                self.output.append(token)
                position += 1
            if position == len(self.tokens) and self.open:
                position = self._never_closed()
        self._end()
        return self.output

    def report(self, code: str, message: str, span: Span, label: str = "", secondary=(), hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, span, label, tuple(secondary), hint))
        if len(self.diagnostics) >= ERROR_LIMIT:
            raise TooManyErrors

    def span(self, token: Token) -> Span:
        return Span(self.source, token.start_pos, token.end_pos)

    # --- lines

    def _line_break(self, position: int) -> int:
        following = self.tokens[position + 1] if position + 1 < len(self.tokens) else None
        if self.open:
            if following is not None and following.type in self.statement_types:
                return self._never_closed()
            return position + 1
        if self.output and self.output[-1].type not in ("_NL", "_INDENT", "_DEDENT"):
            self.output.append(self.tokens[position])
        self.statement = len(self.output)
        if following is not None:
            self._indentation(following)
            self.statement = len(self.output)
        return position + 1

    def _indentation_of(self, token: Token) -> str:
        line_start = self.source.text.rfind("\n", 0, token.start_pos) + 1
        return self.source.text[line_start:token.start_pos]

    def _indentation(self, token: Token) -> None:
        indentation = self._indentation_of(token)
        if indentation.startswith(self.indents[-1]):
            if indentation != self.indents[-1]:
                self.indents.append(indentation)
                self._mark("_INDENT", token)
                if len(self.indents) > NESTING_LIMIT:
                    self._too_deep(self.span(token))
            return
        if indentation not in self.indents:
            self._misaligned(token, indentation)
        while len(self.indents) > 1 and not indentation.startswith(self.indents[-1]):
            self.indents.pop()
            self._mark("_DEDENT", token)

    def _misaligned(self, token: Token, indentation: str) -> None:
        span = Span(self.source, token.start_pos - len(indentation), token.start_pos)
        if any("\t" in each for each in (indentation, *self.indents)):
            self.report("N107", "tabs and spaces are mixed in the indentation", span,
                        "does not line up with the lines above", hint="indent every line with spaces")
        else:
            self.report("N106", "this line does not line up with any line above", span,
                        f"indented by {len(indentation)}; the lines above are indented by "
                        + " or ".join(str(len(each)) for each in self.indents))

    def _mark(self, kind: str, at: Token) -> None:
        self.output.append(Token.new_borrow_pos(kind, "", at))

    def _end(self) -> None:
        last = self.tokens[-1] if self.tokens else Token("_NL", "", 0, 1, 1, 1, 1, 0)
        place = last.end_pos, last.end_line, last.end_column
        end = Token("_NL", "", *place, last.end_line, last.end_column, last.end_pos)
        if self.output and self.output[-1].type not in ("_NL", "_DEDENT"):
            self.output.append(end)
        for _ in self.indents[1:]:
            self._mark("_DEDENT", end)
        self._mark("$END", end)

    # --- brackets

    def _open(self, token: Token) -> None:
        self.open.append(token)
        if len(self.open) > NESTING_LIMIT:
            first = self.open[0]
            if first.line < token.line:  # more likely forgotten than nested
                self.report("N102", f"`{first}` is never closed", self.span(first), "opened here")
                raise TooManyErrors
            self._too_deep(self.span(token))

    def _too_deep(self, span: Span) -> None:
        self.report("N113", f"this is nested more than {NESTING_LIMIT} deep", span)
        raise TooManyErrors

    def _close(self, token: Token) -> None:
        if self.open and CLOSER[self.open[-1].type] == token.type:
            self.open.pop()
            return
        if not self.open:
            reported = self._is_broken()
            self._break_statement(token)
            if not reported:
                self.report("N103", f"`{token}` closes nothing", self.span(token))
            return
        reported = self._is_broken()
        self._break_statement(token)
        unclosed = self.open.pop()
        matching = [each for each in self.open if CLOSER[each.type] == token.type]
        closes = f"this closes the `{matching[-1]}` before it" if matching else f"this does not close a `{unclosed}`"
        if matching:
            del self.open[self.open.index(matching[-1]):]
        if not reported:
            self.report("N102", f"`{unclosed}` is never closed", self.span(unclosed), "opened here",
                        [Label(self.span(token), closes)])

    def _is_broken(self) -> bool:
        return self.statement < len(self.output) and self.output[self.statement].type == "_BROKEN"

    def _break_statement(self, at: Token) -> None:
        if not self._is_broken():
            self.output.insert(self.statement, Token.new_borrow_pos("_BROKEN", "", at))

    def _never_closed(self) -> int:
        """Report the open bracket and go on behind its statement, at the line that seems to start the next one."""
        bracket = self.open[0]
        self.open.clear()
        reported = self._is_broken()
        self._break_statement(bracket)
        del self.output[self.statement + 1:]
        start = next(k for k, token in enumerate(self.tokens) if token is bracket)
        position, following = self._next_statement(start)
        secondary = [Label(self.span(following), "the next statement starts here")] if following is not None else []
        if not reported:
            self.report("N102", f"`{bracket}` is never closed", self.span(bracket), "opened here", secondary)
        return position

    def _next_statement(self, start: int) -> tuple[int, Token | None]:
        for position in range(start, len(self.tokens) - 1):
            following = self.tokens[position + 1]
            if self.tokens[position].type != "_NL":
                continue
            if following.type in self.statement_types:
                return position, following
            outside = self.indents[-1].startswith(self._indentation_of(following))
            if outside and following.type in ("NAME", "FOR"):
                return position, following
        return len(self.tokens), None
