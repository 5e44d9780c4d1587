"""The style of programs, rule by rule: what is written on the left becomes what is written on the right."""

import pytest

from netsor.language.diagnostics import NetsorError
from netsor.language.format import format_source
from netsor.language.source import Source


def formatted(text: str) -> str:
    return format_source(Source(text))


@pytest.mark.parametrize("written, wanted", [
    ("x=a+b", "x = a + b"),
    ("x =a*b/c", "x = a*b/c"),
    ("x=2 * a + f( y )", "x = 2*a + f(y)"),
    ("x[ i ,j ]=A[i, j]*v[ j ]", "x[i,j] = A[i,j] * v[j]"),
    ("x[ l - 1 , 2 * m ] = y[wrap( i + 1 )]", "x[l-1,2*m] = y[wrap(i+1)]"),
    ("x=W@y", "x = W @ y"),
    ("x = W .T@y", "x = W.T @ y"),
    ("x = - y ^ - 2", "x = -y^-2"),
    ("x = a- -b", "x = a - -b"),
    ("x = ( 1+e )* ( z-1 )", "x = (1 + e)*(z - 1)"),
    ("x = y^( 1-L )", "x = y^(1-L)"),
    ("x = (1+y)**2", "x = (1 + y)**2"),
    ("x = mean( z )/2*c", "x = mean(z) / 2 * c"),
    ("x = v/3*mean( z )", "x = v/3 * mean(z)"),
    ("x = dot( q,k )/sqrt( n )", "x = dot(q, k) / sqrt(n)"),
    ("x = 1 / sqrt( n )", "x = 1/sqrt(n)"),
    ("x = mask[t] / keep * relu(y)", "x = mask[t]/keep * relu(y)"),
    ("x = f(y ,c = 0.10 ,)", "x = f(y, c=0.10,)"),
    ("x = sum( y[j] for j , o in - 1 .. 1 if 1<=j+o and j + o<=S )",
     "x = sum(y[j] for j, o in -1..1 if 1 <= j+o and j+o <= S)"),
    ("x:H=a if not b<c else ∞", "x : H = a if not b < c else ∞"),
    ("x = z . p[ 1 ]", "x = z.p[1]"),
    ("x = 1 if(a or b)else 2", "x = 1 if (a or b) else 2"),
    ("expect cov(y[1] ,y[1])=1/s within 1e-4", "expect cov(y[1], y[1]) = 1/s within 1e-4"),
    ("width n,m=2 * n", "width n, m = 2*n"),
    ("param s=4 , t", "param s = 4, t"),
    ("index i ,j in 0 .. V - 1", "index i, j in 0..V-1"),
    ("data X[ B,D ]=[[ 1,- 2.50 ],[3 ,4]]", "data X[B, D] = [[1, -2.50], [3, 4]]"),
    ("const K[ b ,c ]=1e-3", "const K[b,c] = 1e-3"),
    ("input h[i],g[i]:m~N( 0,1 )", "input h[i], g[i] : m ~ N(0, 1)"),
    ("matrix W[ a ]:( m,n )~N(0,2 / ( n+m ))", "matrix W[a] : (m, n) ~ N(0, 2/(n + m))"),
    ("def f( z,c = 1 )=z+c", "def f(z, c=1) = z + c"),
    ('import "a  b.netsor"', 'import "a  b.netsor"'),
    ("import std . transformer", "import std.transformer"),
    ("output x[ L,i ],z . p", "output x[L,i], z.p"),
    ("größe_β = α*Ω", "größe_β = α*Ω"),
])
def test_spaces(written, wanted):
    """Operators that bind tighter stand tighter; brackets and commas have the field's spaces."""
    assert formatted(f"{written}\n") == f"{wanted}\n"
    assert formatted(f"{wanted}\n") == f"{wanted}\n"


def test_sums_of_indices_are_tight_and_others_are_not():
    assert formatted("index i,j in 1..2\nx = abs( i - j ) + abs( a-b )\n") == (
        "index i, j in 1..2\nx = abs(i-j) + abs(a - b)\n")


def test_a_name_called_t_behind_a_point_does_not_become_a_transpose():
    assert formatted("x = z . T\n") == "x = z. T\n"


def test_lines_end_alike_and_without_spaces():
    text = '\ufeff"""Two \r\n\tlines. """  \r\n\r\n\r\n\r\nwidth n\t\r\nx = 1 \t # c \t\r\n\r\n'
    assert formatted(text) == '"""Two\n\tlines. """\n\n\nwidth n\nx = 1    # c\n'


def test_blank_lines():
    """Two at most between statements, one inside a block, none where a block, a bracket or the file begins or ends."""
    text = "\n\nwidth n\n\n\n\nx[0] = (1 +\n\n 2)\nfor l in 1..2:\n\n  x[l] = 1\n\n\n  y[l] = 2\n\n\n\n"
    assert formatted(text) == (
        "width n\n\n\nx[0] = (1 +\n        2)\nfor l in 1..2:\n  x[l] = 1\n\n  y[l] = 2\n")


