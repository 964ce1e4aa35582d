"""Public parameters as data: nothing that an object hides, and no text of Python."""

import json
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

import modicum as mo
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise, laplace
from modicum.mechanisms.subsampled import Subsampled
from modicum.releases.publishing.plain import plain, short


@dataclass(frozen=True)
class Hiding:
    shown: Fraction
    hidden: int = field(repr=False)


@dataclass(frozen=True)
class Quiet:
    hidden: int

    def __repr__(self) -> str:
        return "Quiet"


def test_what_is_hidden_stays_hidden() -> None:
    assert plain(Hiding(Fraction(1, 3), 77)) == {"type": "Hiding", "shown": "1/3"}
    assert plain(Quiet(77)) == "Quiet"
    assert plain([Quiet(77)]) == ["Quiet"]


def test_a_mechanism_has_its_public_parameters() -> None:
    secret = 123_456_789
    mechanism = laplace([secret], l1=1, epsilon=Fraction(1, 2))
    found = plain(mechanism)
    assert isinstance(found, dict)
    assert found["type"] == mechanism.name
    assert found["noise"] == [{"type": "LaplaceNoise", "scale": "2"}]
    assert str(secret) not in json.dumps(found)
    assert str(secret) not in short(mechanism, 10_000)


def test_a_mechanism_within_another_hides_its_data_too() -> None:
    release = mo.mean([float(i % 977) for i in range(40_000)], epsilon=1)
    within = [each for each in release.transcript if each.mechanism == Subsampled.__name__]
    assert within
    for each in within:
        assert isinstance(each.parameters["mechanism"], dict)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (GaussianNoise(Fraction(5, 2)), "GaussianNoise(sigma2=5/2)"),
        ((LaplaceNoise(Fraction(50)), 3), "[LaplaceNoise(scale=50), 3]"),
        (range(2, 9, 3), "range(start=2, stop=9, step=3)"),
        ({"a": Fraction(1, 2)}, "(a=1/2)"),
        ("x" * 200, "x" * 117 + "..."),
    ],
)
def test_in_words(value, words) -> None:
    assert short(value) == words
