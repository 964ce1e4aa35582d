"""The count of rows or of non-missing values: one draw (docs/research/proofs/count.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.mechanisms.additive import Noise
from modicum.mechanisms.windows import DataWindow
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.privacy.split import BudgetSplit
from modicum.releases.release import Interval, Release, ScalarEstimate
from modicum.releases.status import OK
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw_count, read
from modicum.statistics import spec, texts
from modicum.statistics.means.found_sum import sum_in_window
from modicum.statistics.means.sum import pooled_way
from modicum.statistics.options import NoOption
from modicum.statistics.people import persons
from modicum.statistics.people.sizes import by_size
from modicum.statistics.ranges.bounds import Setting, count_some
from modicum.statistics.ranges.window import NOT_SEEN, WINDOW, Found, counted_again
from modicum.statistics.tails import outside
from modicum.stored.codec import storable
from modicum.summaries import base, sums, synthetic


@texts.documented
def count(
    column: str | None = None,
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
) -> Query[Release]:
    """Ask for the number of non-missing values of a column, or of rows.

    Parameters
    ----------
    column : str, optional
        Without it, the rows of a table (the non-missing values of an array) are counted. With
        it, the column's non-missing values, whatever their type: in a CSV file, every cell that is
        not empty.
    {cost}

    {returns}

    Raises
    ------
    InvalidArgument
        If there is no cost, more than one, or one that is not positive.

    Notes
    -----
    One exact draw: discrete Laplace noise of scale 1/ε, or discrete Gaussian noise of variance
    1/(2ρ) (Canonne, Kamath and Steinke 2020); a negative answer is shown as 0. If all rows of a
    person count, they are a sum over persons, with a bound that is found.

    Examples
    --------
    >>> count(epsilon=1).lattice is None
    True
    """
    cost = chosen_budget(epsilon, rho, budget)
    return COUNT.query(spec.column_name(column), None, cost, NoOption())


@storable
@dataclass(frozen=True, slots=True)
class CountErrorModel:
    """A noisy count and its noise."""

    noisy: int
    noise: Noise

    def redrawn(self, table: synthetic.SyntheticTable) -> outside.Redrawn:
        return outside.Redrawn((self.noise,), lambda z: Fraction(max(table.rows + z, 0)))

    def interval(self, level: float, tail: float | None) -> Interval:
        """Exact interval; a count has no clipping, so ``tail`` does not matter."""
        reach = self.noise.tail_bound(1 - level)
        return Interval(max(0.0, self.noisy - reach), max(0.0, self.noisy + reach))

    def noise_bound(self, alpha: float) -> float:
        """Return how far the noise moves the count, but for a probability of alpha."""
        return self.noise.tail_bound(alpha)

    @property
    def condition(self) -> str:
        return ""

    def assumption(self, tail: float | None) -> str:
        return "the interval of a count covers its noise, its only error; it assumes nothing."

    def to_dict(self) -> dict[str, object]:
        return {"noisy": self.noisy, "noise_sd": self.noise.variance**0.5}


def noisy_count(column: str | None, event: Event) -> Steps[ScalarEstimate]:
    """Count the non-missing values of a column, or rows (``column=None``).

    The exact count plus one integer of noise for the whole budget, cut at 0. One record changes the
    count by 1.
    """
    split, counted = BudgetSplit(event), (yield from read(base.Read(column, None, sums.Count())))
    noisy, noise = yield from draw_count(split, counted.count, split.rest())
    return ScalarEstimate(Fraction(max(noisy, 0)), CountErrorModel(noisy, noise), OK)


def count_of_persons(column: str | None, event: Event) -> Steps[ScalarEstimate]:
    """Count the rows, or values, of persons, each of whom is one record, the number of theirs.

    [people.2] No window is drawn: the octaves of their numbers tell how large these are.
    """
    here = Setting(column, persons.SIZES, BudgetSplit(event), rule=base.RecordRule("count"))
    records = (yield from read(here.ask(sums.Count()))).count
    number, noise = yield from count_some(here, records, WINDOW.counts, "count")
    first = outside.Counted(Fraction(max(number, 1)), (outside.NoisyTerm(noise, 1.0),))
    counted = yield from counted_again(here, first, records)
    number = round(counted.value)
    most, beyond, rings, status = yield from by_size(here, number)
    if number <= counted.bound(WINDOW.surely):
        status = NOT_SEEN
    if number <= counted.bound(0.1):  # if any, they have a row each
        most = 1
    window = DataWindow(most.bit_length() - 1, 0)
    found = Found(here.lattice, 0, most, counted, number, window, None, status, beyond=beyond)
    answer = yield from sum_in_window(here, found, least=rings.least)
    return replace(answer, value=max(answer.value, Fraction(0)), lattice=None)


COUNT = spec.Row(
    "count",
    "noisy",
    (NoOption(),),
    "count",
    "count of rows or of non-missing values",
    lambda column, _lattice, event, _options: noisy_count(column, event),
    needs_range=False,
    of_persons=lambda _wider, column, _lattice, event, _options: count_of_persons(column, event),
    pooled_persons=lambda wider: pooled_way(wider, "count"),
)


STATISTICS = (
    spec.Declaration(
        count,
        (COUNT,),
        spec.shows_between("count", "", 19900, 20100),
        command="people.csv income --epsilon 0.1",
        plan=spec.Planned(
            "a count",
            """>>> round(count(epsilon="0.1").error)
10
>>> 0.09 < count(error=10).epsilon < 0.11
True""",
            command="--error 10",
            truth=lambda run: run.table.rows,
            data="nothing",
            n=10_000,
            note="``n`` matters only if it is as small as the noise: a count is never negative.",
        ),
    ),
)
