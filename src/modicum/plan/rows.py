"""What is planned: one row a statistic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from inspect import Parameter
from types import MappingProxyType
from typing import Any

import numpy as np

from modicum.errors import InvalidArgument
from modicum.plan.column import SyntheticTable
from modicum.plan.columns import explained_loss, mean_distance, mean_entry, variance_lack
from modicum.plan.guess import COLUMN, MOMENTS, NOTHING, REGRESSION, VECTORS, Guess
from modicum.plan.trial import (
    Number,
    Released,
    against,
    against_each,
    level_error,
    middle,
    of_counts,
    rank_error,
)
from modicum.statistics.monotone_statistic import Boundaries, Score, huber_score, power_score

__all__ = ["ROWS", "PlanRow"]

_HALVINGS = 64


@dataclass(frozen=True, slots=True)
class PlanRow:
    """What the plan of a statistic has of its own.

    Attributes
    ----------
    noun : str
        What is planned.
    example : str
        A doctest.
    error : callable
        Expected error of a synthetic release: of a :class:`~modicum.plan.trial.Released`, or of
        :class:`~modicum.plan.columns.ReleasedRows`.
    guess : Guess
    n : object
        Default of ``n``: ``None`` if it may be found, ``Parameter.empty`` if it may not.
    shown : mapping
        Fields of the plan, and which option of the question each of them shows.
    sampled : bool
        Whether the plan compares with the error that the data have as a sample.
    meaning : str or None
        What the error is, if it is not an absolute one in the unit of the answer.
    note : str
        For the documentation.
    without : tuple of str
        Arguments of the question that plans do not take.
    """

    noun: str
    example: str
    error: Callable[[Any], float]
    guess: Guess = COLUMN
    n: object = None
    shown: Mapping[str, str] = field(default_factory=dict)
    sampled: bool = False
    meaning: str | None = None
    note: str = ""
    without: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """The documentation, up to what is given and what is found."""
        sought = "the ε or the number of rows" if self.n is None else "the ε"
        parts = [f"Plan {self.noun}: the error, or {sought} that an error needs.", self.note]
        if self.meaning is not None:
            parts.append(f"The error is {self.meaning}.")
        if self.n is Parameter.empty:
            parts.append("More rows do not make it smaller.")
        return "\n\n".join(part for part in (*parts, self.guess.note) if part)


def _between(run: Released) -> Number:
    """Distance of the quantiles, of the records that the release has seen around them."""
    low, high = (middle(each.values, each.below, each.q * each.count) for each in run.windows)
    return (high - low) * run.step


def _quantiles(run: Released) -> list[Fraction]:
    """Middles of the lowest and the highest q-quantiles, of records that are evenly spread."""
    found, rows = [], run.table.rows
    for q in run.options.qs:
        start, stop = math.ceil(q * rows) - 1, min(math.floor(q * rows) + 1, rows)
        records = run.table.at(max(start, 0), stop, None)
        found.append(Fraction(int(records[0]) + int(records[-1]), 2) * run.step)
    return found


def _cuts(run: Released) -> list[int]:
    """The public cuts as integers."""
    return [int(q) for q in run.lattice.quantise(np.array(run.options.cuts))]


def _in_bins(run: Released) -> list[int] | None:
    """Records of each bin; ``None`` if the release chose the bins."""
    if not hasattr(run.options, "cuts"):
        return None
    *cuts, last = _cuts(run)
    return list(run.table.counts((*cuts, last + 1))[1:-1])


def _shares(run: Released) -> list[Fraction]:
    """Shares of the records up to each point."""
    upto = np.cumsum(run.table.counts([cut + 1 for cut in _cuts(run)]))
    return [Fraction(int(count), int(upto[-1])) for count in upto[:-1]]


def _location(run: Released) -> Number:
    """Where a score's sum over the table is 0, or the middle of level 0 of boundaries.

    Huber's location without a width is that with the width that was released.
    """
    by_squares = run.asked.statistic == "mean"
    statistic = power_score(2.0) if by_squares else run.options.statistic
    if statistic is None:
        statistic = huber_score(run.answer.error_model.width)
    if isinstance(statistic, Score):
        return _crossing(statistic, run.table, run.step)
    return _middle_of(statistic, run)


def _power_error(run: Released) -> float:
    """Error of a location by powers: one by first powers is a median, one by second ones a mean."""
    return (rank_error if run.asked.statistic == "median" else against(_location))(run)


def _crossing(score: Score, table: SyntheticTable, step: Fraction) -> Fraction:
    x = table.q.astype(np.float64) * float(step)
    lo, hi = float(x[0]), float(x[-1])
    for _ in range(_HALVINGS):
        centre = (lo + hi) / 2
        above = float(score.psi(x - centre) @ table.weights) > 0
        lo, hi = (centre, hi) if above else (lo, centre)
    return Fraction((lo + hi) / 2)


def _middle_of(statistic: Boundaries, run: Released) -> Fraction:
    table, lattice = run.table, run.lattice
    places, inverse = np.unique(table.q, return_inverse=True)
    counts = np.zeros(len(places), dtype=np.int64)
    np.add.at(counts, inverse, table.weights)
    there, values = counts > 0, np.asarray(places * float(run.step), dtype=np.float64)
    try:
        lows, highs = statistic.ends(values[there], counts[there], lattice.lo, lattice.hi, 1)
        return (Fraction(float(lows[0])) + Fraction(float(highs[0]))) / 2
    except Exception as error:
        raise InvalidArgument(
            f"{statistic.name} failed on {table.rows:,} synthetic records: {error}"
        ) from error


def _example(call: str, low: str, high: str) -> str:
    return f">>> found = {call}\n>>> {low} < found.error < {high}\nTrue"


_LARGE = "within=(-1e9, 1e9), sd=5e4, n=20_000, epsilon=1"
_SMALL = "within=(-1e9, 1e9), sd=5e4, n=2_000, epsilon=1"
_VECTOR = "the L2 distance of all means together, in the unit of the data"
_LARGEST = "The largest records decide, so the shape matters more than for a mean."

ROWS: Mapping[str, PlanRow] = MappingProxyType(
    {
        "cdf": PlanRow(
            "a distribution function",
            _example("cdf(points=[5, 10, 20], sd=10, n=20_000, epsilon=1)", "0", "0.001"),
            against_each(_shares),
            shown={"cuts": "cuts"},
        ),
        "clipped_mean_vector": PlanRow(
            "the means of several columns, clipped about 0",
            """>>> guess = dict(within=(-1e9, 1e9), sd=[1.0] * 4, n=2000, rho="0.5")
