"""docs/reference/gallery.md is made of the programs: what they say of themselves, what they must give, and what they gave.

``python tests/docs/test_gallery.py`` runs them all and writes the page anew, with names of programs only these; the test compares
everything but the numbers found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reference/gallery.md"
PICTURES = ROOT / "docs/reference/gallery"
SECTIONS = {
    "Feed-forward networks": [
        "readout", "mlp", "mean_field", "shared_matrix", "layer_norm", "batch_norm", "maxout", "random_features", "bottleneck",
        "deep_equilibrium",
    ],
    "Residual and gated networks": [
        "resnet", "densenet", "highway", "feed_forward", "gated_linear_unit", "film", "squeeze_excitation",
        "dropout", "stochastic_depth",
    ],
    "Images, graphs and sequences": [
        "convolution", "circular_convolution", "convolution_2d", "graph_convolution", "rnn", "rnn_sequences", "gru", "lstm",
        "state_space", "fnet",
    ],
    "Attention": [
        "attention", "attention_head_width", "attention_infinite_heads", "attention_tokens", "attention_causal", "cross_attention",
        "attention_grouped_query", "attention_multi_query", "attention_low_rank", "attention_temperature", "attention_biases", "attention_qk_norm",
        "attention_sinusoidal", "attention_alibi", "attention_rotary", "attention_relu", "graph_attention",
    ],
    "Attention with other weights": [
        "attention_linear", "attention_relu_scores", "attention_sigmoid", "attention_sink", "attention_shaped",
        "attention_differential", "gated_attention_unit", "attention_one_over_n", "attention_kernel",
    ],
    "Transformers": [
        "transformer", "transformer_post_ln", "transformer_decoder", "transformer_post_norm", "transformer_pre_norm",
        "transformer_two_layers", "universal_transformer", "decoder",
    ],
    "Mixtures of experts": ["mixture_of_experts", "mixture_top_k"],
    "Transposes": ["autoencoder", "neural_tangent_kernel", "jacobian", "message_passing", "semicircle", "marchenko_pastur"],
}
HEAD = """# Gallery

<!-- written by tests/docs/test_gallery.py -->

The programs that come with netsor. Each states numbers that were computed without it (in closed form, by quadrature or sampling of another
kind, or published), and what it rests on; *found* is what `netsor test` found when this page was written, with the standard error of the last digit
in brackets and without brackets where it is exact to the digits shown. `netsor run programs/NAME.netsor` shows the whole law.
"""


@dataclass(frozen=True)
class Entry:
    """What a program says: title, text, source, the lines that it expects, and the comments before them."""

    name: str
    title: str
    text: str
    source: str
    expectations: list[str]
    rests_on: str


def entry(name: str) -> Entry:
    program = (ROOT / "programs" / f"{name}.netsor").read_text(encoding="utf-8")
    _, docstring, body = program.split('"""', 2)
    title, _, text = docstring.partition("\n")
    text, _, source = text.partition("Source:")
    lines = body.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("expect "))
    last = max(k for k in range(first) if lines[k] and not lines[k].startswith(("#", "const ")))
    comments = [line for line in lines[last:] if line.startswith("#")]
    return Entry(
        name, title.strip().rstrip("."), _one_line(text), _one_line(source), [line for line in lines if line.startswith("expect ")],
        _one_line(" ".join(line.lstrip("# ") for line in comments)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def described(of: Entry, found: list[str]) -> Iterator[str]:
    """The lines of an entry."""
    yield f"### [{of.name}](../../programs/{of.name}.netsor)"
    yield ""
    yield f"**{_escaped(of.title)}.** {_escaped(of.text)}".rstrip()
    yield ""
    yield f"![The program {of.name} as a graph](gallery/{of.name}.svg)"
    yield ""
    yield "| expected | found |"
    yield "| --- | --- |"
    for line, number in zip(of.expectations, found):
        code = line.removeprefix("expect ").replace("|", "\\|")
        yield f"| `{code}` | {number} |"
    yield ""
    yield f"{_escaped(of.rests_on)}"
    yield ""
    yield "Source: " + re.sub(r"arXiv:(\d+\.\d+)", r"[arXiv:\1](https://arxiv.org/abs/\1)", _escaped(of.source))
    yield ""


def _escaped(text: str) -> str:
    """Formulas in comments are plain text, not Markdown."""
    return re.sub(r"([*_|<>^\[\]])", r"\\\1", text)


def page(found: dict[str, list[str]]) -> str:
    lines = [HEAD]
    for section, names in SECTIONS.items():
        lines += [f"## {section}", ""]
        for name in names:
            lines += described(entry(name), found[name])
    return "\n".join(lines).rstrip() + "\n"


def numbers(name: str) -> list[str]:
    """What the program gives for its lines, where it is farthest from what is expected."""
    import netsor
    from netsor.cli.text.numbers import number
    from netsor.cli.verdicts import FAILED, judge

    limit = netsor.load(ROOT / "programs" / f"{name}.netsor").limit()
    verdicts = [judge(line, estimate, limit.program) for line, estimate in limit.expectations]
    assert not any(verdict.verdict == FAILED for verdict in verdicts), name
    return [number(float(v.found.value[v.worst]), float(v.found.error[v.worst])) for v in verdicts]


def draw(name: str) -> None:
    """The picture of a program."""
    import netsor
    from netsor.graph import draw, graph_of

    PICTURES.mkdir(exist_ok=True)
    picture = draw(graph_of(netsor.load(ROOT / "programs" / f"{name}.netsor").ir), "svg")
    (PICTURES / f"{name}.svg").write_text(picture, encoding="utf-8")


def written() -> dict[str, list[str]]:
    """The numbers that the page has."""
    found = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n### [")[1:] if PAGE.is_file() else []:
        found[part.partition("]")[0]] = re.findall(r"^\| `.*` \| (\S+) \|$", part, flags=re.MULTILINE)
    return found


PROGRAMS = [name for names in SECTIONS.values() for name in names]


def test_every_program_is_in_the_gallery():
    assert sorted(PROGRAMS) == sorted(path.stem for path in (ROOT / "programs").glob("*.netsor")), "give it a place in SECTIONS"


def test_the_page_says_what_the_programs_say():
    found = written()
    assert sorted(path.stem for path in PICTURES.glob("*.svg")) == sorted(PROGRAMS)
    stale = [name for name in PROGRAMS if len(found.get(name, [])) != len(entry(name).expectations)]
    assert not stale, f"run python tests/docs/test_gallery.py {' '.join(stale)}"
    assert PAGE.read_text(encoding="utf-8") == page(found), "run python tests/docs/test_gallery.py NAME for the programs that changed"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    known = written()
    again = [name for name in PROGRAMS if name in (sys.argv[1:] or PROGRAMS) or name not in known]
    for name in PROGRAMS:
        if name in again or not (PICTURES / f"{name}.svg").is_file():
            draw(name)
    PAGE.write_text(page({n: numbers(n) if n in again else known[n] for n in PROGRAMS}), encoding="utf-8")
