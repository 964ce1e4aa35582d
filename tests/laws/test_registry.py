"""Properties of every row of the registry with every kind of budget."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import modicum
from modicum import audit
from modicum.audit.trail import Remembered
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.norm_ball import RadialMechanism
from modicum.privacy.accountant import total
from modicum.privacy.budget import Budget, approx, pure, zcdp
from modicum.privacy.event import event_of
from modicum.privacy.unit import Unit
from modicum.releases.array_release import ArrayEstimate
from modicum.releases.release import Release, ScalarEstimate
from modicum.research.own_statistics.vector_statistic import MeanOfRange
from modicum.research.papers.asi2020 import FitsOption
from modicum.research.papers.registry import PAPERS
from modicum.runtime.query import Query
from modicum.runtime.replay import Run
from modicum.runtime.run import LiveRun, run
from modicum.statistics.options import Options
from modicum.statistics.order.histogram import BinsOption, CutsOption
from modicum.statistics.registry import REGISTRY
from modicum.statistics.spec import Row
from modicum.statistics.vectors.covariance import ComponentsOption

COSTS = {"pure": pure("1.1"), "zcdp": zcdp("0.3"), "approx": approx("1.1", "1e-6")}
ROWS = (*REGISTRY, *PAPERS)
CASES = [
    (row, kind, option)
    for row in ROWS
    for kind in row.kinds
    # An (ε, δ) is spent as ε by all rows of the papers.
    if kind != "approx" or row in REGISTRY
    for option in row.options
]
NAMES = [f"{row.statistic}-{row.method}-{kind}-{option}" for row, kind, option in CASES]
UNSCALED = CutsOption | BinsOption | ComponentsOption | FitsOption
SCALED = [  # cuts, counts, directions and fits have no unit of the lattice's
    name
    for name, (row, _, option) in zip(NAMES, CASES, strict=True)
    if row.needs_range and not isinstance(option, UNSCALED)
    if row.statistic != "geometric_mean"  # a logarithm is moved, to the nearest step
]


def listed(names: Sequence[str]) -> pytest.MarkDecorator:
    """Parametrise by cases; an (ε, δ) that is spent as ε has the law of the same ε."""
    cases = [CASES[NAMES.index(name)] for name in names]
    marked = [
        pytest.param(*case, id=name, marks=[pytest.mark.slow] if case[1] == "approx" else [])
        for name, case in zip(names, cases, strict=True)
    ]
    return pytest.mark.parametrize(("row", "kind", "option"), marked)


every_case = listed(NAMES)

RNG = np.random.default_rng(5)
MANY = np.round(RNG.normal(20, 6, 12_000), 3)  # enough for a centre and for a look at the shape
DATA = {
    "empty": np.empty(0),
    "one row": np.array([3.0]),
    "constant": np.full(1000, 3.0),
    "huge": np.full(50, 1e308),
    "tiny": np.full(50, 5e-324),
    "missing": np.full(50, np.nan),
    "infinite": np.array([np.inf, -np.inf, 1.0]),
    "many": MANY,
}


def request_for(
    row: Row,
    kind: str,
    option: Options,
    lattice: Lattice | None = None,
    cost: Budget | None = None,
) -> Query[Any]:
    lattice = lattice or Lattice.within((-1000, 1000), 2.0**-10)
    return row.query(None, lattice if row.needs_range else None, cost or COSTS[kind], option)


def walk(query: Query[Release], data: Any, seed: object, unit: Unit | None = None) -> LiveRun:
    return run(
        {"answer": query},
        Remembered(data),
        unit=unit or Unit(),
        charge=lambda: None,
        entropy=SeededEntropy(repr(seed)),
    )["answer"]


def numbers(answer: ScalarEstimate | ArrayEstimate) -> tuple[Fraction, ...]:
    return answer.values if isinstance(answer, ArrayEstimate) else (answer.value,)


def interval(answer: ScalarEstimate | ArrayEstimate) -> tuple[np.ndarray, np.ndarray]:
    error_model = answer.error_model
    several = isinstance(answer, ArrayEstimate)
    ends = error_model.intervals(0.95, 3) if several else error_model.interval(0.95, 3)
    return np.atleast_1d(ends.lower), np.atleast_1d(ends.upper)


@every_case
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", ["empty", "constant", "many"])
@pytest.mark.one_in(6)
def test_the_journal_adds_up_to_the_charge(row, kind, option, rows, name) -> None:
    query = request_for(row, kind, option)
    unit = Unit(rows)
    transcript = walk(query, DATA[name], (name, rows), unit).transcript
    currency = "zcdp" if kind == "zcdp" else "pure"
    charged = total([unit.per_row(event_of(query.budget))], currency)
    assert total([entry.event for entry in transcript], currency) == charged


@every_case
@pytest.mark.one_in(3)
def test_a_seed_determines_the_release(row, kind, option) -> None:
    query = request_for(row, kind, option)
    one, again, other = (walk(query, MANY, seed) for seed in (1, 1, 2))
    outcomes = [[entry.outcome for entry in w.transcript] for w in (one, again, other)]
    assert one.answer == again.answer
    assert outcomes[0] == outcomes[1]
    if outcomes[0] == outcomes[2]:  # of records that tie one answer may be all but certain
        none = [walk(query, DATA["empty"], seed).transcript for seed in (1, 2)]
        assert none[0][0].outcome != none[1][0].outcome


@every_case
@pytest.mark.one_in(2)
def test_any_data_release_with_the_same_steps(row, kind, option) -> None:
    """The outcomes of a run on one data set lead every other one through the same steps."""
    query = request_for(row, kind, option)
    for name, data in DATA.items():
        finished = walk(query, data, name)
        assert finished.answer is not None
        values = np.array(numbers(finished.answer), dtype=float)
        assert np.isfinite(values).all()
        lower, upper = interval(finished.answer)
        assert lower.shape == upper.shape == values.shape
        assert (lower <= upper).all()
    for name in ("empty", "many"):
        outcomes = [entry.outcome for entry in walk(query, DATA[name], name).transcript]
        # The law of a subsample sums over all subsamples: only short data are replayed.
        short = [data for data in DATA.values() if len(data) <= 3]
        assert audit.leaks(query, short, outcomes) is None


def scaled(lattice: Lattice, factor: float) -> Lattice:
    return Lattice(lattice.lo * factor, lattice.hi * factor, lattice.step * factor)


@listed(SCALED)
@pytest.mark.parametrize("power", [-20, 3, 40])
@pytest.mark.one_in(6)
def test_a_power_of_two_scales_the_answer_exactly(row, kind, option, power) -> None:
    lattice = Lattice.within((-1000, 1000), 2.0**-10)
    factor = 2.0**power
    one = walk(request_for(row, kind, option, lattice), MANY, "scale")
    other = walk(request_for(row, kind, option, scaled(lattice, factor)), MANY * factor, "scale")
    assert [e.outcome for e in one.transcript] == [e.outcome for e in other.transcript]
    dimension = {"var": 2, "covariance": 2, "skewness": 0}.get(row.statistic, 1)
    exact = Fraction(2) ** (power * dimension)
    assert numbers(other.answer) == tuple(x * exact for x in numbers(one.answer))
    assert other.answer.status == one.answer.status


@pytest.mark.parametrize("steps", [-64, 5, 4096])
def test_the_subset_mean_follows_a_shift_exactly(steps) -> None:
    """Its laws know ranks and differences only; the others measure sizes from zero."""
    row = next(row for row in REGISTRY if row.method == "subset")
    lattice = Lattice(-1000.0, 1000.0, 2.0**-10)
    by = steps * lattice.step
    moved = replace(lattice, lo=lattice.lo + by, hi=lattice.hi + by)
    data = np.round(MANY / lattice.step) * lattice.step
    one = walk(request_for(row, "pure", row.options[0], lattice), data, "shift")
    other = walk(request_for(row, "pure", row.options[0], moved), data + by, "shift")
    assert other.answer.value == one.answer.value + Fraction(by)


# In ρ one row for each kind of mechanism; tests/mechanisms has every mechanism by itself.
QUICK = {"mean", "mean_vector", "quantiles", "covariance", "trimmed_mean"}
SAMPLED = [
    pytest.param(
        row,
        kind,
        id=f"{row.statistic}-{row.method}-{kind}",
        marks=[] if kind == "pure" or row.statistic in QUICK else [pytest.mark.slow],
    )
    for row in ROWS
    for kind in ("pure", "zcdp")
    if kind in row.kinds
]


@pytest.mark.parametrize(("row", "kind"), SAMPLED)
@pytest.mark.one_in(6)
def test_every_sampler_matches_its_law(row, kind) -> None:
    """Each draw of a run is repeated a thousand times and tested against its log density."""
    cost = zcdp(2) if kind == "zcdp" else pure(4)
    query = request_for(row, kind, row.options[0], Lattice(-8.0, 8.0, 1.0), cost)
    halted = Run(query, event_of(query.budget), Remembered((1.0, 3.0, 3.0, -8.0)))
    entropy = SeededEntropy(f"{row.statistic} {row.method} {kind}")
    while halted.waiting is not None:
        # A ball about a vector of many units has too many outcomes to list; that of few units is
        # compared in tests/mechanisms.
        if not isinstance(halted.waiting, RadialMechanism):
            assert audit.fit(halted.waiting, 1000, entropy) > 1e-4
        counting = halted.trail[-1][0] == "count"
        # A large count leads into the branches with a centre from a subsample.
        halted.give((20_000,) if counting else halted.waiting.sample(entropy))


EXTRA: dict[str, dict[str, Any]] = {
    "quantile": {"q": 0.9},
    "quantiles": {"q": [0.5, 0.9]},
    "cdf": {"points": [0, 1]},
    "expectile": {"tau": 0.9},
    "ratio": {"column": "x", "denominator": "w"},
    "lp_center": {"p": 1.5},
    "geometric_mean": {"within": (0.5, 1)},
    "trimmed_mean": {"trim": 0.1},
    "winsorized_mean": {"trim": 0.1},
    "pca": {"components": 1},
    "vector_statistic": {"statistic": MeanOfRange()},
    "monotone_statistic": {"statistic": modicum.Score("identity", lambda v: v, growth=1)},
}


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: f"{row.statistic}-{row.method}")
def test_every_row_is_offered(row) -> None:
    question = getattr(modicum.query, row.statistic)
    extra = EXTRA.get(row.statistic, {})
    if row.statistic == "histogram":
        extra = {"bins": 2} if row.method == "drawn" else {"edges": [0, 1]}
    if row.needs_range and not extra.keys() & {"edges", "points", "within"}:
        extra = {**extra, "within": (0, 1)}
    several = sum(other.statistic == row.statistic for other in REGISTRY) > 1
    method = {"method": row.method} if several and row.statistic != "histogram" else {}
    if (row.statistic, row.method) == ("monotone_statistic", "subset"):
        extra = {**extra, "level": None}
    if row.method == "weighted":
        method, extra = {}, {**extra, "column": "x", "weights": "w"}
    cost = {"epsilon": 1} if "pure" in row.kinds else {"rho": 1}
    assert question(**cost, **extra, **method).method == row.method
