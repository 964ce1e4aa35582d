"""The chapter of each statistic, and those with a plan; written by ``python -m tools.stubs``."""

CHAPTERS = {
    "cdf": "histogram",
    "clipped_mean_vector": "mean_vector",
    "count": "count",
    "covariance": "covariance",
    "expectile": "location",
    "geometric_mean": "geometric_mean",
    "histogram": "histogram",
    "huber": "location",
    "iqr": "iqr",
    "linear_regression": "regression",
    "lp_center": "location",
    "max": "extreme",
    "mean": "mean",
    "mean_vector": "mean_vector",
    "median": "quantile",
    "min": "extreme",
    "monotone_statistic": "monotone",
    "pca": "covariance",
    "quantile": "quantile",
    "quantiles": "quantiles",
    "ratio": "ratio",
    "skewness": "skewness",
    "std": "spread",
    "sum": "sum",
    "trimmed_mean": "trimmed",
    "var": "spread",
    "vector_statistic": "vector_statistic",
    "winsorized_mean": "trimmed",
}
_UNPLANNED = ("ratio", "vector_statistic")
PLANNED = tuple(name for name in CHAPTERS if name not in _UNPLANNED)
