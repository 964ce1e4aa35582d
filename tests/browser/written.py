"""Pages that the library writes: reports of every kind of release, plans, records of notebooks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import modicum as mo
from modicum.privacy.budget import approx

_ROWS = 3000
_NOTEBOOK = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Record</title>'
    '<link rel="icon" href="data:,"><style>:root{{color-scheme:light dark}}'
    "body{{background:Canvas;color:CanvasText}}div.output{{overflow-x:auto}}</style></head>"
    '<body><h1>Record</h1><div class="output" tabindex="0">{}</div></body></html>'
)


def table() -> pd.DataFrame:
    """People of two regions; some names of groups are long, or look like HTML."""
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, _ROWS),
            "age": rng.integers(18, 90, _ROWS).astype(float),
            "rare": (rng.random(_ROWS) < 0.02).astype(float),
            "region": rng.choice(["north", "<b>south & east of the long river</b>"], _ROWS),
            "person": rng.integers(0, _ROWS // 3, _ROWS),
        }
    )


def records() -> dict[str, Callable[[], Any]]:
    """What makes each kind of record, by a name."""
    people = table()
    regions = ["north", "<b>south & east of the long river</b>"]
    both = ["income", "age"]

    def groups() -> Any:
        return mo.Curator(people, budget=mo.pure(9)).group_by("region", keys=regions)

    return {
        "mean": lambda: mo.mean(people, "income", epsilon=1),
        "mean-of-persons": lambda: mo.mean(people, "income", epsilon=5, unit=mo.unit_of("person")),
        "mean-too-few": lambda: mo.mean(people["income"].to_numpy()[:20], epsilon="0.01"),
        "mean-one-value": lambda: mo.mean(np.full(_ROWS, 7.0), within=(-1e9, 1e9), epsilon=1),
        "mean-rho": lambda: mo.mean(people, "age", within=(0, 120), rho="0.5"),
        "sum-approx": lambda: mo.sum(people, "income", budget=approx(1, "1e-6")),
        "count": lambda: mo.count(people, epsilon="0.1"),
        "median": lambda: mo.median(people, "income", epsilon=1),
        "ratio": lambda: mo.ratio(people, "income", "age", epsilon=1),
        "quantiles": lambda: mo.quantiles(people, "income", q=[0.1, 0.5, 0.9], epsilon=1),
        "histogram": lambda: mo.histogram(people, "age", edges=[*range(0, 121, 5)], epsilon=1),
        "cdf": lambda: mo.cdf(people, "rare", points=[0, 0.5, 1], epsilon=1),
        "mean-vector": lambda: mo.mean_vector(people, both, epsilon=1),
        "covariance": lambda: mo.covariance(people, both, epsilon=3),
        "regression": lambda: mo.linear_regression(people, ["age"], target="rare", epsilon=3),
        "groups": lambda: groups().mean("income", epsilon=1),
        "groups-of-arrays": lambda: groups().quantiles("age", q=[0.25, 0.75], epsilon=1),
        "value-counts": lambda: mo.value_counts(people, "region", keys=regions, epsilon=1),
        "crosstab": lambda: mo.crosstab(
            people, "region", "rare", keys={"region": regions, "rare": [0, 1]}, epsilon=1
        ),
        "describe": lambda: mo.describe(people, ["income", "age"], epsilon=3),
    }


def plans() -> dict[str, Callable[[], Any]]:
    """What makes plans, by a name: of every kind of data and of cost, and of ugly guesses."""
    wide = {"within": (-1e9, 1e9)}
    person = mo.unit_of("person")
    return {
        "mean": lambda: mo.plan.mean(sd=5e4, n=100_000, epsilon=1),
        "mean-found": lambda: mo.plan.mean(sd=5e4, n=20_000, error=500, shape="pareto"),
        "mean-tiny": lambda: mo.plan.mean(within=(0, 1e-6), sd=1e-9, n=50_000, rho="0.1"),
        "mean-huge": lambda: mo.plan.mean(sd=1e9, n=10**9, epsilon="1/3"),
        "mean-too-few": lambda: mo.plan.mean(**wide, sd=5e4, n=20, epsilon="0.1"),
        "mean-of-persons": lambda: mo.plan.mean(
            **wide, sd=5e4, n=1000, epsilon=1, unit=person, rows_each=3
        ),
        "count": lambda: mo.plan.count(budget=approx(1, "1e-6")),
        "histogram": lambda: mo.plan.histogram(edges=[0, 1e4, 1e5], sd=5e4, n=1000, epsilon=1),
        "huber": lambda: mo.plan.huber(**wide, sd=5e4, n=20_000, epsilon=1),
        "mean-vector": lambda: mo.plan.mean_vector(**wide, sd=[1, 9, 3], n=5000, rho="0.5"),
        "regression": lambda: mo.plan.linear_regression(sd=[12, 9], r2=0.5, n=3000, epsilon=1),
    }


def names() -> list[str]:
    """Names of all pages; that of one is its kind and what it is of."""
    plain = [f"record-{name}" for name in (*records(), "plan", "curator")]
    return [
        *(f"report-{name}" for name in records()),
        *plain,
        *(f"plan-{name}" for name in plans()),
    ]


def written(folder: Path, name: str) -> Path | None:
    """Write a page; ``None`` if a record of its kind has none."""
    kind, _, of = name.partition("-")
    path = folder / f"{name}.html"
    if kind == "plan":
        return plans()[of]().report(path)
    if of == "plan":
        return _record(path, mo.plan.count(epsilon=1))
    if of == "curator":
        return _record(path, mo.Curator(table(), budget=mo.pure(1)))
    record = records()[of]()
    if kind == "record":
        return _record(path, record)
    return record.report(path) if hasattr(record, "report") else None


def _record(path: Path, record: Any) -> Path:
    path.write_text(_NOTEBOOK.format(record._repr_html_()), "utf-8")
    return path
