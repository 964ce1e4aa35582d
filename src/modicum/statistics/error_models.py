"""Every class that error models are made of, so that a stored release can be read."""

from __future__ import annotations

from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.exponential import OctavePrior
from modicum.papers import registry as papers
from modicum.statistics.bounds import Rough
from modicum.statistics.inverse_sensitivity import LocationErrorModel
from modicum.statistics.moments import CutOff, Moments
from modicum.statistics.outside import Counted, NoisyTerm, Outside
from modicum.statistics.placed import HeldColumns
from modicum.statistics.registry import STATISTICS
from modicum.statistics.regression import ListedFit
from modicum.statistics.vector_rounds import VectorErrorModel
from modicum.summaries.second_moments import Scaling

_SHARED: tuple[type, ...] = (
    Counted,
    CutOff,
    Scaling,
    GaussianNoise,
    HeldColumns,
    LaplaceNoise,
    ListedFit,
    LocationErrorModel,
    Moments,
    NoisyTerm,
    OctavePrior,
    Outside,
    Rough,
    VectorErrorModel,
)
_OWN = dict.fromkeys(
    each for statistic in (*STATISTICS, *papers.STATISTICS) for each in statistic.error_model
)
ERROR_MODELS: tuple[type, ...] = (*_SHARED, *_OWN)
