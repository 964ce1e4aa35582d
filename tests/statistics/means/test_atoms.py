"""Columns of real tables: 0/1, zeros beside amounts, ties, one value; in tight and wide ranges."""

from dataclasses import replace

import numpy as np
import pytest

from modicum import query as ask
from modicum.releases.status import USABLE
from tests.statistics.order.test_quantile import answers

N = 2000


def column(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng([n, 7])
    if kind.startswith("share "):
        return (np.arange(n) < float(kind[6:]) * n).astype(float)
    made = {
        "one value": lambda: np.full(n, 5.0),
        "two values": lambda: np.where(rng.random(n) < 0.4, 3.0, 17.0),
        "ties": lambda: rng.poisson(3.2, n).astype(float),
        "95 % zeros": lambda: np.where(rng.random(n) < 0.95, 0.0, rng.lognormal(5.5, 0.8, n)),
        "60 % zeros": lambda: np.where(rng.random(n) < 0.6, 0.0, rng.exponential(40, n)),
        "opinions": lambda: rng.choice([1.0, 2, 3, 4, 5], n, p=[0.1, 0.2, 0.3, 0.25, 0.15]),
        "bell": lambda: rng.normal(50, 8, n),
    }
    return made[kind]()


KINDS = [
    "share 0.02",
    "share 0.1",
    "share 0.3",
    "share 0.5",
    "one value",
    "two values",
    "ties",
    "95 % zeros",
    "60 % zeros",
]


TRUTHS = {
    "mean": np.mean,
    "sum": np.sum,
    "std": np.std,
    "max": np.max,
    "min": np.min,
}


@pytest.mark.parametrize("statistic", TRUTHS)
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "0.05"}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.one_in(3)
def test_no_answer_says_ok_and_is_wrong_by_everything(kind, cost, statistic) -> None:
    """The range is tight, or says nothing; a miss of ten half-widths is no matter of chance."""
    for n, times in ((200, 3), (N, 4)):
        data = column(kind, n)
        truth = TRUTHS[statistic](data)
        tight = (0.0, 2.0 ** np.ceil(np.log2(data.max())))
        for within in (tight, (-1e9, 1e9)):
            for found in answers(getattr(ask, statistic)(within=within, **cost), data, times):
                lower, upper = found.error_model.interval(0.95, 3)
                missed = max(lower - truth, truth - upper) > 10 * (upper - lower) / 2
                assert not (missed and found.status.ok), (n, within, found)


@pytest.mark.parametrize("statistic", ["mean", "sum"])
@pytest.mark.parametrize(
    ("kind", "within"),
    [(kind, (0, 1)) for kind in KINDS[:4]] + [("opinions", (1, 5)), ("60 % zeros", (0, 512))],
)
@pytest.mark.parametrize(("n", "most"), [(60, 1.6), (300, 1.6), (N, 1.35)])
@pytest.mark.one_in(4)
def test_a_search_is_hardly_worse_than_known_bounds(n, most, kind, within, statistic) -> None:
    """By the standard deviation of the last noise, and by errors that are no more than noise."""
    data = column(kind, n)
    asked = getattr(ask, statistic)
    truth = TRUTHS[statistic](data)
    (known,) = answers(asked(within=within, epsilon=1, method="bounded"), data, 1)
    unit = known.error_model.noise.variance**0.5 * known.error_model.lattice.step
    unit /= n if statistic == "mean" else 1
    errors = [
        abs(float(found.value) - truth)
        for found in answers(asked(within=within, epsilon=1), data, 60, (kind, n, statistic))
    ]
    # The median of Laplace noise is 0.49 of its standard deviation; 60 releases tell it to a fifth.
    assert np.median(errors) < 0.49 * most * 1.5 * unit


