"""What each verb is for, by task: the help of ``modicum`` alone."""

from __future__ import annotations

from collections.abc import Mapping

TASKS: Mapping[str, Mapping[str, str]] = {
    "get to know a table": {
        "describe": "every column: values, missing ones, means, quartiles, frequent labels",
        "check": "what the columns of a file hold, for its keeper only: not private",
    },
    "one column of numbers": {
        "count": "how many rows, or values",
        "sum": "total",
        "mean": "average; its noise follows the spread of the data",
        "median": "the middle: half of the values are below; few large ones do not move it",
        "quantile": "the value below which a share of the data lies",
        "quantiles": "several of them in one draw",
        "std": "standard deviation",
        "var": "variance",
        "iqr": "interquartile range: how wide the middle half is",
        "min": "smallest value, or one that few are below",
        "max": "largest value, or one that few are above",
    },
    "the shape of a column": {
        "histogram": "counts in bins, given or found",
        "cdf": "share of values up to every point",
        "skewness": "which side has the longer tail",
    },
    "averages for skewed or dirty columns": {
        "trimmed-mean": "mean without a share of the lowest and of the highest values",
        "winsorized-mean": "mean after pulling a share of both ends in",
        "huber": "a compromise between mean and median",
        "geometric-mean": "average of ratios and of growth; values above 0",
        "expectile": "a quantile that weighs by distance",
        "lp-center": "the point with the least p-th powers of distances",
    },
    "several columns": {
        "ratio": "sum of one column over the sum of another",
        "linear-regression": "a column as a linear function of others",
        "mean-vector": "means of several columns in one draw, with one error for all",
        "clipped-mean-vector": "the same, clipped about 0",
        "covariance": "covariance matrix",
        "pca": "principal components",
    },
    "labels and tables": {
        "value-counts": "how often each label of a column occurs",
        "n-distinct": "how many labels a column has",
        "crosstab": "counts or sums by two or more columns, with margins that add up",
    },
    "before and after": {
        "plan": "the error to expect, or the budget that it needs; reads no data",
        "run": "all questions of a file that others can review; --plan spends nothing",
        "report": "a page about a release, to read, print and sign",
        "ledger": "budgets that outlive a process: create, show, report, verify, grant, export",
        "completion": "a script that completes words in bash, zsh, fish and others",
    },
}


def by_task() -> str:
    """Return all verbs under their tasks."""
    width = max(len(verb) for verbs in TASKS.values() for verb in verbs)
    return "\n\n".join(
        "\n".join([f"{task}:", *(f"  {verb:<{width}}  {text}" for verb, text in verbs.items())])
        for task, verbs in TASKS.items()
    )


def words_of(verb: str) -> str:
    """Return what a verb is for."""
    return next(verbs[verb] for verbs in TASKS.values() if verb in verbs)
