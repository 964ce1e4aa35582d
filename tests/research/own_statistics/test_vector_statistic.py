"""Vector statistics of one's own: promises tried, audits, failures that tell nothing."""

import math
import warnings
from itertools import combinations_with_replacement

import numpy as np
import pytest

import modicum as mo
from modicum import audit
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.research.own_statistics.vector_statistic import (
    MeanOfRange,
    answers_of,
    largest_radius,
    measured,
)

WITHIN = (0.0, 4.0)


class Means(mo.Sensitivities):
    """Of two columns."""

    name, labels, columns = "means", ("x", "y"), 2
    factor = 1.0

    def value(self, rows, lo, hi):
        return rows.mean(axis=0) if len(rows) else np.full(2, (lo + hi) / 2)

    def sensitivities(self, rows, lo, hi, levels):
        width = (hi - lo) * (2 if self.norm == 1 else math.sqrt(2)) * self.factor
        return width / np.maximum(len(rows) - np.arange(levels), 1)


class RoundMeans(Means):
    name, norm = "means, L2", 2


class Median(mo.Sensitivities):
    """The lower median of one column: a record, so no rounding."""

    name, labels, rounding = "median", ("median",), 0.0

    def value(self, rows, lo, hi):
        return rows[(len(rows) - 1) // 2] if len(rows) else np.array([lo])

    def sensitivities(self, rows, lo, hi, levels):
        """How far k + 1 changes bring it up and down: two values one step apart are in between."""
        n = len(rows)
        padded = np.concatenate([[lo] * (levels + 2), rows[:, 0], [hi] * (levels + 2)])
        k = np.arange(1, levels + 1)
        low, high = (n - 1 - k) // 2 + levels + 2, (n - 1 + k + 1) // 2 + levels + 2
        return padded[np.minimum(high, len(padded) - 1)] - padded[np.maximum(low, 0)]


class Direction(mo.Sensitivities):
    """The leading direction of two columns, rows shortened to norm 1."""

    name, columns, norm, labels, signless = "direction", 2, 2, ("x", "y"), True
    tolerance, rounding = 1e-6, 1e-9

    def range(self, lo, hi):
        return -1.5, 1.5

    def spectrum(self, rows):
        short = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
        return np.linalg.eigh(short.T @ short)

    def value(self, rows, lo, hi):
        return self.spectrum(rows)[1][:, -1]

    def sensitivities(self, rows, lo, hi, levels):
        values = self.spectrum(rows)[0]
        gaps = np.maximum(values[1] - values[0] - np.arange(levels), 1)
        return 0.5 / (gaps - 1 + math.sqrt(1 / 8))


def asked(statistic, epsilon=8, step=1.0, within=WITHIN):
    return mo.query.vector_statistic(statistic=statistic, within=within, step=step, epsilon=epsilon)


def pairs_of(points, most):
    points = np.array(points, dtype=float)
    for size in range(most):
        for data in combinations_with_replacement(range(len(points)), size):
            for more in range(len(points)):
                yield points[list(data)], points[[*data, more]]


CORNERS = [(0, 0), (4, 1), (1, 4)]


class Coarse(Direction):
    """Three times as long, for a coarse lattice."""

    def range(self, lo, hi):
        return -4.0, 4.0

    def value(self, rows, lo, hi):
        return 3 * super().value(rows, lo, hi)

    def sensitivities(self, rows, lo, hi, levels):
        return 3 * super().sensitivities(rows, lo, hi, levels)


SMALL = [Means(), RoundMeans(), Median(), Coarse()]


@pytest.mark.parametrize("statistic", SMALL, ids=lambda s: s.name)
def test_releases_are_private_on_all_small_data(statistic) -> None:
    points = CORNERS if statistic.columns == 2 else [(0,), (1,), (4,)]
    most = 2 if statistic.norm == 2 else 3
    report = audit.check(asked(statistic, epsilon=16), list(pairs_of(points, most)), widths=(1,))
    assert report.passed
    assert report.steps[0].used > 0.1


@pytest.mark.parametrize("kind", [Means, RoundMeans])
def test_a_broken_promise_is_refused(kind) -> None:
    class Small(kind):
        factor = 0.2

    class Steady(kind):
        def sensitivities(self, rows, lo, hi, levels):
            return np.full(levels, super().sensitivities(rows, lo, hi, 1)[0])

    for statistic in (Small(), Steady()):
        with pytest.raises(InvalidArgument, match="break their promise"):
            asked(statistic)


@pytest.mark.parametrize("columns", [2, 3])
def test_bounds_that_are_too_small_from_four_rows_on_are_refused(columns) -> None:
    class Slender(Means):
        norm = 2
        labels = tuple("xyz"[:columns])

        def value(self, rows, lo, hi):
            return rows.mean(axis=0) if len(rows) else np.full(columns, (lo + hi) / 2)

        def sensitivities(self, rows, lo, hi, levels):  # that of one column
            return (hi - lo) / np.maximum(len(rows) - 1 - np.arange(levels), 0.5)

    Slender.columns = columns
    with pytest.raises(InvalidArgument, match="compare the rows"):
        asked(Slender())


@pytest.mark.parametrize(
    "happens",
    [
        lambda rows: len(rows) == 0,
        lambda rows: len(rows) == 1001,
        lambda rows: len(rows) > 9 and (rows[0] == rows[-1]).all(),
        lambda rows: 9 < len(rows) < 99 and (np.diff(rows[:, 0]) > 0).all(),
        lambda rows: len(rows) > 50 and (rows == 0).any() and (rows == 4).any(),
    ],
)
@pytest.mark.parametrize("method", ["value", "sensitivities"])
def test_a_vector_that_fails_on_some_data_is_refused(happens, method) -> None:
    def fragile(self, rows, *rest):
        if happens(rows):
            raise ZeroDivisionError
        return getattr(Means, method)(self, rows, *rest)

    with pytest.raises(InvalidArgument, match="failed for the rows"):
        asked(type("Fragile", (Means,), {method: fragile})())


def test_the_mean_of_the_registry_keeps_its_promise_and_radii_without_an_index_do_not() -> None:
    """Asi and Duchi 2020 print the radii of a direction alike for every level."""

    class Constant(MeanOfRange):
        def sensitivities(self, rows, lo, hi, levels):
            return super().sensitivities(rows, lo, hi, 1).repeat(levels)

    MeanOfRange().check(-8.0, 8.0)
    with pytest.raises(InvalidArgument, match="break their promise"):
        Constant().check(-8.0, 8.0)


def test_a_promise_broken_beyond_the_tried_data_is_found_by_an_audit() -> None:
    class Sly(Median):
        name = "sly"

        def sensitivities(self, rows, lo, hi, levels):
            found = super().sensitivities(rows, lo, hi, levels)
            return found if rows[:, 0].tolist() != [0, 0, 1, 4] else found * 0

    pairs = [(np.array([[0.0], [0], [1], [4]]), np.array([[0.0], [0], [1], [4], [4]]))]
    assert not audit.check(asked(Sly()), pairs, widths=(1,)).passed
    assert audit.check(asked(Median()), pairs, widths=(1,)).passed


def test_a_sign_by_a_rule_is_not_private() -> None:
    """Nearly upright directions turn around when their first component changes its sign."""

    class Ruled(Coarse):
        signless = False

        def value(self, rows, lo, hi):
            found = super().value(rows, lo, hi)
            return found * (1 if found[0] > 0 else -1)

    within = (-4.0, 4.0)
    with pytest.raises(InvalidArgument, match="break their promise"):
        asked(Ruled(), within=within)
    rows = np.array([[-1.0, 4.0], [-1.0, 4.0], [-1.0, 4.0], [4.0, 4.0]])
    query = asked(Coarse(), epsilon=16, within=within)
    assert audit.check(query, [(rows[:3], rows)], widths=(1,)).passed


def test_a_failure_tells_nothing() -> None:
    """No error, no warning: a draw about the middle, with the widest noise."""

    class Fragile(Means):
        def value(self, rows, lo, hi):
            warnings.warn("rows!", stacklevel=1)
            if len(rows) > 2000:
                raise ZeroDivisionError(rows[0])
            return super().value(rows, lo, hi)

    class Wrong(Means):
        def sensitivities(self, rows, lo, hi, levels):
            found = super().sensitivities(rows, lo, hi, levels)
            return found if len(rows) < 2000 else found * np.nan

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        queries = [asked(statistic, epsilon=1) for statistic in (Fragile(), Wrong())]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for query in queries:
            many, other = np.zeros((2020, 2)), np.full((2030, 2), 4.0)
            draws = [
                mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy("f")).run(query).numbers
                for x in (many, other)
            ]
            assert draws[0] == draws[1]


