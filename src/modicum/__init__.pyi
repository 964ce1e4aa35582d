"""Instance-optimal differentially private statistics.

>>> import modicum as mo
>>> income = [31_000.0, 45_500.0, 28_250.0] * 5_000
>>> release = mo.mean(income, epsilon=1)
>>> 34_000 < release.value < 36_000
True
"""

from modicum import audit as audit
from modicum import plan as plan
from modicum import query as query
from modicum import questions as questions
from modicum.api.curator import Curator as Curator
from modicum.api.group_by import GroupBy as GroupBy
from modicum.api.one_shot import cdf as cdf
from modicum.api.one_shot import clipped_mean_vector as clipped_mean_vector
from modicum.api.one_shot import count as count
from modicum.api.one_shot import covariance as covariance
from modicum.api.one_shot import expectile as expectile
from modicum.api.one_shot import geometric_mean as geometric_mean
from modicum.api.one_shot import histogram as histogram
from modicum.api.one_shot import huber as huber
from modicum.api.one_shot import iqr as iqr
from modicum.api.one_shot import linear_regression as linear_regression
from modicum.api.one_shot import lp_center as lp_center
from modicum.api.one_shot import max as max
from modicum.api.one_shot import mean as mean
from modicum.api.one_shot import mean_vector as mean_vector
from modicum.api.one_shot import median as median
from modicum.api.one_shot import min as min
from modicum.api.one_shot import monotone_statistic as monotone_statistic
from modicum.api.one_shot import pca as pca
from modicum.api.one_shot import quantile as quantile
from modicum.api.one_shot import quantiles as quantiles
from modicum.api.one_shot import ratio as ratio
from modicum.api.one_shot import skewness as skewness
from modicum.api.one_shot import std as std
from modicum.api.one_shot import sum as sum
from modicum.api.one_shot import trimmed_mean as trimmed_mean
from modicum.api.one_shot import var as var
from modicum.api.one_shot import vector_statistic as vector_statistic
from modicum.api.one_shot import winsorized_mean as winsorized_mean
from modicum.api.table_answers import crosstab as crosstab
from modicum.api.table_answers import describe as describe
from modicum.api.table_answers import n_distinct as n_distinct
from modicum.api.table_answers import value_counts as value_counts
from modicum.api.tables.description import Description as Description
from modicum.api.tables.table_release import Crosstab as Crosstab
from modicum.api.tables.table_release import ValueCounts as ValueCounts
from modicum.errors import AccessDeniedError as AccessDeniedError
from modicum.errors import BudgetExceeded as BudgetExceeded
from modicum.errors import InvalidArgument as InvalidArgument
from modicum.errors import KeyReusedError as KeyReusedError
from modicum.errors import LedgerCorrupt as LedgerCorrupt
from modicum.errors import LedgerError as LedgerError
from modicum.errors import MissingColumn as MissingColumn
from modicum.errors import ModicumError as ModicumError
from modicum.errors import ModicumWarning as ModicumWarning
from modicum.errors import OutputError as OutputError
from modicum.errors import SourceError as SourceError
from modicum.errors import UnsupportedData as UnsupportedData
from modicum.interop.sklearn import PCA as PCA
from modicum.interop.sklearn import LinearRegression as LinearRegression
from modicum.interop.sklearn import RobustScaler as RobustScaler
from modicum.interop.sklearn import StandardScaler as StandardScaler
from modicum.privacy.accountant import Filter as Filter
from modicum.privacy.accountant import approx_to_zcdp as approx_to_zcdp
from modicum.privacy.accountant import composed as composed
from modicum.privacy.accountant import parallel as parallel
from modicum.privacy.accountant import pure_to_approx as pure_to_approx
from modicum.privacy.accountant import pure_to_zcdp as pure_to_zcdp
from modicum.privacy.accountant import zcdp_to_approx as zcdp_to_approx
from modicum.privacy.budget import Budget as Budget
from modicum.privacy.budget import approx as approx
from modicum.privacy.budget import pure as pure
from modicum.privacy.budget import zcdp as zcdp
from modicum.privacy.ledger.book import Ledger as Ledger
from modicum.privacy.unit import Unit as Unit
from modicum.privacy.unit import unit_of as unit_of
from modicum.protocols import local as local
from modicum.protocols import shuffle as shuffle
from modicum.query import Query as Query
from modicum.releases.array_release import ArrayRelease as ArrayRelease
from modicum.releases.array_release import Intervals as Intervals
from modicum.releases.counts_file import CountsFile as CountsFile
from modicum.releases.difference import Difference as Difference
from modicum.releases.grouped_release import GroupedArrayRelease as GroupedArrayRelease
from modicum.releases.grouped_release import GroupedRelease as GroupedRelease
from modicum.releases.publishing.table import PublishedTable as PublishedTable
from modicum.releases.release import Interval as Interval
from modicum.releases.release import Release as Release
from modicum.releases.several import Releases as Releases
from modicum.research import theory as theory
from modicum.research.own_statistics.vector_statistic import Sensitivities as Sensitivities
from modicum.sources.counted import counted as counted
from modicum.sources.files import csv_file as csv_file
from modicum.sources.files import excel_file as excel_file
from modicum.statistics.robust.monotone_statistic import Boundaries as Boundaries
from modicum.statistics.robust.monotone_statistic import Score as Score

__version__: str
__all__ = [
    "AccessDeniedError",
    "ArrayRelease",
    "Boundaries",
    "Budget",
    "BudgetExceeded",
    "CountsFile",
    "Crosstab",
    "Curator",
    "Description",
    "Difference",
    "Filter",
    "GroupBy",
    "GroupedArrayRelease",
    "GroupedRelease",
    "Interval",
    "Intervals",
    "InvalidArgument",
    "KeyReusedError",
    "Ledger",
    "LedgerCorrupt",
    "LedgerError",
    "MissingColumn",
    "ModicumError",
    "ModicumWarning",
    "OutputError",
    "PublishedTable",
    "Query",
    "Release",
    "Releases",
    "Score",
    "Sensitivities",
    "SourceError",
    "Unit",
    "UnsupportedData",
    "ValueCounts",
    "__version__",
    "approx",
    "approx_to_zcdp",
    "audit",
    "cdf",
    "clipped_mean_vector",
    "composed",
    "count",
    "counted",
    "covariance",
    "crosstab",
    "csv_file",
    "describe",
    "excel_file",
    "expectile",
    "geometric_mean",
    "histogram",
    "huber",
    "iqr",
    "linear_regression",
    "local",
    "lp_center",
    "max",
    "mean",
    "mean_vector",
    "median",
    "min",
    "monotone_statistic",
    "n_distinct",
    "parallel",
    "pca",
    "plan",
    "pure",
    "pure_to_approx",
    "pure_to_zcdp",
    "quantile",
    "quantiles",
    "query",
    "questions",
    "ratio",
    "shuffle",
    "skewness",
    "std",
    "sum",
    "theory",
    "trimmed_mean",
    "unit_of",
    "value_counts",
    "var",
    "vector_statistic",
    "winsorized_mean",
    "zcdp",
    "zcdp_to_approx",
]
