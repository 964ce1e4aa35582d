"""What every law of the package keeps: found by introspection, checked by an example of each."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from modicum import audit, mechanisms
from modicum.audit import goodness
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.base import Mechanism
from modicum.mechanisms.exponential import Exponential, ScoreFunction
from modicum.privacy.event import PureDP
from tests.mechanisms.examples import EXAMPLES, WRITTEN

ONE = Fraction(1)
DATA = np.array([-3, 1, 8])
OTHER = np.array([-8, -3, 1, 1, 7])
every_example = pytest.mark.parametrize("name", EXAMPLES)


def concrete(kind: type) -> Iterator[type]:
    """Classes of the package below this one."""
    for below in kind.__subclasses__():
        inside = below.__module__.startswith("modicum.mechanisms.")
        # The dataclass with slots has taken the place of a class without.
        if inside and getattr(inspect.getmodule(below), below.__name__) is below:
            yield from () if inspect.isabstract(below) else (below,)
        yield from concrete(below)


def law_of(name: str, data: np.ndarray = DATA) -> Mechanism:
    return EXAMPLES[name](data, ONE)


def test_every_law_and_every_score_has_an_example() -> None:
    for module in pkgutil.iter_modules(mechanisms.__path__):
        importlib.import_module(f"modicum.mechanisms.{module.name}")
    shown = [law_of(name) for name in EXAMPLES]
    scores = [mechanism.score for mechanism in shown if isinstance(mechanism, Exponential)]
    assert set(concrete(Mechanism)) == {type(mechanism) for mechanism in shown}
    assert set(concrete(ScoreFunction)) == {type(score) for score in scores}
    assert WRITTEN.keys() == {mechanism.name for mechanism in shown}


@every_example
def test_transcripts_call_laws_and_parameters_what_they_did(name) -> None:
    mechanism = law_of(name)
    assert list(mechanism.public()) == WRITTEN[mechanism.name].split()
    if isinstance(mechanism, Exponential):
        charged = replace(mechanism, stated=PureDP(ONE))
        names = list(charged.public())
        assert charged.event == PureDP(ONE)
        assert names.index("stated") == names.index("epsilon") + 1


@every_example
def test_nothing_that_is_shown_depends_on_data(name) -> None:
    mechanism, other = law_of(name), law_of(name, OTHER)
    hidden = {f.name for f in fields(mechanism) if f.metadata.get("secret", False)}
    assert hidden
    assert not hidden & mechanism.public().keys()
    assert repr(mechanism) == repr(other)
    assert {k: repr(v) for k, v in mechanism.public().items()} == {
        k: repr(v) for k, v in other.public().items()
    }
    assert (mechanism.event, mechanism.name, mechanism.dimension) == (
        other.event,
        other.name,
        other.dimension,
    )


@every_example
def test_probabilities_add_up_to_one(name) -> None:
    mechanism = law_of(name)
    for part in mechanism.factors() or (mechanism,):
        listed = part.support([part, part])
        mass = np.exp(part.log_densities(listed.outcomes)) @ listed.sizes
        assert mass == pytest.approx(1, abs=1e-12)
        cells, masses = part.cells()
        assert len(cells.outcomes) == len(masses)
        assert masses.sum() == pytest.approx(1, abs=1e-12)


@every_example
def test_many_log_densities_are_those_of_the_law(name) -> None:
    mechanism = law_of(name)
    outcomes = list(mechanism.probes())[:40]
    assert mechanism.log_densities(outcomes) == pytest.approx(
        [mechanism.log_density(outcome) for outcome in outcomes], rel=1e-12
    )


@every_example
def test_factors_multiply_to_the_law(name) -> None:
    mechanism = law_of(name)
    parts = mechanism.factors()
    for outcome in list(mechanism.probes())[:40] if parts else ():
        apart = [part.log_density((x,)) for part, x in zip(parts, outcome, strict=True)]
        assert mechanism.log_density(outcome) == pytest.approx(sum(apart), rel=1e-12)


@every_example
def test_probes_are_possible_and_among_what_tells(name) -> None:
    mechanism = law_of(name)
    for part in mechanism.factors() or (mechanism,):
        probes = list(part.probes())
        assert np.isfinite(part.log_densities(probes)).any()
        assert set(probes) <= set(part.telling([part])) or part.dimension


@every_example
def test_samplers_follow_the_law(name) -> None:
    mechanism, entropy = law_of(name), SeededEntropy(f"contract {name}")
    assert audit.fit(mechanism, 1000, entropy) > 1e-3
    if type(mechanism).sample_many.__func__ is not Mechanism.sample_many.__func__:
        many = type(mechanism).sample_many([mechanism] * 1000, entropy)
        assert goodness._p_value(mechanism, many) > 1e-3