>>> clipped_mean_vector(**guess).error < clipped_mean_vector(**guess, mean=100).error
True""",
            mean_distance,
            VECTORS,
            meaning=_VECTOR,
            note="The noise grows with the distance of the rows from 0, so with ``mean``.",
        ),
        "count": PlanRow(
            "a count",
            """>>> round(count(epsilon="0.1").error)
10
>>> 0.09 < count(error=10).epsilon < 0.11
True""",
            against(lambda run: run.table.rows),
            NOTHING,
            n=10_000,
            note="``n`` matters only if it is as small as the noise: a count is never negative.",
        ),
        "covariance": PlanRow(
            "a covariance matrix",
            _example(
                "covariance(within=(-1e6, 1e6), sd=[1.0, 50.0], n=20_000, epsilon=1)", "0", "0.1"
            ),
            mean_entry,
            MOMENTS,
            meaning="the mean error of an entry, in standard deviations of its two columns",
        ),
        "expectile": PlanRow(
            "an expectile",
            _example(f"expectile(tau=0.9, {_SMALL})", "50", "5000"),
            against(_location),
            sampled=True,
        ),
        "histogram": PlanRow(
            "a histogram",
            """>>> round(histogram(edges=[0, 10, 20, 30], sd=10, n=2_000, epsilon="0.1").error)
10
>>> round(histogram(bins=10, within=(0, 1e6), sd=10, n=2_000, epsilon="0.1").error)
13""",
            of_counts(_in_bins),
            shown={"cuts": "cuts", "bins": "bins"},
        ),
        "huber": PlanRow(
            "Huber's location",
            _example(f"huber(width=5e4, {_SMALL})", "1", "100"),
            against(_location),
            sampled=True,
            note="Without a width it is against the location with the width that was released.",
        ),
        "iqr": PlanRow(
            "an interquartile range",
            _example(f"iqr({_LARGE})", "5", "500"),
            against(_between),
        ),
        "linear_regression": PlanRow(
            "a linear regression",
            _example(
                "linear_regression(within=(-1e6, 1e6), sd=[1, 9], r2=0.5, n=5000, epsilon=1)",
                "0",
                "0.1",
            ),
            explained_loss,
            REGRESSION,
            meaning="the share of the explained variance, R², that is lost",
            without=("target",),
        ),
        "lp_center": PlanRow(
            "a location by p-th powers",
            _example(f"lp_center(p=1.5, {_SMALL})", "5", "500"),
            _power_error,
            sampled=True,
            note="For p = 2 better plan a mean.",
        ),
        "max": PlanRow(
            "a maximum",
            _example(f'maximum({_SMALL}, shape="normal")', "1e3", "1e5"),
            against(lambda run: int(run.table.q[-1]) * run.step),
            n=Parameter.empty,
        ),
        "mean": PlanRow(
            "a mean",
            """>>> found = mean(within=(-1e9, 1e9), sd=5e4, n=20_000, error=500)
