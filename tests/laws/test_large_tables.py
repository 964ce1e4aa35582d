"""Tables of up to 60,000 rows that have nothing in common show the same, given the same outcomes.

An audit of every outcome has a few records, and a schedule that follows the true count of many
would pass it. Here the public functions are asked about whole tables, and all that they show is
compared: a number that was not drawn shows in the order, the label, the cost or the parameters of a
draw, in the answer, or in what is said of it.
"""

from __future__ import annotations

import itertools
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from tests.seen import seen

LAWS: Mapping[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "none": lambda _, n: np.full(n, np.nan),
    "a few": lambda rng, n: rng.normal(40, 8, n),
    "normal": lambda rng, n: rng.normal(50, 10, n),
    "skewed": lambda rng, n: np.round(rng.lognormal(0, 2, n), 2),
    "far group": lambda rng, n: np.where(rng.random(n) < 0.15, 1e40, rng.normal(0, 1, n)),
    "atom": lambda rng, n: np.where(rng.random(n) < 0.9, 0.0, rng.normal(1e5, 10, n)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n) * 1e100,
    "one value": lambda _, n: np.full(n, -3.5),
}
ROWS = {"none": 0, "a few": 70, "normal": 3000, "skewed": 9000, "far group": 20_000}
MORE = ROWS | {"atom": 5000, "Cauchy": 60_000, "one value": 1500}


def table(law: str, rows: int) -> pd.DataFrame:
    """Persons with one to some ten rows each, of values and groups of one law."""
    rng = np.random.default_rng(sum(law.encode()))
    persons = np.repeat(np.arange(rows), rng.geometric(0.4, rows))[:rows]
    x = LAWS[law](rng, rows)
    return pd.DataFrame(
        {
            "id": persons,
            "x": x,
            "y": 2 * x + rng.normal(0, 1, rows),
            "w": np.abs(rng.normal(3, 2, rows)),
            "g": (rng.pareto(1, rows) * 2).astype(np.int64) % 12,
            "h": rng.integers(0, 3, rows),
        }
    )


TABLES = {law: table(law, rows) for law, rows in MORE.items()}
GROUPS = list(range(12))
Method = Callable[[mo.Curator, dict[str, Any]], Any]


def of(name: str, *columns: Any, **options: Any) -> Method:
    return lambda curator, cost: getattr(curator, name)(*columns, **options, **cost)


def by_group(name: str, *columns: str, pooled: Any = "auto", **options: Any) -> Method:
    def asked(curator: mo.Curator, cost: dict[str, Any]) -> Any:
        groups = curator.group_by("g", keys=GROUPS, pooled=pooled)
        return getattr(groups, name)(*columns, **options, **cost)

    return asked


WITHIN = {"within": (-1e6, 1e6)}
METHODS: dict[str, Method] = {
    "mean": of("mean", "x"),
    "mean in a range": of("mean", "x", **WITHIN),
    "mean of the population": of("mean", "x", population=True),
    "mean of kept clusters": of("mean", "x", clusters="keep"),
    "weighted mean": of("mean", "x", weights="w"),
    "ratio": of("ratio", "y", "x"),
    "sum": of("sum", "x"),
    "sum in a range": of("sum", "x", **WITHIN),
    "weighted sum": of("sum", "x", weights="w"),
    "count": of("count"),
    "std": of("std", "x"),
    "var in a range": of("var", "x", **WITHIN),
    "skewness": of("skewness", "x"),
    "median": of("median", "x"),
    "quantile in a range": of("quantile", "x", q=0.9, **WITHIN),
    "quantiles": of("quantiles", "x", q=[0.1, 0.5, 0.9]),
    "iqr": of("iqr", "x"),
    "max": of("max", "x"),
    "trimmed mean": of("trimmed_mean", "x", trim=0.1),
    "huber": of("huber", "x"),
    "histogram": of("histogram", "x", bins=4),
    "cdf": of("cdf", "x", points=[0.0, 50.0]),
    "describe": of("describe", ["x", "g"]),
    "value_counts": of("value_counts", "g", keys=GROUPS),
    "crosstab": of("crosstab", "g", "h", keys={"g": GROUPS, "h": [0, 1, 2]}),
    "crosstab of sums": of("crosstab", "g", "h", keys={"g": GROUPS, "h": [0, 1, 2]}, values="x"),
    "covariance": of("covariance", ["x", "y"]),
    "regression": of("linear_regression", ["x"], target="y"),
    "mean vector": of("mean_vector", ["x", "y"]),
    "n_distinct": of("n_distinct", "g"),
    "groups' mean": by_group("mean", "x"),
    "groups' mean, pooled": by_group("mean", "x", pooled=True),
    "groups' mean, not pooled": by_group("mean", "x", pooled=False),
    "groups' sum": by_group("sum", "x"),
    "groups' sum, pooled": by_group("sum", "x", pooled=True),
    "groups' sum, not pooled": by_group("sum", "x", pooled=False),
    "groups' count": by_group("count"),
    "groups' median": by_group("median", "x"),
}
UNITS = {
    "rows": None,
    "persons": mo.unit_of("id"),
    "persons of three rows": mo.unit_of("id", max_rows=3),
    "persons' means": mo.unit_of("id", combine="mean"),
}
COSTS: dict[str, dict[str, Any]] = {
    "epsilon 1": {"epsilon": 1},
    "rho": {"rho": "0.125"},
    "epsilon 5": {"epsilon": 5},
    "epsilon 0.3": {"epsilon": "0.3"},
}