@pytest.mark.parametrize("statistic", ["mean", "sum"])
@pytest.mark.parametrize("share", [0.06, 0.3, 0.5])
def test_a_share_is_found_within_any_range(statistic, share) -> None:
    """From 600 records of the rarer value on, with some times the noise of a known range."""
    n = 12_000
    data = column(f"share {share}", n)
    question = getattr(ask, statistic)(within=(-1e9, 1e9), epsilon=1)
    truth, unit = TRUTHS[statistic](data), n if statistic == "mean" else 1
    found = answers(question, data, 9)
    assert np.median([abs(float(each.value) - truth) * unit for each in found]) < 6
    assert sum(each.status.ok for each in found) > 5


def test_what_the_range_pays_for_says_so() -> None:
    """Forty others are no matter of noise, and too few to be found within ±1e9: zeros are."""
    data = column("share 0.02", 2000)
    for found in answers(ask.mean(within=(-1e9, 1e9), epsilon=1), data, 8):
        assert (found.status.code, float(found.value)) == ("wide_noise", 0.0)
    for found in answers(ask.mean(within=(0, 120), epsilon=1), np.full(30, 40.0), 5):
        assert found.status.code in {"wide_noise", "few_records"}


@pytest.mark.parametrize("statistic", ["mean", "sum"])
def test_others_that_noise_may_explain_cost_no_more_than_known_bounds(statistic) -> None:
    """Twenty ones among a thousand zeros: the answer for them is that of the whole range."""
    data = column("share 0.02", 1000)
    truth, unit = (0.02, 1000) if statistic == "mean" else (20, 1)
    usable = 0
    for found in answers(getattr(ask, statistic)(within=(0, 1), epsilon=1), data, 20):
        lower, upper = found.error_model.interval(0.95, 3)
        assert lower <= float(found.value) <= upper
        assert abs(float(found.value) - truth) * unit < 30
        usable += found.status.code in USABLE
    assert usable > 17


@pytest.mark.parametrize("statistic", ["mean", "sum", "std"])
@pytest.mark.parametrize("within", [(0, 1), (-1, 1), (-1e9, 1e9)])
def test_a_column_of_zeros_is_answered_exactly(within, statistic) -> None:
    """Noise that may explain what was seen is taken to: in the answer, not in its interval.

    A far draw of the noise, below what any data can have, leaves an interval as wide as the noise.
    """
    widths = []
    released = answers(getattr(ask, statistic)(within=within, epsilon=1), np.zeros(N), 60)
    for found in released:
        lower, upper = found.error_model.interval(0.95, 3)
        assert lower <= float(found.value) <= upper
        widths.append(upper - lower)
    assert min(widths) > 0.2 * np.median(widths)
    assert sum(found.value == 0 for found in released[:12]) > 8


@pytest.mark.parametrize("statistic", ["mean", "std"])
def test_an_interval_is_never_shorter_than_the_noise(statistic) -> None:
    """Noise far below what any data can have: the interval was a single point."""
    (found,) = answers(getattr(ask, statistic)(within=(0, 1), epsilon=1), np.zeros(100), 1)
    error_model, ends = found.error_model, []
    for deviations in (0, 9):
        low = -round(deviations * error_model.noise.variance**0.5)
        drawn = {"left": low} if statistic == "mean" else {"sums": (low, error_model.sums[1])}
        ends.append(replace(error_model, **drawn).interval(0.95, 3).upper)
    assert ends[1] == ends[0] > 0


def test_a_column_of_one_value_is_answered_by_it() -> None:
    for found in answers(ask.mean(within=(-1e9, 1e9), epsilon=1), np.full(N, 5.0), 9):
        lower, upper = found.error_model.interval(0.95, 3)
        assert lower <= 5 <= upper
        assert upper - lower < 0.01


@pytest.mark.parametrize("statistic", ["mean", "sum", "std"])
def test_a_good_part_of_the_data_that_could_be_far_away_unseen_is_said(statistic) -> None:
    """Two clusters, 1 and 1e6: what is missed for good is not called ok."""
    data = np.where(np.arange(1000) < 910, 1.0, 1e6) + np.random.default_rng(4).normal(0, 0.1, 1000)
    truth = TRUTHS[statistic](data)
    codes, wrong = [], 0
    for found in answers(getattr(ask, statistic)(within=(-1e9, 1e9), epsilon=1), data, 12):
        lower, upper = found.error_model.interval(0.95, 3)
        codes.append(found.status.code)
        wrong += found.status.ok and not lower <= truth <= upper
    assert wrong <= 1  # of sums four in 300, whose noise hides a group of ninety
    assert {"unseen", "heavy_tail"} & set(codes)


