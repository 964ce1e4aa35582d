"""Every question at every ε: the plain answer, or a refusal before the charge.

No error after the charge, nothing that takes seconds, and no answer with the code ok that is wrong
by ten of its half-widths: at an ε of a thousand laws underflow, and at one of 1e-3 all is noise.
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.errors import ModicumError
from modicum.exact.entropy import SeededEntropy
from modicum.releases.array_release import ArrayRelease
from modicum.releases.grouped_release import GroupedRelease
from modicum.releases.release import Release
from modicum.research.own_statistics.vector_statistic import MeanOfRange
from modicum.statistics.registry import STATISTICS

EPSILONS = ["1e-3", "1e-2", "30", "100", "300", "1e3", "1e4", "1e6"]
RHOS = ["1e-6", "1e3", "1e10"]
WIDE = (-1e9, 1e9)
KEYS = list(range(40))
RNG = np.random.default_rng(12)


def table_of(x: np.ndarray) -> pd.DataFrame:
    n, rng = len(x), np.random.default_rng(len(x))
    return pd.DataFrame(
        {
            "x": x,
            "y": 2 * x + rng.normal(0, x.std(), n),
            "w": rng.uniform(1, 3, n),
            "g": np.array(["a", "b", "c"])[rng.integers(0, 3, n)],
            "h": rng.integers(0, 40, n),
            "p": rng.integers(0, n // 3, n),
        }
    )


COLUMNS = {
    "usual": RNG.uniform(1, 1000, 2000),
    "rare ones": (RNG.random(2000) < 0.1) * 1.0,
    "fine": RNG.lognormal(0, 1, 2000) * 1e-7,
    "far away": RNG.normal(1e6, 3, 2000),
}
TABLES = {name: table_of(x) for name, x in COLUMNS.items()}


class Verb(NamedTuple):
    """A question of a table, and its plain answer where the tests know it."""

    ask: Callable[..., Any]
    truth: Callable[[pd.DataFrame], Any] | None = None
    column: str | None = "x"
    range: bool = True  # whether one may be given


def _of(name: str, truth: Callable[[np.ndarray], Any] | None = None, **options: Any) -> Verb:
    def plain(t: pd.DataFrame) -> Any:
        assert truth is not None
        return truth(t["x"].to_numpy())

    return Verb(
        lambda curator, **more: getattr(curator, name)("x", **options, **more),
        plain if truth else None,
    )


def _rows(name: str, truth: Callable[[np.ndarray], Any] | None = None, **options: Any) -> Verb:
    def plain(t: pd.DataFrame) -> Any:
        assert truth is not None
        return truth(t[["x", "y"]].to_numpy())

    return Verb(
        lambda curator, **more: getattr(curator, name)(["x", "y"], **options, **more),
        plain if truth else None,
    )


def _skewness(x: np.ndarray) -> float:
    return float(((x - x.mean()) ** 3).mean() / x.std() ** 3)


def _kept(x: np.ndarray, trim: float) -> np.ndarray:
    cut = int(trim * len(x))
    return np.sort(x)[cut : len(x) - cut]


def _zero_of(psi: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> float:
    lo, hi = float(x.min()), float(x.max())
    for _ in range(80):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if psi(x - middle).sum() > 0 else (lo, middle)
    return lo


def _between(x: np.ndarray, edges: list[float]) -> Any:
    return np.histogram(x, edges)[0]


EDGES, POINTS = [0.0, 250.0, 500.0, 1000.0], [250.0, 500.0]
BOUNDED = {"method": "bounded", "within": WIDE}
VERBS: dict[str, Verb] = {
    "count": Verb(lambda curator, **more: curator.count(**more), len, None, range=False),
    "mean": _of("mean", np.mean),
    "mean keep": _of("mean", np.mean, clusters="keep"),
    "mean population": _of("mean", np.mean, population=True),
    "mean subset": _of("mean", np.mean, method="subset"),
    "mean bounded": _of("mean", np.mean, **BOUNDED)._replace(range=False),
    "mean weighted": Verb(
        lambda curator, **more: curator.mean("x", weights="w", **more),
        lambda t: np.average(t["x"], weights=t["w"]),
    ),
    "sum": _of("sum", np.sum),
    "sum bounded": _of("sum", np.sum, **BOUNDED)._replace(range=False),
    "sum weighted": Verb(
        lambda curator, **more: curator.sum("x", weights="w", **more),
        lambda t: (t["x"] * t["w"]).sum(),
    ),
    "std": _of("std", np.std),
    "var": _of("var", np.var),
    "skewness": _of("skewness", _skewness),
    "geometric_mean": _of(
        "geometric_mean",
        lambda x: np.exp(np.log(np.maximum(x, 1e-9)).mean()),
        within=(1e-9, 1e9),
    )._replace(range=False),
    "ratio": Verb(
        lambda curator, **more: curator.ratio("y", "x", **more),
        lambda t: t["y"].sum() / t["x"].sum(),
        range=False,
    ),
    "median": _of("median", np.median),
    "quantile": _of("quantile", lambda x: np.quantile(x, 0.9), q=0.9),
    "quantiles": _of("quantiles", lambda x: np.quantile(x, [0.25, 0.5]), q=[0.25, 0.5]),
    "iqr": _of("iqr", lambda x: np.subtract(*np.quantile(x, [0.75, 0.25]))),
    "min": _of("min", np.min),
    "max": _of("max", np.max),
    "trimmed_mean": _of("trimmed_mean", lambda x: _kept(x, 0.1).mean(), trim=0.1),
    "winsorized_mean": _of(
        "winsorized_mean", lambda x: x.clip(_kept(x, 0.1)[0], _kept(x, 0.1)[-1]).mean(), trim=0.1
    ),
    "huber": _of("huber", lambda x: _zero_of(lambda v: v.clip(-1, 1), x), width=1),
    "expectile": _of(
        "expectile", lambda x: _zero_of(lambda v: np.where(v > 0, 0.7, 0.3) * v, x), tau=0.7
    ),
    "lp_center": _of(
        "lp_center",
        lambda x: _zero_of(lambda v: np.sign(v) * np.abs(v) ** 0.5, x),
        p=1.5,
        within=WIDE,
    )._replace(range=False),
    "monotone_statistic": _of(
        "monotone_statistic",
        np.mean,
        statistic=mo.Score("mean", lambda x: x, growth=1),
        within=WIDE,
    )._replace(range=False),
    "histogram": _of("histogram", lambda x: _between(x, EDGES), edges=EDGES)._replace(range=False),
    "histogram drawn": _of("histogram", bins=4),
    "cdf": _of("cdf", lambda x: [(x <= each).mean() for each in POINTS], points=POINTS)._replace(
        range=False
    ),
    "mean_vector": _rows("mean_vector", lambda x: x.mean(0)),
    "clipped_mean_vector": _rows("clipped_mean_vector"),
    "covariance": _rows("covariance", lambda x: np.cov(x.T, bias=True)),
    "pca": _rows("pca", components=1),
    "vector_statistic": Verb(
        lambda curator, **more: curator.vector_statistic(
            ["x"], statistic=MeanOfRange(), within=WIDE, **more
        ),
        range=False,
    ),
    "linear_regression": Verb(
        lambda curator, **more: curator.linear_regression(["x"], target="y", **more)
    ),
    "describe": Verb(lambda curator, **more: curator.describe(["x", "y"], **more), range=False),
    "value_counts": Verb(
        lambda curator, **more: curator.value_counts("g", keys=["a", "b"], **more), range=False
    ),
    "crosstab": Verb(
        lambda curator, **more: curator.crosstab("g", "h", keys=CELLS, margins=True, **more),
        range=False,
    ),
    "crosstab of sums": Verb(
        lambda curator, **more: curator.crosstab("g", "h", keys=CELLS, values="x", **more)
    ),
    "value_counts drawn": Verb(
        lambda curator, **more: curator.value_counts("h", key_budget=LABELS, **more), range=False
    ),
    "n_distinct": Verb(
        lambda curator, budget: curator.n_distinct("h", budget=mo.approx(budget.amount, "1e-6")),
        range=False,
    ),
}
CELLS = {"g": ["a", "b", "c"], "h": KEYS}
LABELS = mo.approx(1, "1e-6")
GROUPED = {
    "count": ((), lambda each: each.count()),
    "mean": (("x",), lambda each: each.mean()),
    "sum": (("x",), lambda each: each.sum()),
    "std": (("x",), lambda each: each.std(ddof=0)),
    "median": (("x",), lambda each: each.median()),
    "max": (("x",), lambda each: each.max()),
}


def _groups(name: str, by: str, keys: list[Any]) -> Verb:
    columns, truth = GROUPED[name]
    return Verb(
        lambda curator, **more: getattr(curator.group_by(by, keys=keys), name)(*columns, **more),
        lambda t: truth(t.groupby(by)["x"]).reindex(keys).to_numpy(),
        range=name != "count",
    )


VERBS |= {f"{name} of groups": _groups(name, "g", ["a", "b", "c"]) for name in GROUPED}
VERBS |= {f"{name} of many groups": _groups(name, "h", KEYS) for name in ("mean", "sum")}
OF_PERSONS = [  # the others have no way of their own for persons
    *("count", "mean", "sum", "std", "median", "max", "describe", "value_counts", "crosstab"),
    *("mean of groups", "sum of groups", "mean of many groups", "sum of many groups", "covariance"),
]


def test_every_statistic_is_asked() -> None:
    assert {each.name for each in STATISTICS} <= {*VERBS}


def numbers(release: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The values, half-widths and codes of an answer, ``None`` of a table's."""
    if isinstance(release, GroupedRelease):
        found = [numbers(release[key]) for key in release]
        return tuple(map(np.concatenate, zip(*found, strict=True)))  # type: ignore[arg-type]
    if not isinstance(release, Release | ArrayRelease):
        return None
    values, ends = np.ravel(getattr(release, "value", release)), release.interval()
    values = values if isinstance(release, Release) else np.ravel(release.values)
    half = np.ravel(ends.upper) / 2 - np.ravel(ends.lower) / 2  # a difference may be no float
    return values.astype(float), half, np.full(len(values), release.code)