>>> 0.01 < found.epsilon < 10 and found.error <= 500
True""",
            against(lambda run: run.table.mean() * run.step),
            sampled=True,
        ),
        "mean_vector": PlanRow(
            "the means of several columns",
            _example(
                'mean_vector(within=(-1e9, 1e9), sd=[1.0] * 16, n=4000, rho="0.5")', "0.004", "0.02"
            ),
            mean_distance,
            VECTORS,
            meaning=_VECTOR,
            without=("method",),
        ),
        "median": PlanRow(
            "a median",
            f""">>> found = median({_LARGE})
>>> found.error < quantile(q=0.9, {_LARGE}).error
True""",
            rank_error,
            shown={"q": "q"},
        ),
        "min": PlanRow(
            "a minimum",
            _example(f'minimum({_SMALL}, shape="normal")', "1e3", "1e5"),
            against(lambda run: int(run.table.q[0]) * run.step),
            n=Parameter.empty,
        ),
        "monotone_statistic": PlanRow(
            "a statistic of your own",
            f""">>> import numpy as np
>>> from modicum import Score
>>> smooth = Score("smooth median", lambda v: np.tanh(v / 1e4), growth=0, width=3e4)
{_example(f"monotone_statistic(statistic=smooth, {_SMALL})", "1", "100")}""",
            against(_location),
            sampled=True,
            note="The synthetic data have it where the sum of a score is 0, or in the middle of "
            "level 0 of\nboundaries, which are asked for tables as large as planned.",
        ),
        "pca": PlanRow(
            "principal components",
            _example(
                "pca(components=1, within=(-1e6, 1e6), sd=[9, 1, 1], n=5000, epsilon=1)", "0", "0.1"
            ),
            variance_lack,
            MOMENTS,
            meaning="the share of the variance along the best components that these lack",
        ),
        "quantile": PlanRow(
            "a quantile",
            _example(f"quantile(q=0.9, {_LARGE})", "5", "500"),
            rank_error,
            shown={"q": "q"},
            note="It depends on how dense the records are there, so the shape and the mean matter.",
        ),
        "quantiles": PlanRow(
            "several quantiles",
            _example(f"quantiles(q=[0.25, 0.5, 0.75], {_LARGE})", "1", "100"),
            against_each(_quantiles),
            shown={"q": "qs"},
        ),
        "std": PlanRow(
            "a standard deviation",
            _example(f'std({_LARGE}, shape="normal")', "0", "0.005 * 5e4"),
            against(lambda run: Fraction(math.sqrt(run.table.variance())) * run.step),
            note=_LARGEST,
        ),
        "sum": PlanRow(
            "a sum",
            _example("sum(within=(0, 1e9), sd=5e4, n=20_000, epsilon=1)", "1e5", "5e6"),
            against(lambda run: run.table.total() * run.step),
            n=Parameter.empty,
        ),
        "trimmed_mean": PlanRow(
            "a trimmed mean",
            _example(f"trimmed_mean(trim=0.1, {_LARGE})", "1", "100"),
            level_error("trimmed mean"),
            shown={"trim": "trim"},
        ),
        "var": PlanRow(
            "a variance",
            _example(f'variance({_LARGE}, shape="normal")', "0", "0.01 * 5e4**2"),
            against(lambda run: run.table.variance() * run.step**2),
            note=_LARGEST,
        ),
        "winsorized_mean": PlanRow(
            "a winsorized mean",
            _example(f"winsorized_mean(trim=0.1, {_LARGE})", "1", "200"),
            level_error("winsorized mean"),
            shown={"trim": "trim"},
        ),
    }
)