def released(x, statistic, seed="s"):
    query = asked(statistic, epsilon=1, step=None)
    return mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy(seed)).run(query)


def test_order_does_not_matter_and_missing_rows_are_dropped() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((5000, 2)) * 4
    again = rng.permutation(np.concatenate([x, [[np.nan, 1], [2, np.nan]]]))
    assert released(x, Means()).numbers == released(again, Means()).numbers
    far = x.copy()
    x[:2], far[:2] = [[4, 0], [0, 4]], [[np.inf, -9], [-np.inf, 1e300]]
    assert released(x, Means()).numbers == released(far, Means()).numbers


def test_values_are_near() -> None:
    x = np.random.default_rng(1).random((4000, 2)) * 2
    for kind in (Means, RoundMeans):
        found = [released(x, kind(), seed).values for seed in range(20)]
        error = np.abs(np.array(found) - x.mean(axis=0)).mean()
        assert 0.001 < error < 0.02  # about 2 d/ε radii of 0.002


def test_a_direction() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(0, 0.5, 3000)[:, None] * [0.6, 0.8] + rng.normal(0, 0.1, (3000, 2))
    query = asked(Direction(), epsilon=1, step=None, within=(-9, 9))
    curator = mo.Curator(x, budget=mo.pure(1), entropy=SeededEntropy("d"))
    x, y = curator.run(query).values
    assert np.sign(x) * np.array([x, y]) == pytest.approx((0.6, 0.8), abs=0.02)
    signs = [
        mo.Curator(np.eye(2), budget=mo.pure(1), entropy=SeededEntropy(s)).run(query).numbers[0]
        for s in range(60)
    ]
    assert 15 < sum(x > 0 for x in signs) < 45


