"""Moments of rows of two columns keep their claim; forms that are not private do not."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from modicum import audit
from modicum import query as ask
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import laplace
from modicum.mechanisms.grids import IntervalGrid
from modicum.privacy.budget import pure
from modicum.privacy.event import Event
from modicum.releases.release import Release, ScalarEstimate
from modicum.releases.status import OK
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.vectors.standardised import standardised_columns
from modicum.summaries import second_moments
from modicum.summaries.base import Columns, Read
from modicum.summaries.cells import SpreadCounts, cell_numbers
from modicum.summaries.second_moments import ONE, RowNorm, Scaling, SecondMoments, Weights

NARROW = {"within": (-8, 8), "step": 1}
LATTICE = Lattice(-8.0, 8.0, 1.0)
POINTS = [(-8.0, 8.0), (8.0, 8.0), (0.0, -5.0), (3.0, 1.0)]
WIDTHS = (1, 1, 1, 1, 2, 1)
NONE = IntervalGrid.of(LATTICE).size
FAR = "rows far from the interval of each column"


def pairs(most: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All multisets of up to so many rows, each with one row more."""
    tables: dict[tuple, np.ndarray] = {}
    found = []
    for n in range(most):
        for rows in combinations_with_replacement(POINTS, n):
            for row in POINTS:
                for each in (rows, (*rows, row)):
                    key = tuple(sorted(each))
                    tables.setdefault(key, np.array(key).reshape(-1, 2))
                found.append((tables[tuple(sorted(rows))], tables[tuple(sorted((*rows, row)))]))
    return found


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(ask.linear_regression(**NARROW, epsilon=1), marks=pytest.mark.slow),
        ask.linear_regression(**NARROW, rho="0.5"),
        ask.pca(components=2, **NARROW, epsilon=1),
        pytest.param(ask.covariance(**NARROW, rho="0.5"), marks=pytest.mark.slow),
    ],
    ids=lambda r: f"{r.statistic}-{r.budget.kind}",
)
def test_two_columns_keep_their_claim(request_) -> None:
    values = {"count": ((0,), (150,), (10**6,)), "interval of column 0": (1023 - 256,)}
    report = audit.check(request_, pairs(2)[::2], values=values, widths=WIDTHS)
    assert report.passed, report
    assert report.drawn == report.claimed
    intervals = [step for step in report.steps if step.label.startswith("interval")]
    assert all(step.used > 0.99 for step in intervals)
    assert report.steps[-1].used > 0.5


@pytest.mark.parametrize(
    "request_",
    [ask.linear_regression(**NARROW, epsilon=1), ask.covariance(**NARROW, rho="0.5")],
    ids=lambda r: f"{r.statistic}-{r.budget.kind}",
)
@pytest.mark.parametrize("count", [150, 10**6])
@pytest.mark.parametrize(
    "values",
    [
        {"interval of column 0": (NONE,)},
        {"interval of column 1": (NONE,)},
        {"interval of column 0": (1,), "interval of column 1": (1,), FAR: ((1 << 50, 0),)},
        {"interval of column 0": (1,), "interval of column 1": (1,), FAR: ((0, 1 << 50),)},
    ],
    ids=["first missed", "last missed", "first far", "last far"],
)
@pytest.mark.one_in(4)
def test_columns_that_are_left_out_keep_the_claim(request_, count, values) -> None:
    """With no interval, or with one that misses the rows: by lists of fits, and by products."""
    forced = {"count": ((count,),), **values}
    report = audit.check(request_, pairs(2)[::3], values=forced, widths=(0, 1, 1, 1, 1, 1))
    assert report.passed, report
    assert report.drawn == report.claimed


def test_a_far_row_counts_once_for_all_columns(monkeypatch) -> None:
    asked = ask.covariance(**NARROW, epsilon=1)
    far = [(np.empty((0, 2)), np.array([[-8.0, -8.0]]))]
    values = {f"interval of column {place}": (510,) for place in (0, 1)}  # the last at 255
    assert audit.check(asked, far, values=values, widths=(1, 0, 0, 1)).passed
    monkeypatch.setattr(second_moments, "WHOLE", second_moments.WHOLE * 2)
    report = audit.check(asked, far, values=values, widths=(1, 0, 0, 1))
    assert not report.passed
    (wrong,) = [step for step in report.steps if step.used > 1.01]
    assert wrong.label == FAR
    assert wrong.used == pytest.approx(2, abs=0.1)


SCALING = Scaling((0, 0), (3, 3))
ROW_NORM = RowNorm("l1", Weights(count=1, mean=1, square=1, product=1))


def one_release(bound: int, reduction: object, scaling_of=None) -> Query[Release]:
    """Products of rows with noise for a bound on their size."""

    def begin(event: Event) -> Steps[ScalarEstimate]:
        asked = reduction
        if scaling_of is not None:
            spread = yield from read(Read(None, LATTICE, SpreadCounts(), Columns()))
            asked = SecondMoments(scaling_of(spread), ROW_NORM, bound)
        sums = yield from read(Read(None, LATTICE, asked, Columns()))
        weights = (1,) * len(sums.totals)
        mechanism = laplace(sums.totals, l1=bound, epsilon=Fraction(1), weights=weights)
        yield from draw("products", mechanism)
        return ScalarEstimate(Fraction(0), None, OK)

    return Query("test", "products", Columns(), LATTICE, pure(1), begin)


