"""SVG, Mermaid and Graphviz: well-formed whatever the names, and complete."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import netsor
from netsor.graph import Edge, Graph, Node, draw, graph_of

PROGRAMS = sorted((Path(__file__).parents[2] / "programs").rglob("*.netsor"))
NASTY = Graph(
    'a "b" <c> & \\d\n', 'first <i>line</i>\nsecond & "third"',
    [Node('<x> & "y"', "G", "a|b", "i = 1..2", 'f(<x>) "&"', given=True), Node("end`]`\\", "H", "#quot; --> n0"), Node("Ω", "C"),
     Node("s]", "S", hidden=True, output=True), Node("⋮ 1..2", "")],
    [Edge(0, 1, 'W"|<&'), Edge(1, 2), Edge(2, 3), Edge(0, 3), Edge(3, 4)])
MERMAID = [
    r"flowchart TD",
    r'  n\d+(\[/|\[|\(|\(\[|\{\{)"[^"<>`|\\{}]*(<(b|/b|br/)>[^"<>`|\\{}]*)*"(/\]|\]|\)|\]\)|\}\}):::[a-z]+',
    r'  n\d+ (-->|==>\|"[^"<>`|\\{}]*"\|) n\d+',
    r"  classDef [a-z]+ [a-z-]+:[#\w ]+(,[a-z-]+:[#\w ]+)*",
    r"  class n\d+(,n\d+)* [a-z]+",
]


def texts(svg: str) -> list[str]:
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda path: path.stem)
def graph(request):
    return graph_of(netsor.load(request.param).ir)


def test_every_node_and_matrix_of_a_program_is_in_the_picture(graph):
    shown = texts(draw(graph, "svg"))
    assert {node.name for node in graph.nodes} | {edge.matrix for edge in graph.edges if edge.matrix} <= set(shown)


def test_mermaid_follows_its_grammar(graph):
    check_mermaid(graph)


def check_mermaid(graph: Graph) -> None:
    first, title, last, *lines = draw(graph, "mermaid").splitlines()
    assert (first, last) == ("---", "---") and re.fullmatch(r'title: "([^"\\]|\\.)*"', title)
    assert all(any(re.fullmatch(rule, line) for rule in MERMAID) for line in lines), lines
    declared = re.findall(r"^  (n\d+)[\[({]", "\n".join(lines), re.MULTILINE)
    used = re.findall(r"^  (n\d+) .* (n\d+)$", "\n".join(lines), re.MULTILINE)
    assert len(set(declared)) == len(graph.nodes) and len(used) == len(graph.edges)
    assert {name for pair in used for name in pair} <= set(declared)
    classes = set(re.findall(r":::(\w+)|^  class \S+ (\w+)$", "\n".join(lines), re.MULTILINE))
    assert {name for pair in classes for name in pair if name} == set(re.findall(r"classDef (\w+)", "\n".join(lines)))


def test_names_are_escaped():
    svg = draw(NASTY, "svg")
    assert {'<x> & "y"', "end`]`\\", 'W"|<&', "Ω"} <= set(texts(svg))
    check_mermaid(NASTY)
    dot = draw(NASTY, "dot")
    assert r'"a \"b\" <c> & \\d\n"' in dot and r'label="<x> & \"y\"  G\na|b\ni = 1..2"' in dot and r'[label="W\"|<&"' in dot


def test_graphviz_has_every_node_and_edge(graph):
    text = draw(graph, "dot")
    unquoted = re.sub(r'"([^"\\]|\\.)*"', "", text)
    assert '"' not in unquoted and unquoted.count("{") == unquoted.count("}") == 1
    assert len(re.findall(r"^  n\d+ \[", text, re.MULTILINE)) == len(graph.nodes)
    assert len(re.findall(r"^  n\d+ -> n\d+", text, re.MULTILINE)) == len(graph.edges)


def test_kinds_differ_in_shape_and_in_colour():
    """Nobody needs to see colours to tell kinds apart."""
    nodes = [Node("x", kind) for kind in "GHCS"] + [Node("x", "G", given=True)]
    svg = draw(Graph("t", nodes=nodes), "svg")
    paths = [re.sub(r"[-\d. ]+", "#", each) for each in re.findall(r'</title><path d="([^"]+)"', svg)]
    rounds = re.findall(r'</title><path d="[^"]*?a([\d.]+)', svg)
    assert len(paths) == 5 and len({paths[0], paths[1], paths[3], paths[4]}) == 4 and rounds[0] != rounds[1]
    shapes = re.findall(r"shape=(\w+)", draw(Graph("t", nodes=nodes), "dot"))
    assert len(set(shapes)) == 5


def test_the_legend_has_what_occurs_and_nothing_else():
    shown = texts(draw(Graph("t", nodes=[Node("x", "G")]), "svg"))
    assert "G: vector, Gaussian given the random scalars" in shown and "output" not in shown and "input" not in shown
    assert {"input", "output", "not named by the program", "product with a random matrix"} <= set(texts(draw(NASTY, "svg")))


def test_a_format_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="svg, mermaid, dot"):
        draw(NASTY, "png")


def test_the_picture_in_the_documentation_is_what_the_program_draws():
    root = Path(__file__).parents[2]
    shown = (root / "docs" / "figures" / "attention-graph.svg").read_text(encoding="utf-8")
    assert shown == draw(graph_of(netsor.load(root / "programs" / "attention.netsor").ir), "svg")