def test_blocks_are_indented_by_two():
    text = "block f(x,r = 4):\n\twidth n like x\n\tfor l in 1..2 :\n\t\t\ty[l] = x\n\treturn y[2]\n"
    assert formatted(text) == (
        "block f(x, r=4):\n  width n like x\n  for l in 1..2:\n    y[l] = x\n  return y[2]\n")


# --- comments


def test_comments_stay_where_they_belong():
    """Those on lines of their own take the indentation of what follows, or of the block that they end."""
    text = ("#first\nwidth n\nfor l in 1..2:\n   # of the loop\n   x[l] = 1\n   # its end\n# after it\ny = f(#open\n  1,  # one\n"
            "  # own\n  2)  # end\n#last")
    assert formatted(text) == (
        "#first\nwidth n\nfor l in 1..2:\n  # of the loop\n  x[l] = 1\n  # its end\n# after it\ny = f(  #open\n    1,  # one\n"
        "    # own\n    2)  # end\n#last\n")


def test_comments_at_the_end_of_lines_keep_their_column_or_move_together():
    text = "a=1       # one\nbb = 2    # two\nccccccc = 3   # three\n\nd = 4 # four\n"
    assert formatted(text) == "a = 1     # one\nbb = 2    # two\nccccccc = 3   # three\n\nd = 4  # four\n"
    grown = "a = 1   # one\nb=aa+bb # two\n"
    assert formatted(grown) == "a = 1        # one\nb = aa + bb  # two\n"


# --- alignment


def test_definitions_that_the_author_aligned_stay_aligned():
    text = "x[i]  =1\npp[i,j]= 2\nq[ i ] = 3\n"
    assert formatted(text) == "x[i] = 1\npp[i,j] = 2\nq[i] = 3\n"  # no two of them are
    text = "x[i]    = 1\npp[i,j] = 2\nq[i] = 3\n\nr = 4\n"
    assert formatted(text) == "x[i]    = 1\npp[i,j] = 2\nq[i]    = 3\n\nr = 4\n"


def test_a_new_line_falls_into_place():
    text = "x   = 1\nabc = 2\nlonger = 3\n"
    assert formatted(text) == "x      = 1\nabc    = 2\nlonger = 3\n"


def test_alignment_is_of_one_kind_of_statement():
    text = "input a[i]  ~ N(0, 1)\ninput bb[i] ~ N(0, 1)\nmatrix W ~ N(0, 1/n)\nx  = 1\nyy = 2\nconst c = 1\n"
    assert formatted(text) == text


# --- long lines


def test_line_breaks_inside_brackets_stay():
    text = "data X[2, 2] = [[1, 2],\n        [3,4]]\ny = sum(\n  x[j]\n for j\n)\n"
    assert formatted(text) == "data X[2, 2] = [[1, 2],\n                [3, 4]]\ny = sum(\n    x[j]\n    for j\n)\n"


def test_long_lines_are_broken_at_the_loosest_place_that_fits():
    long = " + ".join(f"relu(W{k} @ x)" for k in range(12))
    lines = formatted(f"y = mean({long} for j)\n").splitlines()
    assert [len(line) <= 100 for line in lines] == [True] * len(lines) and len(lines) == 3
    assert lines[1].startswith("         + relu(") and "".join(lines).endswith(" for j)")
    arguments = ", ".join(f"f{k}(1 + c)" for k in range(14))
    assert all(line.endswith(",") for line in formatted(f"y = g({arguments})\n").splitlines()[:-1])


def test_what_cannot_be_broken_stays_long():
    long = "y = " + " + ".join(f"x{k}" for k in range(40)) + "\n"
    assert formatted(long) == long
    subscripts = f"y = x[{'+'.join(['1'] * 80)}]\n"
    assert formatted(subscripts) == subscripts


def test_chains_of_many_terms_take_seconds():
    text = f"x = ({'+y' * 10_000})\ndata X = [{','.join(['1'] * 5_000)}]\n"
    result = formatted(text)
    assert max(map(len, result.splitlines())) <= 100


def test_deep_brackets_take_no_time():
    """Each level is looked at once, not once for each neighbour."""
    inner = "a"
    for _ in range(60):
        inner = f"(b*{inner}*c)"
    assert formatted(f"x = {inner}\n")


def test_syntax_errors_are_reported():
    with pytest.raises(NetsorError, match="N102"):
        formatted("x = (1\n")


def test_a_change_of_meaning_is_refused(monkeypatch):
    """A bug in the formatter is reported, and nothing is written."""
    from netsor.language import format as package

    monkeypatch.setattr(package, "align_comments", lambda lines: "x = 2\n")
    with pytest.raises(RuntimeError, match="meaning"):
        formatted("x = 1\n")
    monkeypatch.setattr(package, "align_comments", lambda lines: "x = 1\n")
    with pytest.raises(RuntimeError, match="comments"):
        formatted("x = 1  # one\n")
