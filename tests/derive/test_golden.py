"""Derivations as text, looked at once by a reader and kept.  ``python tests/derive/test_golden.py`` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from netsor.derive import Derivation
from netsor.language import load_program

HERE = Path(__file__).parent
PROGRAMS = HERE.parents[1] / "programs"
CASES = {
    "attention": ("attention", {}), "attention_relu": ("attention_relu", {}), "attention_causal": ("attention_causal", {}),
    "attention_infinite_heads": ("attention_infinite_heads", {}), "attention_linear": ("attention_linear", {}),
    "two_layers": ("transformer_two_layers", {}), "attention_tokens": ("attention_tokens", {}), "mlp": ("mlp", {"L": 6}),
    "resnet": ("resnet", {}), "rnn": ("rnn", {}), "shared_matrix": ("shared_matrix", {}), "layer_norm": ("layer_norm", {}),
    "dropout": ("dropout", {}), "convolution": ("convolution", {}), "mean_field": ("mean_field", {}),
    "transformer_pre_ln": ("transformer", {"L": 2}),
}


def derived(name: str, steps: bool = False) -> str:
    program, settings = CASES[name]
    return Derivation(load_program(PROGRAMS / f"{program}.netsor", free=True, settings=settings), steps=steps).text()


@pytest.mark.parametrize("name", CASES)
def test_the_derivation_reads_as_it_did(name):
    assert derived(name) == (HERE / "golden" / f"{name}.txt").read_text(encoding="utf-8")


def test_the_steps_read_as_they_did():
    assert derived("attention", steps=True) == (HERE / "golden" / "attention_steps.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    (HERE / "golden").mkdir(exist_ok=True)
    for each in CASES:
        (HERE / "golden" / f"{each}.txt").write_text(derived(each), encoding="utf-8")
    (HERE / "golden" / "attention_steps.txt").write_text(derived("attention", steps=True), encoding="utf-8")
