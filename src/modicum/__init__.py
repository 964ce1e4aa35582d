"""Instance-optimal differentially private statistics.

>>> import modicum as mo
>>> income = [31_000.0, 45_500.0, 28_250.0] * 5_000
>>> release = mo.mean(income, epsilon=1)
>>> 34_000 < release.value < 36_000
True
"""

from importlib import import_module

from modicum.statistics.contents import CHAPTERS
from modicum.version import VERSION

__version__ = VERSION

_SUBMODULES = {
    **dict.fromkeys(("audit", "plan", "query", "questions"), "modicum"),
    **dict.fromkeys(("local", "shuffle"), "modicum.protocols"),
    "theory": "modicum.research",
}
_HOMES = {
    "modicum.api.table_answers": {"crosstab", "describe", "n_distinct", "value_counts"},
    "modicum.releases.array_release": {"ArrayRelease", "Intervals"},
    "modicum.releases.counts_file": {"CountsFile"},
    "modicum.api.curator": {"Curator"},
    "modicum.api.tables.description": {"Description"},
    "modicum.releases.difference": {"Difference"},
    "modicum.errors": {
        "AccessDeniedError",
        "BudgetExceeded",
        "InvalidArgument",
        "KeyReusedError",
        "LedgerCorrupt",
        "LedgerError",
        "MissingColumn",
        "ModicumError",
        "ModicumWarning",
        "OutputError",
        "SourceError",
        "UnsupportedData",
    },
    "modicum.sources.counted": {"counted"},
    "modicum.sources.files": {"csv_file", "excel_file"},
    "modicum.api.group_by": {"GroupBy"},
    "modicum.releases.grouped_release": {"GroupedArrayRelease", "GroupedRelease"},
    "modicum.api.one_shot": {*CHAPTERS},
    "modicum.privacy.accountant": {
        "Filter",
        "approx_to_zcdp",
        "composed",
        "parallel",
        "pure_to_approx",
        "pure_to_zcdp",
        "zcdp_to_approx",
    },
    "modicum.privacy.budget": {"Budget", "approx", "pure", "zcdp"},
    "modicum.privacy.ledger.book": {"Ledger"},
    "modicum.privacy.unit": {"Unit", "unit_of"},
    "modicum.releases.publishing.table": {"PublishedTable"},
    "modicum.releases.release": {"Interval", "Release"},
    "modicum.releases.several": {"Releases"},
    "modicum.api.tables.table_release": {"Crosstab", "ValueCounts"},
    "modicum.query": {"Query"},
    "modicum.statistics.robust.monotone_statistic": {"Boundaries", "Score"},
    "modicum.research.own_statistics.vector_statistic": {"Sensitivities"},
}
# Not in __all__: they need the extra, and `from modicum import *` does not.
_EXTRAS = {"modicum.interop.sklearn": {"LinearRegression", "PCA", "RobustScaler", "StandardScaler"}}
_CLASSES = {"BudgetExceeded", "Curator", "InvalidArgument", "Ledger", "ModicumError"}

_ELSEWHERE = {
    "read_excel": "excel_file(path, sheet='2026') reads a sheet, and a path alone the first one",
    "read_parquet": "pass the path in place of a table",
    "sql": "pass what duckdb.sql(...) selects in place of a table",
    "check": "`modicum check FILE` on the command line says how a file can be read",
    "from_json": "the kind of record reads it, as modicum.Release.from_json(text)",
}  # of what is not in Python, or is a method

__all__ = [*sorted({"__version__", *_SUBMODULES}.union(*_HOMES.values()))]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that ``import modicum`` is free."""
    if name in _SUBMODULES:
        value = globals()[name] = import_module(f"{_SUBMODULES[name]}.{name}")
        return value
    for module, names in (_HOMES | _EXTRAS).items():
        if name in names:
            value = globals()[name] = getattr(import_module(module), name)
            return value
    if name in _ELSEWHERE:
        raise AttributeError(f"module 'modicum' has no attribute {name!r}: {_ELSEWHERE[name]}")
    meant = ""
    if not name.startswith("_"):  # for example __path__, which Python looks up
        from modicum.errors import did_you_mean

        meant = did_you_mean(name, __all__)
    raise AttributeError(f"module 'modicum' has no attribute {name!r}{meant}")


def __dir__() -> list[str]:
    """Names that a user calls or catches; types of answers and rare errors are there too."""
    called = (name for name in __all__ if name[0].islower())
    return [*called, *_CLASSES.union(*_EXTRAS.values())]
