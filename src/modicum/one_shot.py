"""Functions that release one statistic of a table, charged to an account of a ledger if asked.

Each is derived from the question of the same name when it is first asked for. What a type checker
and an editor show of them stands in ``one_shot.pyi``, which ``python -m tools.stubs`` writes.
"""

from __future__ import annotations

from typing import Any

from modicum.answering import function_of_a_table
from modicum.hints import did_you_mean
from modicum.questions import STATISTICS


def __getattr__(name: str) -> Any:
    if name not in EXAMPLES:
        raise AttributeError(f"modicum.one_shot has no {name!r}{did_you_mean(name, EXAMPLES)}")
    function = globals()[name] = function_of_a_table(name, EXAMPLES[name])
    return function


def __dir__() -> list[str]:
    return list(STATISTICS)


def _example(name: str, arguments: str, low: float, high: float) -> str:
    return f""">>> import numpy as np, modicum
>>> release = modicum.{name}(np.arange(20_000.0), {arguments}epsilon=1)
>>> {low} < release.value < {high}
True"""


EXAMPLES = {
    "mean": _example("mean", "within=(-1e9, 1e9), ", 9900, 10100),
    "mean_vector": """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.mean_vector(x, within=(-1e9, 1e9), rho="0.5")
>>> found.shape, found.values.round(-1).tolist()
((2,), [0.0, 500.0])""",
    "covariance": """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.covariance(x, within=(-1e6, 1e6), epsilon=1)
>>> found.shape, 5_000 < found[1, 1] < 12_000
((2, 2), True)""",
    "pca": """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> found = modicum.pca(x, components=1, within=(-1e6, 1e6), epsilon=1)
>>> abs(found.values.round(1)).tolist()
[[0.0, 1.0]]""",
    "linear_regression": """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, 500], [1, 100], size=(20_000, 2))
>>> x[:, 1] += 70 * x[:, 0]
>>> found = modicum.linear_regression(x, within=(-1e6, 1e6), epsilon=1)
>>> found.labels, 40 < found[1] < 100
(('intercept', 'column 0'), True)""",
    "clipped_mean_vector": """>>> import numpy as np, modicum
>>> x = np.random.default_rng(1).normal([3, -5], 1, size=(20_000, 2))
>>> found = modicum.clipped_mean_vector(x, within=(-1e9, 1e9), rho="0.5")
>>> found.shape, found.values.round(0).tolist()
((2,), [3.0, -5.0])""",
    "sum": _example("sum", "within=(-1e9, 1e9), ", 1.9e8, 2.1e8),
    "count": _example("count", "", 19900, 20100),
    "quantile": _example("quantile", "q=0.9, within=(-1e9, 1e9), ", 17_800, 18_200),
    "median": _example("median", "within=(-1e9, 1e9), ", 9800, 10200),
    "quantiles": """>>> import numpy as np, modicum
>>> found = modicum.quantiles(
...     np.arange(20_000.0), q=[0.25, 0.5, 0.75], within=(-1e9, 1e9), epsilon=1
... )
>>> found.values.round(-3).tolist()
[5000.0, 10000.0, 15000.0]""",
    "histogram": """>>> import numpy as np, modicum
>>> found = modicum.histogram(np.arange(20_000.0), edges=[0, 5000, 20_000], epsilon=1)
>>> found.values.round(-3).tolist()
[5000.0, 15000.0]""",
    "cdf": """>>> import numpy as np, modicum
>>> modicum.cdf(np.arange(20_000.0), points=[5000, 1e4], epsilon=1).values.round(2).tolist()
[0.25, 0.5]""",
    "var": _example("var", "within=(-1e9, 1e9), ", 3.2e7, 3.5e7),
    "std": _example("std", "within=(-1e9, 1e9), ", 5700, 5850),
    "iqr": _example("iqr", "within=(-1e9, 1e9), ", 9700, 10300),
    "max": _example("max", "within=(-1e9, 1e9), ", 18_000, 100_000),
    "min": _example("min", "within=(-1e9, 1e9), ", -80_000, 2_000),
    "expectile": _example("expectile", "tau=0.5, within=(-1e9, 1e9), ", 9900, 10100),
    "lp_center": _example("lp_center", "p=1.5, within=(-1e9, 1e9), ", 9900, 10100),
    "huber": _example("huber", "within=(-1e9, 1e9), ", 9900, 10100),
    "monotone_statistic": _example(
        "monotone_statistic",
        "statistic=modicum.Score('cube', lambda v: v**3, growth=3), within=(-1e9, 1e9), ",
        9500,
        10500,
    ),
    "vector_statistic": """>>> import numpy as np, modicum
>>> class Mean(modicum.Sensitivities):
...     name, labels = "mean", ("mean",)
...
...     def value(self, rows, lo, hi):
...         return rows.mean(axis=0) if len(rows) else np.array([(lo + hi) / 2])
...
...     def sensitivities(self, rows, lo, hi, levels):
...         return (hi - lo) / np.maximum(len(rows) - np.arange(levels), 1)
>>> x = np.arange(10_000.0)
>>> found = modicum.vector_statistic(x, statistic=Mean(), within=(0, 1e4), epsilon=1)
>>> found.labels, 4900 < found[0] < 5100
(('mean',), True)""",
    "trimmed_mean": _example("trimmed_mean", "trim=0.1, within=(-1e9, 1e9), ", 9900, 10100),
    "winsorized_mean": _example("winsorized_mean", "trim=0.1, within=(-1e9, 1e9), ", 9900, 10100),
}
