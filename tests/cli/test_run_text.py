"""What a reader sees: the shape of the text exactly, numbers within their stated errors."""

import re

GOLDEN = """\
attention: Softmax attention at initialisation.
n → ∞ with s = 4, H = 2

scores
    p[a,i,j]   level 1: 32 scores, Gaussian, independent, variance 1

outputs
    p[a,i,j]   a = 1..2, i = 1..4, j = 1..4   random scalar, Gaussian
        mean 0, variance 1 for every element
        elements are independent

    y[i]   i = 1..4   vector, Gaussian mixture given p
        mean 0 for every element
        i variance excess kurtosis
        1 <0.391971443576> <0.1216592>
        2 <0.391971443576> <0.1216592>
        3 <0.391971443576> <0.1216592>
        4 <0.391971443576> <0.1216592>
        covariance
          i 1 2 3 4
          1 <0.391971443576> <0.25> <0.25> <0.25>
          2 <0.25> <0.391971443576> <0.25> <0.25>
          3 <0.25> <0.25> <0.391971443576> <0.25>
          4 <0.25> <0.25> <0.25> <0.391971443576>
        by 16 x 512 samples of the scores

0.39198(2) is 0.39198 ± 0.00002 (standard error); without brackets: exact to the digits shown
theorem: limit with random scores (Sakai, Karakida & Imaizumi 2025, arXiv:2506.00846); one level of scores
8,192 samples of the scores, seed 0, SECONDS s
"""

STATED = re.compile(r"(-?\d+)\.(\d+)\((\d)\)")


def matches(golden: str, found: str) -> bool:
    """Whether a word is what the golden text says; <v>: a number with an error, within 5 errors of v."""
    if not golden.startswith("<"):
        return golden == found
    stated = STATED.fullmatch(found)
    value, error = float(f"{stated[1]}.{stated[2]}"), int(stated[3]) * 10.0 ** -len(stated[2])
    return abs(value - float(golden[1:-1])) <= 5 * error


def test_golden_transcript_of_attention(cli, attention):
    """18 numbers at 5 errors of 16 replicates: a false alarm in 3 of 1,000 seeds.  Seen would be a variance or
    covariance that is wrong by 2 %, a kurtosis that is wrong by 10 %."""
    outcome = cli("run", attention, "--samples", 8192)
    assert (outcome.status, outcome.err) == (0, "")
    found = re.sub(r"[\d.e-]+ s$", "SECONDS s", outcome.out.strip("\n"), flags=re.MULTILINE).split("\n")
    golden = GOLDEN.strip("\n").split("\n")
    assert len(found) == len(golden), outcome.out
    for line, wanted in zip(found, golden):
        words, pattern = line.split(), wanted.split()
        assert len(words) == len(pattern) and all(map(matches, pattern, words)), (line, wanted)
        assert len(line) - len(line.lstrip()) == len(wanted) - len(wanted.lstrip()), (line, wanted)


def test_columns_stand_under_their_headings(cli, attention):
    """Every number of a table starts in the column in which its heading starts."""
    lines = cli("run", attention, "--samples", 512).out.split("\n")
    start = next(k for k, line in enumerate(lines) if "excess kurtosis" in line)
    column = lines[start].index("excess kurtosis")
    assert all(re.match(r" -?\d", lines[start + k][column - 1 :]) for k in (1, 2, 3, 4))


def test_exact_results_show_no_errors(cli, relu):
    outcome = cli("run", relu)
    assert "mean 0, variance 1 for every element" in outcome.out
    assert "nothing sampled" in outcome.out
    assert not STATED.search(outcome.out)
    assert "standard error" not in outcome.out
    covariance = outcome.out[outcome.out.index("covariance") :]
    assert f"{1 / 3.141592653589793:.8f}"[:8] in covariance


def test_large_outputs_are_summarised_with_the_places_of_their_extremes(cli, program):
    path = program(
        "width n\nparam N = 40\nindex b in 1..N\ninput h[b] ~ N(0, b)\nmatrix W ~ N(0, 1/n)\nz[b] = W @ relu(h[b])\noutput z\n"
    )
    text = cli("run", path).out
    assert "variance from 0.5 (b=1) to 20 (b=40)" in text
    assert "covariance of different elements from" in text and "(b=1 and b=2)" in text and "(b=39 and b=40)" in text
    assert len(text.splitlines()) < 20


def test_selected_outputs_only(cli, attention):
    text = cli("run", attention, "--output", "y", "--samples", 512).out
    assert "    y[i]   i" in text and "    p[a,i,j]   a = " not in text


def test_a_program_on_the_standard_input(cli, relu):
    outcome = cli("run", "-", stdin=relu.read_bytes())
    assert outcome.status == 0 and outcome.out.startswith("program: One layer.\n")


def test_the_same_seed_gives_the_same_text_and_another_seed_does_not(cli, attention):
    texts = [
        re.sub(r"seed \d+, .*", "", cli("run", attention, "--samples", 512, "--seed", seed).out) for seed in (7, 7, 8)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_several_levels_are_called_an_extension(cli, program):
    path = program(
        "width n\nparam s = 2\nindex i, j in 1..s\ninput h[i] ~ N(0, 1)\nmatrix Q, K, V, Q2, K2 ~ N(0, 1/n)\n"
        "p[i,j] = dot(Q @ h[i], K @ h[j]) / sqrt(n)\nA[i,j] = softmax(p[i,j] for j)\nx[i] = sum(A[i,j] * (V @ h[j]) for j)\n"
        "r[i,j] = dot(Q2 @ x[i], K2 @ x[j]) / sqrt(n)\noutput r\n"
    )
    text = cli("run", path, "--samples", 1024).out
    assert "extension: sequential conditioning over 2 levels" in text
    assert "p[i,j]   level 1: 4 scores, Gaussian, independent, variance 1" in text
    assert "r[i,j]   level 2: 4 scores, Gaussian given level 1, Kronecker covariance (i) ⊗ (j)" in text


def test_an_infinite_axis_is_named(cli, attention):
    text = cli("run", attention, "--set", "H=inf", "--output", "y", "--samples", 256).out
    assert "H = inf" in text and "16 scores for each of infinitely many a" in text


def test_a_stream_that_cannot_show_a_letter_shows_a_question_mark(outside, relu):
    process = outside("run", relu, PYTHONIOENCODING="latin-1")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and err == b"" and b"n ? ?" in out


def test_inputs_that_are_not_gaussian_are_said_to_be_so(cli, program):
    text = """width n
index i in 1..2
input g[i] : 1 ~ Bernoulli(0.3)
input c : 1 ~ N(0, 2)
input m ~ Bernoulli(0.3)
input x ~ N(0, 1)
y = (g[1] + c) * relu(m*x)
output y, g, m
"""
    out = cli("run", program(text), "--samples", "64").out
    assert "g[i]   input: 2 random scalars, independent, not Gaussian" in out
    assert "c   input: 1 random scalar, Gaussian, alone, variance 2" in out
    assert "y   vector, not Gaussian given g, c" in out
    assert "g[i]   i = 1..2   random scalar, not Gaussian" in out
    assert "m   vector, not Gaussian" in out