def test_radii_keep_their_order_whatever_floats_do() -> None:
    """[radial.3] Relative errors of the tolerance, up for one data set and down for the other."""
    lattice, levels = Lattice.within((0, 1000)), 300

    class Shaken(Means):
        def __init__(self, sign: int) -> None:
            self.sign = sign

        def sensitivities(self, rows, lo, hi, levels):
            exact = super().sensitivities(rows, lo, hi, levels)
            return exact * (1 + self.sign * 2.0**-32)

    answers = answers_of(Means(), lattice)
    for n in (0, 1, 5, 200, 290):
        one, other = (np.zeros((m, 2), dtype=np.int64) for m in (n, n + 1))
        for a, b in ((one, other), (other, one)):
            _, up = measured(Shaken(1), a, lattice, answers, levels)
            _, down = measured(Shaken(-1), b, lattice, answers, levels)
            assert all(r <= s for r, s in zip(up, down[1:], strict=False))


@pytest.mark.parametrize("bound", [-1.7e308, -1.0, 0.0, 1.7e308])
def test_bounds_of_any_size_make_radii(bound) -> None:
    class Odd(Means):
        tolerance = 1e-3

        def sensitivities(self, rows, lo, hi, levels):
            return np.full(levels, bound)

    answers = answers_of(Odd(), Lattice.within((-1e9, 1e9)))
    rows = np.zeros((1, 2), dtype=np.int64)
    _, radii = measured(Odd(), rows, Lattice.within((-1e9, 1e9)), answers, 50_000)
    assert set(radii) == ({largest_radius(Odd(), answers)} if bound > 0 else {min(radii)})
    assert min(radii) > 0


def test_values_are_on_a_lattice_as_fine_as_can_be_or_as_asked_for() -> None:
    statistic = Direction()
    assert answers_of(statistic, Lattice.within((-1e15, 1e15))) == Lattice.within((-1.5, 1.5))
    assert answers_of(statistic, Lattice.within((-8, 8), 0.5)) == Lattice.within((-1.5, 1.5), 0.5)
    assert answers_of(Means(), Lattice.within((0, 8))) == Lattice.within((0, 8))
    with pytest.raises(InvalidArgument, match="step"):
        asked(statistic, step=8.0, within=(-64, 64))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"labels": ()}, "needs name"),
        ({"labels": "xy"}, "needs name"),
        ({"norm": 3}, "norm 1 or 2"),
        ({"columns": 0}, "columns of at least 1"),
        ({"norm": 2, "labels": tuple("abcdefghijklmnopqrstu")}, "up to 20"),
        ({"labels": tuple(map(str, range(65)))}, "up to 64"),
        ({"rounding": -1.0}, "rounding"),
        ({"tolerance": 0.1}, "tolerance"),
        ({"signless": True}, "has no sign"),
        ({"value": lambda *_: 1 / 0}, "failed for the rows"),
        ({"value": lambda *_: np.zeros(3)}, "failed for the rows"),
        ({"sensitivities": lambda *_: np.full(6, np.nan)}, "failed for the rows"),
        ({"range": lambda *_: (1, 1)}, "the range of means"),
    ],
)
def test_what_is_no_statistic(changes, word) -> None:
    with pytest.raises(InvalidArgument, match=word):
        asked(type("Changed", (Means,), changes)())


def test_other_refusals() -> None:
    with pytest.raises(InvalidArgument, match="subclass of modicum"):
        asked(Means)
    with pytest.raises(InvalidArgument, match="of 2 columns, got 1"):
        mo.query.vector_statistic(["x"], statistic=Means(), within=WITHIN, epsilon=1)
    with pytest.raises(InvalidArgument, match="of 2 columns, got 3"):
        mo.vector_statistic(np.zeros((5, 3)), statistic=Means(), within=WITHIN, epsilon=1)
    assert repr(Means()) == "Means('means')"
