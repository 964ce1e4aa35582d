"""Every law keeps its claim on all small neighbours, uses it, and breaks a smaller one."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from modicum import audit
from modicum.mechanisms.additive import Additive
from modicum.mechanisms.base import Mechanism, log_ratio
from modicum.mechanisms.staircase import staircase
from modicum.privacy.budget import Budget, pure, zcdp
from tests.audit.cases import LATTICE, LAWS
from tests.audit.literal import Understated, one_draw

PAIRS = audit.neighbours((-8, 1, 8), 3)
NEIGHBOURS = [(np.array(a, dtype=int), np.array(b, dtype=int)) for a, b in PAIRS]
# What a law uses of its claim on these few records, if it is not all.
USED = {
    "quantile with a shift": 0.749999,
    "quantile with a prior": 0.83,
    "ranks": 0.8,
    "subsampled ranks": 0.1,
    "subsampled windows": 0.62,
    "subsampled centre": 0.3,
}
SUBSAMPLED = {"subsampled ranks", "subsampled centre", "subsampled windows"}  # used by less


def cost(name: str) -> Budget:
    return zcdp("0.5") if name == "gaussian" else pure(1)


@pytest.mark.parametrize("name", LAWS)
def test_a_law_keeps_its_claim_and_uses_all_of_it(name: str) -> None:
    query = one_draw(lambda q: LAWS[name](q, Fraction(1)), LATTICE, cost(name))
    report = audit.check(query, PAIRS, widths=(1,))
    assert report.passed, report
    assert report.steps[0].used > USED.get(name, 1 - 1e-6)


@pytest.mark.parametrize("name", sorted(LAWS.keys() - SUBSAMPLED))
def test_noise_30_percent_too_small_breaks_the_claim(name: str) -> None:
    def mechanism(q: np.ndarray) -> Mechanism:
        louder, stated = LAWS[name](q, Fraction(10, 7)), LAWS[name](q, Fraction(1)).event
        if isinstance(louder, Additive):
            return replace(louder, stated=stated)
        return Understated(louder, stated)

    report = audit.check(one_draw(mechanism, LATTICE, cost(name)), PAIRS, widths=(1,))
    assert report.leak is None
    assert not report.passed
    # ε and the range grow as the scale shrinks, ρ as its square does.
    expected = 100 / 49 if name == "gaussian" else 10 / 7
    assert report.steps[0].used > USED.get(name, 1 - 1e-6) * expected


def small(name: str, q: np.ndarray) -> Mechanism:
    """The law with so little noise that its outcomes can be listed quickly."""
    if name == "staircase of a pair":
        return staircase((len(q), int((q > 0).sum())), l1=2, epsilon=Fraction(4))
    return LAWS[name](q, Fraction(4))


@pytest.mark.parametrize("name", sorted(LAWS.keys() - {"gaussian", "subsampled count"}))
def test_the_probes_of_two_laws_attain_their_largest_log_ratio(name: str) -> None:
    for data, neighbour in NEIGHBOURS[::4]:
        mechanisms = [small(name, q) for q in (data, neighbour)]
        parts = [mechanism.factors() or (mechanism,) for mechanism in mechanisms]
        for pair in zip(*parts, strict=True):
            on_probes, on_all = (
                log_ratio(*(mechanism.log_densities(outcomes) for mechanism in pair))
                for outcomes in (pair[0].telling(pair), pair[0].support(pair).outcomes)
            )
            assert on_probes.max() == pytest.approx(on_all.max(), abs=1e-12)
            assert on_probes.min() == pytest.approx(on_all.min(), abs=1e-12)