def look(
    verb: Verb, table: pd.DataFrame, budget: mo.Budget, unit: mo.Unit | None, *, given: bool
) -> float:
    """Ask, judge the answer, and return the seconds of the processor that it took."""
    whole = budget if budget.concentrated else mo.approx(budget.amount + 2, "1e-3")
    curator = mo.Curator(
        table, budget=whole, unit=unit, entropy=SeededEntropy(repr((budget, given)))
    )
    arguments = {"budget": budget} | ({"within": WIDE} if given else {})
    before, start = curator.remaining, time.process_time()
    try:
        release = verb.ask(curator, **arguments)
    except ModicumError:
        assert curator.remaining == before, "an error after the charge"
        return 0.0
    assert str(release)
    assert release.to_json()
    took = time.process_time() - start
    found = None if verb.truth is None else numbers(release)
    if found is None:
        return took
    values, half, codes = found
    truth = np.ravel(verb.truth(table)).astype(float)  # type: ignore[misc]
    spread = max(np.abs(truth).max(), table["x"].std())
    off = np.abs(values - truth)
    lost = (codes == "ok") & (off / 10 > half) & (off > 0.01 * spread)
    assert not lost.any(), f"ok, but {values[lost]} ± {half[lost]} for {truth[lost]}"
    return took


