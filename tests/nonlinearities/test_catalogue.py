"""Every declaration is what it says, and a false or incomplete one is caught."""

import math

import numpy as np
import pytest

import netsor
from netsor import nonlinearities
from netsor.nonlinearities import Nonlinearity, registry
from netsor.testing import check_nonlinearity

PARAMETERS = {"clip": (-1.0, 0.5), "hermite": (3,)}
CATALOGUE = """identity relu leaky_relu prelu abs step sign relu2 elu selu celu gelu gelu_tanh silu mish softplus sigmoid
tanh hardtanh hardsigmoid clip erf sigmoid_erf sin cos exp log sqrt gaussian rbf square cube hermite""".split()


def test_the_catalogue_is_complete():
    assert set(CATALOGUE) <= set(nonlinearities.names())


@pytest.mark.parametrize("name", CATALOGUE)
def test_declaration_is_true(name):
    check_nonlinearity(nonlinearities.get(name), *PARAMETERS.get(name, ()))


@pytest.mark.parametrize(
    "name, parameters",
    [("leaky_relu", (0.1,)), ("leaky_relu", (-1,)), ("leaky_relu", (1,)), ("clip", (-100, 100)), ("clip", (0.5, 2)),
     ("clip", (-1, math.inf)), ("hermite", (0,)), ("hermite", (6,)), ("elu", (0.5,)), ("celu", (2.0,))],
)
def test_declaration_is_true_at_other_parameters(name, parameters):
    check_nonlinearity(nonlinearities.get(name), *parameters)


@pytest.mark.parametrize("name", CATALOGUE)
def test_values_are_silent_float64_everywhere(name):
    function = nonlinearities.get(name)
    with np.errstate(all="raise"):
        values = function(np.array([[-1e300, -800.0, -0.0], [0.0, 800.0, 1e300]]), *PARAMETERS.get(name, ()))
    assert values.dtype == np.float64 and values.shape == (2, 3)
    if function.growth == "bounded":
        assert np.all(np.abs(values) <= 1)


def test_jumps_are_zero_at_zero():
    assert nonlinearities.get("step")(0.0) == 0 and nonlinearities.get("sign")(0.0) == 0


class Softsign(Nonlinearity):
    """x / (1 + |x|); the second derivative jumps at zero."""

    name, citation, growth, strip = "softsign_for_tests", "Turian et al. 2009", "bounded", math.inf

    def function(self, x):
        return x / (1 + np.abs(x))

    def derivative(self, x):
        return 1 / (1 + np.abs(x)) ** 2

    def kinks(self):
        return (0.0,)

    def parity(self):
        return -1


def test_a_declaration_takes_a_dozen_lines():
    check_nonlinearity(Softsign())


def variant(**changes):
    """Softsign with one thing changed."""
    return type("Variant", (Softsign,), {"name": "variant", **changes})()


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"derivative": lambda self, x: 1 / (1 + np.abs(x))}, "the derivative of variant is not its slope"),
        ({"parity": lambda self: 1}, "variant is not even"),
        ({"kinks": lambda self: ()}, "kink near 0.000 that it does not declare"),
        ({"kinks": lambda self: (0.0, 1.0)}, "declares a kink at 1, where it is smooth"),
        ({"mean": lambda self, variance: 0.01 + 0 * variance}, "closed form of the mean of variant"),
        ({"pairs": lambda self: {"variant": lambda a, c, b: c / np.sqrt((1 + a) * (1 + b))}}, "closed form of the pair"),
        ({"function": lambda self, x: float(np.mean(x))}, "shape"),
        ({"polynomial": lambda self: (0.0, 1.0)}, "not the polynomial"),
    ],
)
def test_a_false_declaration_is_caught_with_a_sentence(changes, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_nonlinearity(variant(**changes))


def test_an_incomplete_declaration_is_refused_with_what_is_missing():
    class Half(Nonlinearity):
        name, growth, strip = "half", "linear", math.inf

        def function(self, x):
            return x / 2

    with pytest.raises(TypeError, match=r"'half' is incomplete: .*citation .*derivative .*kinks"):
        Half()


@pytest.mark.parametrize("changes", [{"growth": "slow"}, {"strip": 0.0}])
def test_a_meaningless_declaration_is_refused(changes):
    with pytest.raises(TypeError):
        variant(**changes)


def test_declarations_are_frozen():
    with pytest.raises(AttributeError):
        nonlinearities.get("relu").name = "other"


def test_parameters_come_from_the_signature_and_are_counted():
    clip, leaky = nonlinearities.get("clip"), nonlinearities.get("leaky_relu")
    assert clip.parameters == (("lo", None), ("hi", None)) and leaky.parameters == (("slope", 0.01),)
    assert leaky(-1.0) == -0.01 and leaky.derivative(-1.0) == 0.01 and nonlinearities.get("prelu").derivative(-1.0) == 0.25
    with pytest.raises(TypeError, match="needs a value for hi"):
        clip(0.3, -1)
    with pytest.raises(TypeError, match="takes 1 parameters"):
        leaky(0.3, 1, 2)


def test_unknown_names_come_with_near_matches():
    assert nonlinearities.suggest("Relu")[0] == "relu" and nonlinearities.suggest("gelu-tanh")[0] == "gelu_tanh"
    with pytest.raises(KeyError, match="did you mean .*tanh"):
        nonlinearities.get("tanhh")


def test_names_are_registered_once():
    class Other(Softsign):
        name = "relu"

    with pytest.raises(ValueError, match="already"):
        nonlinearities.register(Other())


def test_a_users_class_may_be_defined_again(monkeypatch):
    nonlinearities.names()
    monkeypatch.setattr(registry, "_catalogue", dict(registry._catalogue))

    def define(offset):
        class Shifted(Nonlinearity):
            name, growth, strip, citation = "shifted_for_a_test", "linear", np.inf, "this test"

            def function(self, x):
                return x + offset

            def derivative(self, x):
                return np.ones_like(x)

            def kinks(self):
                return ()

        return Shifted()

    for offset in (1.0, 2.0):
        nonlinearities.register(define(offset))
        assert nonlinearities.get("shifted_for_a_test")(0.0) == offset
        netsor.parse("width n\ninput h ~ N(0, 1)\ny = shifted_for_a_test(h)\n")  # known to programs at once
