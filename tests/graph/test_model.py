"""A program as nodes and edges."""

import netsor
from netsor.graph import Edge, Graph, Node, graph_of
from netsor.graph.fold import in_order

ATTENTION = '''"""Attention."""
width n
param s = 3
param H = 2
index i, j in 1..s
index a in 1..H
input h[i] ~ N(0, 1)
matrix WQ[a], WK[a], WV[a], WO[a] ~ N(0, 1/n)
x[i] = clip(h[i], -1, 1)
q[a,i] = WQ[a] @ x[i]
k[a,i] = WK[a] @ x[i]
p[a,i,j] = dot(q[a,i], k[a,j]) / sqrt(n)
A[a,i,j] = softmax(p[a,i,j] for j)
v[a,i] = WO[a] @ (WV[a] @ x[i])
y[i] = sum(A[a,i,j] * v[a,j] for a, j) / sqrt(H)
m = avg(y[1]^2)
output p, y
'''
STACK = '''width n
param L = 3
index b in 1..2
input h[b] ~ N(0, 1)
input c ~ N(0, 1)
index l in 1..L
matrix W[l] ~ N(0, 2/n)
x[0,b] = h[b]
for k in 1..L:
  x[k,b] = W[k] @ relu(x[k-1,b]) + c
output x[L,b]
'''


def edges_by_name(graph):
    return {(graph.nodes[e.source].name, graph.nodes[e.target].name, e.matrix) for e in graph.edges}


def test_families_are_nodes_and_uses_are_edges():
    graph = graph_of(netsor.parse(ATTENTION).ir)
    nodes = {node.name: node for node in graph.nodes}
    assert {name: node.kind for name, node in nodes.items() if not node.hidden} == {
        "h[i]": "G", "x[i]": "H", "q[a,i]": "G", "k[a,i]": "G", "p[a,i,j]": "S", "A[a,i,j]": "S", "v[a,i]": "G", "y[i]": "G", "m": "S"}
    assert edges_by_name(graph) == {
        ("h[i]", "x[i]", ""), ("x[i]", "q[a,i]", "WQ[a]"), ("x[i]", "k[a,i]", "WK[a]"), ("q[a,i]", "p[a,i,j]", ""),
        ("k[a,i]", "p[a,i,j]", ""), ("p[a,i,j]", "A[a,i,j]", ""), ("x[i]", "WV[a] @ x[i]", "WV[a]"),
        ("WV[a] @ x[i]", "v[a,i]", "WO[a]"), ("A[a,i,j]", "y[i]", ""), ("v[a,i]", "y[i]", ""), ("y[i]", "m", "")}
    assert [name for name, node in nodes.items() if node.output] == ["p[a,i,j]", "y[i]"]
    assert [name for name, node in nodes.items() if node.given] == ["h[i]"]
    assert nodes["p[a,i,j]"].axes == "a = 1..2, i = 1..3, j = 1..3"
    rules = {name: nodes[name].what for name in ("h[i]", "x[i]", "q[a,i]", "p[a,i,j]", "A[a,i,j]", "y[i]", "m")}
    assert rules == {"h[i]": "input N(0, 1)", "x[i]": "clip", "q[a,i]": "MatMul", "p[a,i,j]": "Score",
                     "A[a,i,j]": "softmax over j", "y[i]": "sum over a, j", "m": "Moment"}


def test_an_infinite_axis_is_shown_as_such():
    assert "a = 1..∞, i = 1..3" in {node.axes for node in graph_of(netsor.parse(ATTENTION, H="inf").ir).nodes}


def test_values_without_a_name_are_called_by_their_formula():
    """Brackets stand where the language needs them; no inner name such as y.1 is shown."""
    graph = graph_of(netsor.parse(
        "width n\ninput g, h ~ N(0, 1)\nmatrix W, V ~ N(0, 1/n)\ny = W @ (V @ (g * h)) + V @ relu(g)\n").ir)
    hidden = {node.name for node in graph.nodes if node.hidden}
    assert hidden == {"g * h", "V @ (g * h)", "W @ V @ (g * h)", "relu(g)", "V @ relu(g)"}
    (y,) = [node for node in graph.nodes if node.name == "y"]
    assert y.formula in ("(W @ V @ (g * h)) + (V @ relu(g))", "(V @ relu(g)) + (W @ V @ (g * h))")


