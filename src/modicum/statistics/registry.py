"""All statistics, every way to answer them, and the classes that their error models are made of.

The audit, the command line, the tests and stored releases read it. A statistic is a chapter with
rows of its own, a page in docs/research/proofs and a changelog fragment; a missing part fails a
test.
"""

from __future__ import annotations

from typing import Any

from modicum.mechanisms import additive, exponential, staircase
from modicum.papers import registry as papers
from modicum.statistics import bounds, contents, pooled_law, pooled_persons, population, regression
from modicum.statistics.inverse_sensitivity import LocationErrorModel, OneLocationErrorModel
from modicum.statistics.moments import CutOff, Moments
from modicum.statistics.outside import Counted, NoisyTerm, Outside
from modicum.statistics.spec import Declaration, Row, find_statistic, method_of
from modicum.statistics.standardised import ColumnState
from modicum.statistics.vector_rounds import VectorErrorModel
from modicum.summaries.second_moments import Scaling

STATISTICS: tuple[Declaration, ...] = tuple(find_statistic(name) for name in contents.CHAPTERS)
REGISTRY: tuple[Row[Any, Any], ...] = tuple(row for each in STATISTICS for row in each.rows)

_SHARED: tuple[type, ...] = (
    Counted,
    CutOff,
    Scaling,
    additive.GaussianNoise,
    ColumnState,
    additive.LaplaceNoise,
    regression.ListedFit,
    LocationErrorModel,
    OneLocationErrorModel,
    Moments,
    NoisyTerm,
    exponential.OctavePrior,
    Outside,
    pooled_persons.PersonGroupErrorModel,
    pooled_law.PooledErrorModel,
    bounds.Rough,
    population.Squares,
    staircase.StaircaseNoise,
    VectorErrorModel,
)
_OWN = dict.fromkeys(
    each for statistic in (*STATISTICS, *papers.STATISTICS) for each in statistic.error_model
)
ERROR_MODELS: tuple[type, ...] = (*_SHARED, *_OWN)


def find_row(statistic: str, method: str) -> Row[Any, Any]:
    """Look up a method of a statistic, and refuse one that does not exist."""
    return method_of([row for row in REGISTRY if row.statistic == statistic], method)