def test_products_use_all_of_a_cost() -> None:
    bound = ROW_NORM.typical(3) // 16
    report = audit.check(
        one_release(bound, SecondMoments(SCALING, ROW_NORM, bound)), pairs(2), widths=(1,)
    )
    assert report.passed, report
    assert report.used > 0.99


def test_rounding_to_nearest_exceeds_the_bound(monkeypatch) -> None:
    """Shrunk rows whose components are rounded to the nearest integer, as if norms allowed it."""

    def nearest(self, vectors, bound):
        sizes = np.asarray(self.sizes(vectors), dtype=np.float64)
        factors = np.sqrt(np.minimum(bound / sizes, 1.0))
        return np.rint(vectors * factors[:, None]).astype(np.int64)

    bound = 15  # the largest row shrinks to components of 1.58 units: rounding matters most
    asked = one_release(bound, SecondMoments(SCALING, ROW_NORM, bound))
    assert audit.check(asked, pairs(1), widths=(1,)).passed
    monkeypatch.setattr(RowNorm, "clipped", nearest)
    report = audit.check(asked, pairs(1), widths=(1,))
    assert not report.passed
    assert report.worst > 1.5


def test_squares_of_every_column_at_the_cost_of_one(monkeypatch) -> None:
    """A row that is cut off in two columns adds to both: its sum is what is bounded."""
    asked = ask.covariance(**NARROW, epsilon=1)
    far = [(np.empty((0, 2)), np.array([[-8.0, -8.0]]))]
    about_16 = (257,)
    values = {f"interval of column {place}": about_16 for place in (0, 1)}
    assert audit.check(asked, far, values=values, widths=WIDTHS).passed
    literal = Scaling.cut_off

    def each(self, q):
        parts = [literal(each, q[:, [k]]) for k, each in enumerate(_columns(self))]
        return literal(self, q)[0], np.concatenate([squares for _, squares in parts])

    monkeypatch.setattr(Scaling, "cut_off", each)
    report = audit.check(asked, far, values=values, widths=WIDTHS)
    assert not report.passed
    (wrong,) = [step for step in report.steps if step.used > 1.01]
    assert wrong.label == "squares cut off"
    assert wrong.used == pytest.approx(2, abs=0.1)


def _columns(scaling: Scaling) -> list[Scaling]:
    pairs = zip(scaling.centres, scaling.shifts, strict=True)
    return [Scaling((centre,), (shift,)) for centre, shift in pairs]


def test_scales_taken_from_the_data_are_not_private() -> None:
    """Clipping bounds read off the rows, without a draw, as printed gradient bounds often are."""

    def scaling_of(spread) -> Scaling:
        upper, lower = (spread.below(0, cell_numbers(np.array([end]))) for end in (5, -4))
        inner = upper - lower
        shift = 2 if inner == spread.count else 3
        return Scaling((0, 0), (shift, shift))

    report = audit.check(one_release(ROW_NORM.typical(3), None, scaling_of), pairs(3), widths=(1,))
    assert not report.passed


def test_a_change_of_a_row_costs_twice() -> None:
    """The constant of the paper's mechanisms is that of adding or removing a row."""
    row_norm = RowNorm("l1", Weights(count=1, mean=100, square=1, product=1))
    bound = row_norm.typical(3)

    def begin(event: Event) -> Steps[ScalarEstimate]:
        asked = SecondMoments(SCALING, row_norm, bound)
        sums = yield from read(Read(None, LATTICE, asked, Columns()))
        weights = tuple(row_norm.weights.matrix(3)[np.triu_indices(3)].tolist())
        mechanism = laplace(sums.totals, l1=bound, epsilon=Fraction(1), weights=weights)
        yield from draw("products", mechanism)
        return ScalarEstimate(Fraction(0), None, OK)

    asked = Query("test", "products", Columns(), LATTICE, pure(1), begin)
    changed = (np.array([[8.0, 8.0]]), np.array([[-8.0, -8.0]]))
    report = audit.joint_loss(asked, *changed, widths=(1,))
    assert 1.9 < report.worst <= 2.0
    assert audit.check(asked, pairs(1), widths=(1,)).passed


def test_the_true_number_of_rows_in_a_schedule_leaks() -> None:
    """The target of the size must follow from the noisy count."""

    def begin(event: Event) -> Steps[ScalarEstimate]:
        count = yield from read(Read(None, LATTICE, SpreadCounts(), Columns()))
        steps = standardised_columns(Columns(), LATTICE, event, goal=False)
        sent = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration:
                return ScalarEstimate(Fraction(count.count), None, OK)
            sent = yield step

    asked = Query("test", "count", Columns(), LATTICE, pure(1), begin)
    report = audit.check(asked, pairs(1), widths=WIDTHS)
    assert report.leak is not None


def test_a_row_is_at_most_the_constant_and_two_half_widths() -> None:
    q = np.array([[-8, 8], [8, 8], [0, -5]])
    assert np.abs(SCALING.rows(q)).max() <= 2 * ONE