@pytest.mark.parametrize("statistic", ["mean", "sum"])
def test_data_that_fill_the_range_are_not_searched(statistic) -> None:
    """Opinions from 1 to 5 and percentages: bounds would cost more than they save."""
    rng = np.random.default_rng(6)
    for data, within in ((column("opinions", 1000), (1, 5)), (100 * rng.random(1000), (0, 100))):
        (known,) = answers(
            getattr(ask, statistic)(within=within, epsilon=1, method="bounded"), data, 1
        )
        most = known.error_model.noise.variance
        found = answers(getattr(ask, statistic)(within=within, epsilon=1), data, 20)
        assert np.median([each.error_model.noise.variance for each in found]) < 1.3**2 * most


def test_a_second_group_far_away_is_told() -> None:
    """Seven hundred records, beside ten thousand with a spread of their own."""
    rng = np.random.default_rng(3)
    data = np.concatenate([rng.normal(0, 1e-3, 30_000), np.full(700, 1e6)])
    for found in answers(ask.mean(within=(-1e9, 1e9), epsilon=1), data, 4):
        lower, upper = found.error_model.interval(0.95, 3)
        assert lower <= data.mean() <= upper
        assert not found.status.ok or abs(float(found.value) - data.mean()) < 1e6 / 3000


@pytest.mark.parametrize("kind", ["bell", "opinions"])
def test_columns_without_an_atom_are_looked_up_as_ever(kind) -> None:
    found = answers(ask.mean(within=(-1e9, 1e9), epsilon=1), column(kind, 20_000), 6)
    assert sum(each.status.ok for each in found) > 4
    assert max(abs(float(each.value) - column(kind, 20_000).mean()) for each in found) < 0.02


@pytest.mark.one_in(3)
@pytest.mark.parametrize("within", [(-1e9, 1e9), (-1e20, 1e20), (0, 2.0**80)])
@pytest.mark.parametrize("scale", [1e-12, 1e-8, 1e-3, 10, 1e4])
def test_values_that_the_step_hides_are_found_in_a_part_of_the_range(scale, within) -> None:
    """Of ±1e9 a step is 2^-21; most values are less than eight, and none is 0."""
    x = np.random.default_rng(4).lognormal(0, 0.5, N) * scale
    for question, truth in ((ask.mean, x.mean()), (ask.sum, x.sum())):
        found = answers(question(within=within, epsilon=1), x, 6)
        near = [abs(float(each.value) - truth) < 0.1 * truth for each in found]
        assert sum(near) >= 4  # an atom is missed once in 50
        assert all(here or not each.status.ok for here, each in zip(near, found, strict=True))


def test_a_spread_that_the_step_hides_is_found_in_a_finer_range() -> None:
    x = np.random.default_rng(5).normal(0, 1e-9, N)
    for each in answers(ask.std(within=(-1e9, 1e9), epsilon=1), x, 4):
        assert float(each.value) == pytest.approx(x.std(), rel=0.2)
        assert each.status.code in {"ok", "heavy_tail", "unseen"}


@pytest.mark.parametrize("ones", [0, 10])
def test_zeros_in_a_wide_range_are_not_ok_and_shares_are(ones) -> None:
    """An interval about the range says so; 0 to 1 is as wide as truth values are."""
    x = (np.arange(N) < ones) * 1.0
    for question in (ask.mean, ask.sum, ask.std):
        found = answers(question(within=(-1e9, 1e9), epsilon=1), x, 4)
        assert not any(each.status.ok for each in found)
    found = answers(ask.mean(within=(0, 1), epsilon=1), x, 4)
    assert all(each.status.ok for each in found)
