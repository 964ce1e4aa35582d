"""Data sets of 0 to 30,000 records show the same steps at the same outcomes, in every row.

Neighbours of three records tell neither a thousandth of their number nor a window of hundreds of
them: what follows from either shows only where there are many.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from modicum import audit
from modicum.audit.trail import Family
from modicum.exact.entropy import SeededEntropy
from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive, laplace
from modicum.mechanisms.base import Mechanism
from modicum.privacy.budget import Budget, pure, zcdp
from modicum.privacy.event import Event
from modicum.releases.release import ScalarEstimate
from modicum.runtime.query import Query
from modicum.runtime.steps import Steps, draw, read
from modicum.statistics.order.quantile_points import FINE
from modicum.statistics.registry import REGISTRY
from modicum.summaries.base import Read
from modicum.summaries.sums import Count
from modicum.summaries.vectors import BOUND
from tests.audit.counted import KINDS

RNG = np.random.default_rng(5)
LATTICE = Lattice.within((-1000, 1000), 2.0**-10)
WIDE = Lattice.within((-7e5, 1e6))
MESSAGE = 1000  # characters of a leak that are shown: needs are long
COUNTS = (-3, 700, 20_000, 10**6)
COSTS = {"pure": (pure("1.1"), pure("0.002")), "zcdp": (zcdp("0.3"), zcdp("1e-6"))}

COLUMNS = (
    np.empty(0),
    np.array([3.0]),
    RNG.normal(20, 6, 700),
    np.full(9000, -4.0),
    (RNG.random(30_000) < 0.1) * 1.0,
    RNG.lognormal(0, 1.5, 30_000),
    np.concatenate([RNG.normal(-300, 1, 15_000), RNG.normal(500, 50, 15_000)]),
)
TABLES = (
    np.empty((0, 3)),
    np.array([[3.0, -1000.0, 1000.0]]),
    RNG.normal(20, (1, 30, 0.1), (700, 3)),
    np.full((9000, 3), -4.0),
    RNG.lognormal(0, 1.5, (30_000, 3)) * (1, 100, 0.01),
    np.column_stack([RNG.normal(0, 1, (30_000, 2)), RNG.random(30_000) < 0.05]),
)


def data_for(row: Any) -> tuple[np.ndarray, ...]:
    """Columns, or tables of as many columns as a row's statistic wants."""
    if not row.of_rows:
        return COLUMNS
    statistic = getattr(row.options[0], "statistic", None)
    return tuple(table[:, : getattr(statistic, "columns", 3)] for table in TABLES)


def counts_rows(label: str, mechanism: Mechanism[Any]) -> bool:
    return (
        label in {"count", "rows"}
        and isinstance(mechanism, Additive)
        and len(mechanism.values) == 1
    )


def walk(
    family: Family, count: int, seed: int, given: Mapping[str, Any]
) -> tuple[audit.Leak | None, list[str]]:
    """Compare what the data sets show, and go on.

    A count's outcome is ``count``, with as many zeros on every other walk, that of a label in
    ``given`` stands there, and all others are drawn from any of the data sets.
    """
    chosen = np.random.default_rng(seed)
    entropy = SeededEntropy(f"{family.query.statistic} {count} {seed}")
    runs, leak = family.start(())
    draws: tuple[tuple[str, Any], ...] = ()
    while leak is None and runs[0].waiting is not None:
        label: str = runs[0].trail[-1][0]
        mechanism = runs[chosen.integers(len(runs))].waiting
        if counts_rows(label, mechanism):
            outcome = (count,)
        elif label == KINDS:
            outcome = (count * (seed % 2), *[0] * (mechanism.dimension - 2), count)
        else:
            outcome = given[label] if label in given else mechanism.sample(entropy)
        draws = (*draws, (label, outcome))
        runs, leak = family.advance(runs, draws)
    return leak, [label for label, _ in draws]


def walk_all(
    query: Query[Any],
    data: Sequence[np.ndarray],
    *,
    counts: Sequence[int] = COUNTS,
    seeds: int = 1,
    given: Mapping[str, Any] | None = None,
) -> set[str]:
    """Walk with every count, check that nothing leaks, and return the labels met."""
    family = Family.of(query, data)
    labels: set[str] = set()
    for count in counts:
        for seed in range(seeds):
            leak, met = walk(family, count, seed, given or {})
            assert leak is None, str(leak)[:MESSAGE]
            labels.update(met)
    return labels