BUDGETS = [mo.pure(each) for each in EPSILONS] + [mo.zcdp(each) for each in RHOS]
NEITHER = {"value_counts drawn", "n_distinct", "mean subset"}  # take no budget of ρ
ASKED = [
    pytest.param(verb, column, budget, id=f"{verb}-{column}-{budget}")
    for budget in BUDGETS
    for verb in VERBS
    for column in TABLES
    if not (budget.concentrated and verb in NEITHER)
]


@pytest.mark.one_in(40)
@pytest.mark.parametrize(("verb", "column", "budget"), ASKED)
def test_rows(verb: str, column: str, budget: mo.Budget, request: pytest.FixtureRequest) -> None:
    for given in {False, VERBS[verb].range}:
        took = look(VERBS[verb], TABLES[column], budget, None, given=given)
        # A quick test asserts no time: a machine may be busy.
        assert took < 2 or not request.node.get_closest_marker("slow")


@pytest.mark.one_in(40)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("column", TABLES)
@pytest.mark.parametrize("verb", OF_PERSONS)
def test_persons(verb: str, column: str, budget: mo.Budget) -> None:
    for given in {False, VERBS[verb].range}:
        look(VERBS[verb], TABLES[column], budget, mo.unit_of("p"), given=given)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [30, 100_000])
@pytest.mark.parametrize("verb", VERBS)
def test_few_and_many_rows(verb: str, rows: int) -> None:
    table = table_of(np.random.default_rng(rows).gamma(2, 300, rows))
    for budget in (mo.pure("1e-2"), mo.pure(300), mo.pure("1e6")):
        # Twice the time that is meant, as machines are busy.
        assert look(VERBS[verb], table, budget, None, given=False) < 4
