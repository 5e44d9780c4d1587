"""The folder listing is the pipeline: imports run one way, and cheap things stay cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "netsor"

# Who may import whom; each stage also itself.
ALLOWED = {
    "language": {"ir", "rules", "nonlinearities"},
    "ir": {"language"},  # sources, spans and diagnostics only (checked below)
    "nonlinearities": {"expectation"},  # its check compares declarations with quadrature
    "expectation": {"nonlinearities"},
    "rules": {"ir", "expectation", "nonlinearities"},
    "limit": {"ir", "language", "rules", "expectation", "nonlinearities"},
    "finite": {"ir", "language", "rules", "expectation", "nonlinearities", "limit", "plugins"},
    "compare": {"ir", "language", "expectation", "limit", "finite", "rules", "nonlinearities"},
    "graph": {"ir", "language"},
    "derive": {"ir", "language", "rules", "nonlinearities", "limit"},
    "plot": {"ir", "language", "expectation", "limit", "finite", "compare"},
    "reproduce": {"ir", "language", "expectation", "limit", "finite", "compare", "plot", "api"},
    "plugins": {"rules", "nonlinearities"},
    "testing": {"rules", "nonlinearities"},
    "api": {"ir", "language", "limit", "finite", "compare", "plot", "plugins", "derive"},
    "__init__": {"api", "expectation", "language", "plugins"},
    "__main__": {"cli"},
}


def imports_of(path: Path) -> set[str]:
    """netsor modules that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("netsor.")}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "netsor":
            names = [node.module] if node.module != "netsor" else [f"netsor.{alias.name}" for alias in node.names]
            found |= set(names)
    return found


def stage(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    own = stage(path)
    if own == "cli":
        return
    for module in imports_of(path):
        target = module.split(".")[1]
        if target in (own, "__version__") or (path.name in ("result.py", "simulation.py") and target == "plot"):  # results have plot()
            continue
        assert target in ALLOWED[own], f"{path.name} imports {module}"
        if own == "ir":
            assert module in ("netsor.language.source", "netsor.language.diagnostics"), f"{path.name} imports {module}"
        if own == "language":
            assert target != "limit"


def test_files_are_small():
    """Past 400 lines a file wants to be two."""
    long = {p.name: n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text(encoding="utf-8").splitlines())) > 400}
    assert not long


def test_only_the_command_line_prints():
    for path in PACKAGE.rglob("*.py"):
        if stage(path) != "cli":
            calls = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call)]
            assert not any(isinstance(call.func, ast.Name) and call.func.id == "print" for call in calls), path


@pytest.mark.parametrize("statement, heavy", [
    ("import netsor", ["numpy", "scipy", "sympy", "lark", "rich", "matplotlib"]),
    ("import netsor.cli", ["numpy", "scipy", "sympy", "lark", "rich", "matplotlib"]),
    ("import netsor; netsor.parse('width n\\ninput x ~ N(0, 1)\\noutput x').limit()", ["sympy", "rich", "matplotlib"]),
    ("import netsor; netsor.load('programs/attention.netsor').limit(samples=16)", ["scipy.stats", "sympy", "rich"]),
])
def test_imports_are_lazy(statement, heavy):
    code = f"import sys; {statement}; print([m for m in {heavy!r} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert result.stdout.strip() == "[]"
