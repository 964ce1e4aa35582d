"""Functions that release one statistic of a table, charged to an account of a ledger if asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from modicum import request as ask
from modicum.curator import Curator
from modicum.derive import asked, dressed, released_as
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM
from modicum.frames.base import open_source
from modicum.frames.persons import check_unit, reader_of
from modicum.frames.reader import check_column, read_as
from modicum.paying import fitted
from modicum.privacy.ledger.book import Ledger
from modicum.privacy.unit import Unit, checked_unit
from modicum.recording import recorded
from modicum.release import Record
from modicum.runners.live import run
from modicum.runners.request import Query

__all__ = [
    "OneShot",
    "answered",
    "cdf",
    "clipped_mean_vector",
    "count",
    "covariance",
    "expectile",
    "histogram",
    "huber_location",
    "iqr",
    "linear_regression",
    "lp_location",
    "maximum",
    "mean",
    "mean_vector",
    "median",
    "minimum",
    "monotone",
    "pca",
    "quantile",
    "quantiles",
    "std",
    "sum",
    "trimmed_mean",
    "variance",
    "vector",
    "winsorized_mean",
]

P = ParamSpec("P")
R_co = TypeVar("R_co", bound=Record, covariant=True)
R = TypeVar("R", bound=Record)
Table = Any  # anything open_source accepts; engines are never imported here


class OneShot(Protocol[P, R_co]):
    """A function of a table, with a question's arguments, ``unit``, and who pays."""

    @overload
    def __call__(self, table: Table, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    @overload
    def __call__(self, table: Table, *args: Any, unit: Unit | None, **kwargs: Any) -> R_co: ...
    @overload
    def __call__(
        self,
        table: Table,
        *args: Any,
        unit: Unit | None = None,
        ledger: Ledger | str,
        account: str,
        key: str | None = None,
        **kwargs: Any,
    ) -> R_co: ...


def answered(question: Query[R], table: Table, unit: Unit, account: str) -> R:
    """Answer a question from a table; ``account`` says who counts what it costs."""
    source = open_source(table)
    check_column(source, question.place, question.lattice)
    requests = fitted({"answer": question}, source, question.budget.kind)
    check_unit(source, unit)
    walks = run(
        requests,
        reader_of(source, unit, [read_as(source, question.place, question.lattice)]),
        unit=unit,
        charge=lambda: None,
        entropy=SYSTEM,
    )
    return recorded(requests["answer"], walks["answer"], source, unit, account, SYSTEM)


def _one_shot(question: Callable[P, Query[R]], *, example: str) -> OneShot[P, R]:
    """Turn a request builder into a function of a table with the same arguments, and more."""

    def function(
        table: Table,
        *args: Any,
        unit: Unit | None = None,
        ledger: Ledger | str | None = None,
        account: str | None = None,
        key: str | None = None,
        **kwargs: Any,
    ) -> R:
        if ledger is not None:
            curator = Curator(table, unit=unit, ledger=ledger, account=account)
            curator = curator if key is None else curator.once(key)
            return curator.run(asked(question, "table, ", args, kwargs))
        if account is not None or key is not None:
            raise InvalidArgument("account= and key= need ledger=, the URL of a ledger")
        request, person = asked(question, "table, ", args, kwargs), checked_unit(unit)
        return answered(request, table, person, "not counted against any budget")

    derived: OneShot[P, R] = dressed(
        function, question, owner=None, returns=released_as(question), example=example
    )
    return derived


_EXAMPLE = """>>> import numpy as np, modicum
>>> release = modicum.{name}(np.arange(20_000.0), {arguments}epsilon=1)
>>> {low} < release.value < {high}
True"""

mean = _one_shot(
    ask.mean,
    example=_EXAMPLE.format(name="mean", arguments="within=(-1e9, 1e9), ", low=9900, high=10100),
)
mean_vector = _one_shot(
    ask.mean_vector,
    example=""">>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.mean_vector(x, within=(-1e9, 1e9), rho="0.5")
>>> found.shape, found.values.round(-1).tolist()
((2,), [0.0, 500.0])""",
)
covariance = _one_shot(
    ask.covariance,
    example=""">>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.covariance(x, within=(-1e6, 1e6), epsilon=1)
>>> found.shape, 5_000 < found[1, 1] < 12_000
((2, 2), True)""",
)
pca = _one_shot(
    ask.pca,
    example=""">>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.pca(x, components=1, within=(-1e6, 1e6), epsilon=1)
>>> abs(found.values.round(1)).tolist()
[[0.0, 1.0]]""",
)
linear_regression = _one_shot(
    ask.linear_regression,
    example=""">>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> x[:, 1] += 70 * x[:, 0]
>>> found = modicum.linear_regression(x, within=(-1e6, 1e6), epsilon=1)
>>> found.labels, 40 < found[1] < 100
(('intercept', 'column 0'), True)""",
)
clipped_mean_vector = _one_shot(
    ask.clipped_mean_vector,
    example=""">>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, -5], 1, size=(20_000, 2))
>>> found = modicum.clipped_mean_vector(x, within=(-1e9, 1e9), rho="0.5")
>>> found.shape, found.values.round(0).tolist()
((2,), [3.0, -5.0])""",
)
sum = _one_shot(
    ask.sum,
    example=_EXAMPLE.format(name="sum", arguments="within=(-1e9, 1e9), ", low=1.9e8, high=2.1e8),
)
count = _one_shot(
    ask.count, example=_EXAMPLE.format(name="count", arguments="", low=19900, high=20100)
)
quantile = _one_shot(
    ask.quantile,
    example=_EXAMPLE.format(
        name="quantile", arguments="q=0.9, within=(-1e9, 1e9), ", low=17_800, high=18_200
    ),
)
median = _one_shot(
    ask.median,
    example=_EXAMPLE.format(name="median", arguments="within=(-1e9, 1e9), ", low=9800, high=10200),
)
quantiles = _one_shot(
    ask.quantiles,
    example=""">>> import numpy as np, modicum
>>> found = modicum.quantiles(
...     np.arange(20_000.0), q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1
... )
>>> found.values.round(-3).tolist()
[5000.0, 10000.0, 15000.0]""",
)
histogram = _one_shot(
    ask.histogram,
    example=""">>> import numpy as np, modicum
>>> found = modicum.histogram(np.arange(20_000.0), edges=[0, 5000, 20_000], epsilon=1)
>>> found.values.round(-3).tolist()
[5000.0, 15000.0]""",
)
cdf = _one_shot(
    ask.cdf,
    example=""">>> import numpy as np, modicum
>>> modicum.cdf(np.arange(20_000.0), points=[5000, 1e4], epsilon=1).values.round(2).tolist()
[0.25, 0.5]""",
)
variance = _one_shot(
    ask.variance,
    example=_EXAMPLE.format(
        name="variance", arguments="within=(-1e9, 1e9), ", low=3.2e7, high=3.5e7
    ),
)
std = _one_shot(
    ask.std,
    example=_EXAMPLE.format(name="std", arguments="within=(-1e9, 1e9), ", low=5700, high=5850),
)
iqr = _one_shot(
    ask.iqr,
    example=_EXAMPLE.format(name="iqr", arguments="within=(-1e9, 1e9), ", low=9700, high=10300),
)
maximum = _one_shot(
    ask.maximum,
    example=_EXAMPLE.format(
        name="maximum", arguments="within=(-1e9, 1e9), ", low=18_000, high=100_000
    ),
)
minimum = _one_shot(
    ask.minimum,
    example=_EXAMPLE.format(
        name="minimum", arguments="within=(-1e9, 1e9), ", low=-80_000, high=2_000
    ),
)
expectile = _one_shot(
    ask.expectile,
    example=_EXAMPLE.format(
        name="expectile", arguments="tau=0.5, within=(-1e9, 1e9), ", low=9900, high=10100
    ),
)
lp_location = _one_shot(
    ask.lp_location,
    example=_EXAMPLE.format(
        name="lp_location", arguments="p=1.5, within=(-1e9, 1e9), ", low=9900, high=10100
    ),
)
huber_location = _one_shot(
    ask.huber_location,
    example=_EXAMPLE.format(
        name="huber_location", arguments="within=(-1e9, 1e9), ", low=9900, high=10100
    ),
)
monotone = _one_shot(
    ask.monotone,
    example=_EXAMPLE.format(
        name="monotone",
        arguments="statistic=modicum.Score('cube', lambda v: v**3, growth=3), within=(-1e9, 1e9), ",
        low=9500,
        high=10500,
    ),
)
vector = _one_shot(
    ask.vector,
    example=""">>> import numpy as np, modicum
>>> class Mean(modicum.Sensitivities):
...     name, labels = "mean", ("mean",)
...
...     def value(self, rows, lo, hi):
...         return rows.mean(axis=0) if len(rows) else np.array([(lo + hi) / 2])
...
...     def sensitivities(self, rows, lo, hi, levels):
...         return (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
>>> x = np.arange(10_000.0)
>>> found = modicum.vector(x, statistic=Mean(), within=(0, 1e4), epsilon=1)
>>> found.labels, 4900 < found[0] < 5100
(('mean',), True)""",
)
trimmed_mean = _one_shot(
    ask.trimmed_mean,
    example=_EXAMPLE.format(
        name="trimmed_mean", arguments="trim=0.1, within=(-1e9, 1e9), ", low=9900, high=10100
    ),
)
winsorized_mean = _one_shot(
    ask.winsorized_mean,
    example=_EXAMPLE.format(
        name="winsorized_mean", arguments="trim=0.1, within=(-1e9, 1e9), ", low=9900, high=10100
    ),
)
