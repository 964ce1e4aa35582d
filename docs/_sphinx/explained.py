"""The page that explains each public name of ``modicum``; its page of the reference links to it."""

BY_PAGE = {
    "start/notebook": "Releases",
    "start/tutorial": "Curator count sum __version__",
    "start/unit": "Unit unit_of",
    "questions/which": "audit",
    "questions/describe": "Description describe",
    "questions/mean": "mean",
    "questions/quantiles": "median quantile",
    "questions/spread": "iqr max min skewness std var",
    "questions/robust": ("expectile geometric_mean huber lp_center trimmed_mean winsorized_mean"),
    "questions/weights": "ratio",
    "questions/distribution": "cdf histogram",
    "questions/several-quantiles": "ArrayRelease Intervals quantiles",
    "questions/crosstab": "Crosstab ValueCounts crosstab n_distinct value_counts",
    "questions/groups": "GroupBy GroupedArrayRelease GroupedRelease",
    "questions/many-keys": "CountsFile counted",
    "questions/populations": "Difference",
    "questions/vectors": "clipped_mean_vector mean_vector",
    "questions/regression": "linear_regression",
    "questions/components": "covariance pca",
    "questions/monotone": "Boundaries Score monotone_statistic",
    "questions/own-vectors": "Sensitivities vector_statistic",
    "operate/budget": (
        "Budget Filter approx approx_to_zcdp composed parallel pure pure_to_approx pure_to_zcdp"
        " zcdp zcdp_to_approx"
    ),
    "operate/files": "csv_file excel_file",
    "operate/ledger": "Ledger",
    "operate/local": "local",
    "operate/publish": "PublishedTable",
    "operate/question-files": "query questions",
    "operate/shuffle": "shuffle",
    "reference/summary": "Interval Release",
    "reference/planning": "Query",
    "reference/errors": (
        "AccessDeniedError BudgetExceeded InvalidArgument KeyReusedError LedgerCorrupt LedgerError"
        " MissingColumn ModicumError ModicumWarning OutputError SourceError UnsupportedData"
    ),
    "research/theory": "theory",
    "start/accuracy": "plan",
}
EXPLAINED = {name: page for page, names in BY_PAGE.items() for name in names.split()}
