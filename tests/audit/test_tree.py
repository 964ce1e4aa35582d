"""The search over the outcome tree against enumeration by plain replays."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.audit.trail import Remembered
from modicum.errors import InvalidArgument
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import gaussian, laplace
from modicum.privacy.budget import pure, zcdp
from modicum.privacy.event import Event, PureDP, event_of
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import OK
from modicum.runtime.query import Query
from modicum.runtime.replay import replay
from modicum.runtime.steps import Steps, draw, read
from modicum.summaries.base import Read
from modicum.summaries.sums import Count

LATTICE = Lattice(-4.0, 4.0, 1.0)


def densities(query: Query[Release], data: tuple[float, ...], outcomes: list[object]) -> float:
    return replay(query, event_of(query.budget), Remembered(data), outcomes).log_density


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "request_",
    [
        ask.mean(within=(-8, 8), step=1, epsilon=1),
        ask.mean(within=(-8, 8), step=1, epsilon=1, clusters="keep"),
        ask.mean(within=(-8, 8), step=1, epsilon=1, method="subset"),
        ask.sum(within=(-8, 8), step=1, epsilon=3),
        ask.quantile(q=0.3, within=(-8, 8), step=1, epsilon=1, level=None),
        ask.count(epsilon=1),
    ],
)
def test_the_worst_loss_is_that_of_two_replays(request_: Query[Release]) -> None:
    report = audit.check(request_, audit.neighbours((-8, 2), 2))
    outcomes = [outcome for _, outcome in report.where.draws]
    joint = [
        densities(request_, data, outcomes) for data in (report.where.data, report.where.neighbour)
    ]
    assert report.worst == pytest.approx(abs(joint[0] - joint[1]), rel=1e-6)


@pytest.mark.slow
def test_no_branch_of_a_small_tree_is_worse() -> None:
    """All outcomes of the thresholds and all corners of the last law, by brute force."""
    query = ask.mean(within=(-2, 2), step=1, epsilon=64, method="subset")
    pairs = audit.neighbours((-2, 1, 2), 2)
    report = audit.check(query, pairs, widths=(5, 5, 1))
    worst = 0.0
    for data, neighbour in pairs:
        for low, high in product(range(-2, 3), range(-2, 3)):
            for last in product((-200, 200), repeat=2):
                outcomes = [low, high, last]
                joint = [densities(query, d, outcomes) for d in (data, neighbour)]
                worst = max(worst, abs(joint[0] - joint[1]))
    assert report.worst == pytest.approx(worst, rel=1e-9)


def two_draws(event: Event) -> Steps[ScalarEstimate]:
    """The second draw is free unless the first was large: a branch that must be walked."""
    counted = yield from read(Read(None, None, Count()))
    (n,) = yield from draw("count", laplace([counted.count], l1=1, epsilon=Fraction(1, 2)))
    scale = 1 if n >= 5000 else 100
    mechanism = laplace([scale * counted.count], l1=100, epsilon=Fraction(1, 2))
    yield from draw("second", mechanism)
    return ScalarEstimate(Fraction(n), None, OK)


def understated(event: Event) -> Steps[ScalarEstimate]:
    counted = yield from read(Read(None, None, Count()))
    (n,) = yield from draw("count", laplace([counted.count], l1=1, epsilon=Fraction(1, 2)))
    mechanism = laplace([200 * counted.count if n > 10**8 else 0], l1=100, epsilon=Fraction(1, 2))
    yield from draw("second", mechanism)
    return ScalarEstimate(Fraction(n), None, OK)


def overdrawn(event: Event) -> Steps[ScalarEstimate]:
    counted = yield from read(Read(None, None, Count()))
    for label in ("one", "two"):
        mechanism = gaussian([counted.count], l2=10, rho=event.rho * Fraction(3, 4))
        yield from draw(label, mechanism)
    return ScalarEstimate(Fraction(0), None, OK)


def test_forced_counts_reach_the_branches_for_large_data() -> None:
    good = audit.check(Query("test", "two draws", None, None, pure(1), two_draws))
    assert good.passed
    assert good.used == pytest.approx(1)
    bad = audit.check(Query("test", "understated", None, None, pure(1), understated))
    # At a count of 1e9 the log densities, near 1e9, leave a margin of about 1e-4.
    assert bad.worst == pytest.approx(1.5, abs=1e-3)
    assert dict(bad.where.draws)["count"] == (10**9,)
    missed = audit.check(Query("test", "understated", None, None, pure(1), understated), values={})
    assert missed.passed


def test_draws_that_cost_more_than_the_claim_fail() -> None:
    report = audit.check(Query("test", "overdrawn", None, None, zcdp(1), overdrawn))
    assert report.drawn == Fraction(3, 2)
    assert report.worst < 0.1
    assert not report.passed


def test_steps_tell_their_own_claims() -> None:
    query = ask.sum(within=(-8, 8), step=1, epsilon=1, method="bounded")
    report = audit.check(query, audit.neighbours((-8, 3), 2))
    labels = [step.label for step in report.steps]
    assert labels == ["count", "clipped sum"]
    assert report.steps[0].event == PureDP(Fraction(1, 50))
    assert all(step.used == pytest.approx(1) for step in report.steps)
    assert report.drawn == 1
    assert "clipped sum: 0.98" in str(report)


def test_tables_can_be_audited() -> None:
    query = ask.count(epsilon=1)
    assert audit.joint_loss(query, np.zeros(100), np.zeros(101)).used == pytest.approx(1)
    two = audit.joint_loss(query, np.zeros(100), np.zeros(102))
    assert two.used == pytest.approx(2)
    assert not two.passed


@pytest.mark.parametrize("arguments", [{"pairs": ()}, {"widths": ()}])
def test_bad_arguments(arguments) -> None:
    with pytest.raises(InvalidArgument, match="at least one pair"):
        audit.check(ask.count(epsilon=1), **arguments)


def test_an_unlisted_law_without_all_its_probes_is_refused() -> None:
    mechanism = laplace([1, 2], l1=1, epsilon=Fraction(1))
    with pytest.raises(InvalidArgument, match="by its factors"):
        mechanism.support([mechanism])