def test_formulas_have_no_brackets_around_brackets_and_differences_are_such():
    graph = graph_of(netsor.parse(
        "width n\ninput h ~ N(0, 1)\nmatrix V ~ N(0, 1/n)\nm = avg(h)\ny = gelu(V @ h)\nv = 1 + avg((h - m)^2)\n").ir)
    nodes = {node.name: node for node in graph.nodes}
    assert nodes["y"].formula == "gelu(V @ h)" and "avg((h - m)^2)" in nodes


def test_the_graph_of_a_program_is_always_the_same():
    """Numbers that tell copies of an index apart depend on what was parsed before."""
    text = "width n\nindex a, b in 1..2\nconst K[a,b] = 1 if a == b else 0.5\ninput h[a] ~ N(0, K)\ny[a] = relu(h[a])\n"
    assert graph_of(netsor.parse(text).ir) == graph_of(netsor.parse(text).ir)


def test_short_loops_are_drawn_pass_by_pass():
    names = [node.name for node in graph_of(netsor.parse(STACK).ir).nodes if not node.hidden]
    assert names == ["h[b]", "c", "x[0,b]", "x[1,b]", "x[2,b]", "x[3,b]"]


def test_the_middle_of_a_long_loop_is_one_node():
    program = netsor.parse(STACK, L=12).ir
    graph = graph_of(program)
    names = [node.name for node in graph.nodes if not node.hidden]
    assert names == ["h[b]", "c", "x[0,b]", "x[1,b]", "x[2,b]", "⋮ 3..11", "x[12,b]"]
    fold = next(node for node in graph.nodes if not node.kind)
    assert fold.what == "9 passes of a loop, alike" and "x[3,b]" in fold.formula
    assert {(s, t) for s, t, _ in edges_by_name(graph) if fold.name in (s, t)} == {
        ("x[2,b]", fold.name), ("c", fold.name), (fold.name, "relu(x[11,b])")}
    assert all(edge.source < edge.target for edge in graph.edges)
    everything = graph_of(program, fold=False)
    assert sum(not node.hidden for node in everything.nodes) == 15


def test_what_uses_the_middle_of_a_loop_and_is_used_by_it_keeps_the_loop_unfolded():
    chain = "width n\ninput h ~ N(0, 1)\nx[0] = h\n" + "".join(
        f"y{k} = relu(x[{k - 1}])\nx[{k}] = y{k} * h\n" for k in range(1, 9))
    graph = graph_of(netsor.parse(chain).ir)
    assert len(graph.nodes) == 18 and all(node.kind for node in graph.nodes)


def test_sources_come_before_targets():
    edges = [Edge(3, 0), Edge(0, 2), Edge(3, 1)]
    assert in_order(range(4), edges) == [3, 0, 1, 2]


def test_a_graph_can_be_made_by_hand():
    assert Graph("t", nodes=[Node("x", "G")]).edges == []


def test_inputs_of_every_law_are_inputs():
    text = ("width n\nparam p = 0.3\ninput a ~ N(1, 2)\ninput b ~ Rademacher()\ninput c ~ Bernoulli(p)\ninput d ~ Uniform(-1, 1)\n"
            "input e ~ Const(0)\ninput g : 1 ~ N(0, 1)\ny = g * a * b * c * d + e\n")
    nodes = {node.name: node for node in graph_of(netsor.parse(text).ir).nodes if node.given}
    assert {name: node.what for name, node in nodes.items()} == {
        "a": "input N(1, 2)", "b": "input Rademacher()", "c": "input Bernoulli(3/10)", "d": "input Uniform(-1, 1)",
        "e": "input Const(0)", "g": "input N(0, 1)"}
    assert [nodes[name].kind for name in "abg"] == ["G", "H", "S"]
