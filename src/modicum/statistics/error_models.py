"""Every class that error models are made of, so that a stored release can be read."""

from __future__ import annotations

from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.exponential import OctavePrior
from modicum.statistics.bounded import BoundedErrorModel
from modicum.statistics.bounds import Rough
from modicum.statistics.cdf import CdfErrorModel
from modicum.statistics.count import CountErrorModel
from modicum.statistics.covariance import ComponentsErrorModel, CovarianceErrorModel
from modicum.statistics.extreme import ExtremeErrorModel
from modicum.statistics.histogram import HistogramErrorModel
from modicum.statistics.inverse_sensitivity import LocationErrorModel
from modicum.statistics.iqr import RangeErrorModel
from modicum.statistics.listed_fit import ListedFit
from modicum.statistics.mean import MeanErrorModel, SingleValueErrorModel
from modicum.statistics.moments import CutOff, Moments
from modicum.statistics.outside import Counted, NoisyTerm, Outside
from modicum.statistics.own_vector import OwnVectorErrorModel
from modicum.statistics.placed import HeldColumns
from modicum.statistics.quantile import QuantileErrorModel
from modicum.statistics.quantiles import CellCounts, QuantilesErrorModel
from modicum.statistics.regression import RegressionErrorModel
from modicum.statistics.spread import ConstantErrorModel, VarianceErrorModel
from modicum.statistics.subset_mean import SubsetErrorModel
from modicum.statistics.sum import SumErrorModel
from modicum.statistics.trimmed import TrimmedErrorModel
from modicum.statistics.vector_sum import VectorErrorModel
from modicum.summaries.second_moments import Frame

__all__ = ["ERROR_MODELS"]

ERROR_MODELS: tuple[type, ...] = (
    BoundedErrorModel,
    CdfErrorModel,
    CellCounts,
    ComponentsErrorModel,
    ConstantErrorModel,
    CountErrorModel,
    Counted,
    CovarianceErrorModel,
    CutOff,
    ExtremeErrorModel,
    Frame,
    GaussianNoise,
    HeldColumns,
    HistogramErrorModel,
    LaplaceNoise,
    ListedFit,
    LocationErrorModel,
    MeanErrorModel,
    Moments,
    NoisyTerm,
    OctavePrior,
    Outside,
    OwnVectorErrorModel,
    QuantileErrorModel,
    QuantilesErrorModel,
    RangeErrorModel,
    RegressionErrorModel,
    Rough,
    SingleValueErrorModel,
    SubsetErrorModel,
    SumErrorModel,
    TrimmedErrorModel,
    VarianceErrorModel,
    VectorErrorModel,
)