def asked(method: str, unit: str, cost: str) -> Callable[[pd.DataFrame], tuple[Any, ...]]:
    spent = COSTS[cost]
    budget = mo.zcdp(spent["rho"]) if "rho" in spent else mo.pure(spent["epsilon"])

    def ask(data: pd.DataFrame) -> tuple[Any, ...]:
        entropy = SeededEntropy(method + unit)
        curator = mo.Curator(data, budget=budget, unit=UNITS[unit], entropy=entropy)
        answer = METHODS[method](curator, spent)
        return answer, repr(curator), repr(curator.charges), str(curator.remaining)

    return ask


def unlike(method: str, unit: str, cost: str, first: str, others: Iterable[str]) -> list[str]:
    """What other tables show otherwise, given the outcomes of the first one."""
    ask = asked(method, unit, cost)
    known = seen(ask, TABLES[first])
    found = ((name, known.unlike(seen(ask, TABLES[name], known.outcomes))) for name in others)
    return [f"{first} and {name}: {told}" for name, told in found if told]


QUICK = (
    ("mean", "rows", "epsilon 1", "normal"),
    ("mean", "persons", "epsilon 1", "a few"),
    ("mean", "persons of three rows", "rho", "far group"),
    ("mean", "persons' means", "epsilon 1", "normal"),
    ("mean in a range", "rows", "epsilon 1", "skewed"),
    ("mean of the population", "rows", "epsilon 1", "normal"),
    ("mean of kept clusters", "rows", "rho", "normal"),
    ("weighted mean", "persons", "epsilon 1", "far group"),
    ("ratio", "rows", "epsilon 1", "normal"),
    ("sum", "rows", "epsilon 1", "normal"),
    ("sum in a range", "persons", "epsilon 1", "skewed"),
    ("count", "persons", "epsilon 1", "normal"),
    ("std", "rows", "epsilon 1", "skewed"),
    ("median", "persons", "rho", "normal"),
    ("quantiles", "rows", "epsilon 1", "normal"),
    ("iqr", "rows", "epsilon 1", "skewed"),
    ("max", "rows", "epsilon 1", "normal"),
    ("huber", "rows", "epsilon 1", "normal"),
    ("describe", "rows", "epsilon 5", "normal"),
    ("crosstab", "persons of three rows", "epsilon 1", "normal"),
    ("mean vector", "rows", "epsilon 1", "normal"),
    ("regression", "rows", "epsilon 1", "normal"),
    ("groups' mean, pooled", "rows", "epsilon 1", "skewed"),
    ("groups' mean, pooled", "persons", "epsilon 1", "a few"),
    ("groups' mean, not pooled", "persons", "epsilon 1", "skewed"),
    ("groups' sum, pooled", "persons", "epsilon 1", "normal"),
    ("groups' median", "rows", "epsilon 1", "normal"),
)
OTHERS = ("none", "a few", "normal", "far group")


@pytest.mark.parametrize(("method", "unit", "cost", "first"), QUICK)
def test_the_same_outcomes_show_the_same_of_any_table(method, unit, cost, first) -> None:
    assert unlike(method, unit, cost, first, OTHERS) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("unit", UNITS)
def test_every_verb_and_unit_shows_the_same_of_any_table(
    method, unit, record_property: Callable[[str, object], None]
) -> None:
    pairs = 0
    for cost, first in itertools.product(COSTS, ("a few", "normal", "far group", "skewed")):
        assert unlike(method, unit, cost, first, TABLES) == []
        pairs += len(TABLES)
    record_property("counted", f"{method} of {unit}: {pairs} pairs of tables show the same")


def test_a_true_number_that_is_shown_is_noticed() -> None:
    """Where a release, an error, a log line or a warning tells the number of rows."""

    def telling(tell: Callable[[int], Any]) -> str:
        def ask(data: pd.DataFrame) -> tuple[Any, ...]:
            answer = asked("mean", "rows", "epsilon 1")(data)
            return *answer, str(tell(len(data)))

        known = seen(ask, TABLES["normal"])
        return known.unlike(seen(ask, TABLES["skewed"], known.outcomes))

    def refuse(rows: int) -> None:
        if rows > 5000:
            raise mo.SourceError("too many")

    assert telling(lambda rows: None) == ""
    assert telling(lambda rows: rows).startswith("shown 4: ")
    assert telling(refuse).startswith("shown 0: ")
    assert telling(lambda rows: warnings.warn(f"{rows}", stacklevel=1)).startswith("warnings: ")
    assert telling(lambda rows: print(rows // 5000, file=sys.stderr)).startswith("printed: ")
    assert telling(lambda rows: logging.getLogger("x").warning(rows)).startswith("logged: ")
