"""The geometric mean: the exponential of the adaptive mean of logarithms.

docs/research/proofs/geometric_mean.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from modicum.exact.log_lattice import LogLattice
from modicum.privacy.budget import Budget, Number, chosen_budget
from modicum.privacy.event import Event
from modicum.releases.confidence import chosen_index
from modicum.releases.release import Interval, Release, ScalarErrorModel, ScalarEstimate
from modicum.releases.status import USABLE, Status
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, reading
from modicum.statistics import spec, texts
from modicum.statistics.means.found_mean import mean_in_window
from modicum.statistics.options import LEAST_LEVEL, NoOption
from modicum.statistics.ranges.window import in_window
from modicum.stored.codec import storable

_MOST = 10
DROWNED = Status(
    "few_records",
    "too little data for this range and budget: the noise alone may change the answer by a factor "
    f"of {_MOST}; narrow `within` or spend more",
)


@texts.documented
def geometric_mean(
    column: str | None = None,
    *,
    within: tuple[float, float],
    epsilon: Number | None = None,
    rho: Number | None = None,
    budget: Budget | None = None,
) -> Query[Release]:
    """Ask for the geometric mean of a column of positive values, with no bounds to guess.

    It is the exponential of the mean of the logarithms. Prefer it over a mean for values that
    differ by factors, such as incomes, concentrations or growth rates: one large value moves it
    little, and the noise follows the spread of the logarithms.

    Parameters
    ----------
    {column}
    within : (float, float)
        A public range with 0 < lowest, as wide as you like, such as ``(0.01, 1e12)``. Values below
        the lowest, zeros and negative values among them, count as the lowest, whatever the data
        are; so choose the lowest value that means something, such as a detection limit. It is not
        found for you: with zeros in the column the answer depends on it.
    {cost}

    {returns}

    Raises
    ------
    InvalidArgument
        If the range is reversed, not positive or not finite; if there is no cost, more than one,
        or one that is not positive.

    Notes
    -----
    {missing}

    Logarithms are rounded to multiples of a public step, about 10^-12.

    Examples
    --------
    >>> geometric_mean("income", within=(1, 1e9), epsilon=1).budget
    pure('1')
    """
    cost = chosen_budget(epsilon, rho, budget)
    return GEOMETRIC_MEAN.query(
        spec.column_name(column), LogLattice.within(within), cost, NoOption()
    )


@storable
@dataclass(frozen=True, slots=True)
class LogarithmErrorModel:
    """[geometric_mean.4] The error model of a mean of logarithms, and the range of the data."""

    lattice: LogLattice
    of_logs: ScalarErrorModel

    def interval(self, level: float, tail: float | None) -> Interval:
        """Map the ends, a step wider for what rounding a logarithm and a power may do."""
        (lower, upper), step = self.of_logs.interval(level, tail), self.lattice.step
        return Interval(self.lattice.exp(lower - step), self.lattice.exp(upper + step))

    @property
    def few_seen(self) -> bool:
        return bool(getattr(self.of_logs, "few_seen", False))

    @property
    def condition(self) -> str:
        return self.of_logs.condition and f"for the logarithms: {self.of_logs.condition}"

    def tail_index(self, level: float) -> float:
        """The index of the tail of the logarithms that the interval assumes by default."""
        return chosen_index(self.of_logs, level)

    def assumption(self, tail: float | None) -> str:
        return f"Of ln(x / {self.lattice.lo:g}): {self.of_logs.assumption(tail)}"

    def to_dict(self) -> dict[str, object]:
        return {"of_logarithms": self.of_logs.to_dict()}


def _mean_of_logs(column: str | None, lattice: LogLattice, event: Event) -> Steps[ScalarEstimate]:
    # [geometric_mean.3]
    steps = in_window(mean_in_window, column, event, lattice.numbers, finer=False)
    found = yield from reading(
        lambda ask: replace(ask, lattice=lattice), steps
    )  # [geometric_mean.2]
    value = Fraction(lattice.exp(float(found.value)))
    lower, upper = found.error_model.interval(LEAST_LEVEL, None)
    drowned = found.status.code in USABLE and upper - lower > 2 * math.log(_MOST)
    status = DROWNED if drowned else found.status
    return ScalarEstimate(value, LogarithmErrorModel(lattice, found.error_model), status)


GEOMETRIC_MEAN = spec.Row(
    "geometric_mean",
    "adaptive",
    (NoOption(),),
    "geometric_mean",
    "geometric mean with noise on the scale of the logarithms' own spread",
    lambda column, lattice, event, _options: _mean_of_logs(column, lattice, event),
    lattice_of=LogLattice.of,
)

STATISTICS = (
    spec.Declaration(
        geometric_mean,
        (GEOMETRIC_MEAN,),
        spec.shows_between("geometric_mean", "within=(1, 1e9), ", 7000, 7700),
        command="people.parquet income --within=1,1e9 --epsilon 1",
        tail=True,
        plan=spec.Planned(
            "a geometric mean",
            spec.error_between(
                "geometric_mean(within=(1, 1e9), sd=5e4, n=20_000, epsilon=1)", "1", "1e3"
            ),
            command="--within=1,1e9 --n 1e5 --sd 5e4 --error 100",
            truth=lambda run: Fraction(run.lattice.value(run.table.mean())),
        ),
    ),
)