def requests_of(row: Any, budgets: Sequence[Budget], lattice: Lattice) -> list[Query[Any]]:
    """One for each budget and option; points of the lattice are cut as finely as in real runs."""
    options = [replace(o, fine=FINE) if hasattr(o, "fine") else o for o in row.options]
    within = lattice if row.needs_range else None
    return [row.query(None, within, budget, o) for budget in budgets for o in options]


CASES = [(row, kind) for row in REGISTRY for kind in ("pure", "zcdp") if kind in row.kinds]
NAMES = [f"{row.statistic}-{row.method}-{kind}" for row, kind in CASES]
every_case = pytest.mark.parametrize(("row", "kind"), CASES, ids=NAMES)


QUICK = [
    pytest.param(row, kind, id=name, marks=[] if kind == "pure" else pytest.mark.slow)
    for (row, kind), name in zip(CASES, NAMES, strict=True)
]


@pytest.mark.parametrize(("row", "kind"), QUICK)
@pytest.mark.one_in(2)
def test_steps_do_not_show_how_many_records_there_are(row, kind) -> None:
    data, few = data_for(row), []
    if row.statistic == "linear_regression":  # below that many rows it tries thousands of fits
        few = [count for count in COUNTS if count < 20_000]
    for query in requests_of(row, COSTS[kind][:1], LATTICE):
        walk_all(query, data, counts=[count for count in COUNTS if count not in few])
        walk_all(query, [table[::100] for table in data], counts=few)


@pytest.mark.slow
@every_case
@pytest.mark.parametrize("lattice", [LATTICE, WIDE], ids=["narrow", "wide"])
def test_many_walks_at_two_costs(row, kind, lattice) -> None:
    seeds = 1 if row.statistic == "linear_regression" else 12
    # A trimmed mean refuses the smaller cost: it would need too many level sets.
    refused = row.statistic in {"trimmed_mean", "winsorized_mean"}
    for query in requests_of(row, COSTS[kind][: 1 if refused else None], lattice):
        walk_all(query, data_for(row), counts=(*COUNTS, 0, 1, 50), seeds=seeds)


def test_the_walks_of_a_mean_reach_the_look_at_its_tail() -> None:
    row = next(row for row in REGISTRY if row.statistic == "mean")
    (query, *_) = requests_of(row, COSTS["pure"][:1], LATTICE)
    assert {"centre", "shape", "radii"} <= walk_all(query, COLUMNS, given={"home": (2,)})


@pytest.mark.parametrize("kind", ["pure", "zcdp"])
def test_components_of_uneven_sizes_are_weighed_alike_for_all_tables(kind) -> None:
    """Mean sizes that are released as 1/2, 1/50 and 1/1000 of the radius."""
    row = next(row for row in REGISTRY if row.statistic == "mean_vector")
    (query,) = requests_of(row, COSTS[kind][:1], LATTICE)
    sizes = tuple(20_000 * BOUND // part for part in (2, 1000, 50))
    given = {"sizes 1": sizes, "sizes 2": sizes}
    met = walk_all(query, TABLES, counts=(20_000,), given=given)
    assert any(label.startswith("weighed") for label in met)


def test_a_thousandth_of_the_true_count_is_found() -> None:
    """Neighbours of few records do not tell it from the noisy count's."""

    def begin(event: Event) -> Steps[ScalarEstimate]:
        counted = yield from read(Read(None, LATTICE, Count()))
        (noisy,) = yield from draw("count", laplace([counted.count], l1=1, epsilon=Fraction(1, 2)))
        bound = max(1, counted.count // 1000)
        mechanism = laplace([min(counted.count, bound)], l1=bound, epsilon=Fraction(1, 2))
        yield from draw("first records", mechanism)
        return ScalarEstimate(Fraction(noisy), None, "ok")

    query = Query("test", "by size", None, LATTICE, pure(1), begin)
    assert audit.check(query).passed
    leak, _ = walk(Family.of(query, COLUMNS), 700, 0, {})
    assert leak is not None
    assert leak.kind == "draw"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("budget", [pure("0.05"), pure("1.1"), pure(20), zcdp("0.001"), zcdp(3)])
@pytest.mark.parametrize("column", [0, 2])
def test_the_longest_walk_leaves_enough_for_the_last_steps(column, budget) -> None:
    """Squares for a population's interval, after every draw of few records and of many."""
    row = next(row for row in REGISTRY if row.statistic == "mean")
    data, met_all = [COLUMNS[column] + 3e5], set()
    for query in requests_of(row, [budget], WIDE):
        for count in (2 ** np.arange(5, 22)).tolist():
            family = Family.of(query, data)
            for seed in range(2):
                leak, met = walk(family, count, seed, {})
                assert leak is None
                met_all.update(met)
    assert met_all >= {"window", "count, again", "squares about the middle"}
