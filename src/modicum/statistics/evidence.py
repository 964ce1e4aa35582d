"""Every class that the evidence of a release is made of, so that a stored release can be read."""

from __future__ import annotations

from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.exponential import OctavePrior
from modicum.statistics.bounded import BoundedEvidence
from modicum.statistics.bounds import Rough
from modicum.statistics.cdf import CdfEvidence
from modicum.statistics.count import CountEvidence
from modicum.statistics.covariance import ComponentsEvidence, CovarianceEvidence
from modicum.statistics.extreme import ExtremeEvidence
from modicum.statistics.histogram import HistogramEvidence
from modicum.statistics.inverse_sensitivity import LocationEvidence
from modicum.statistics.iqr import RangeEvidence
from modicum.statistics.listed_fit import ListedFit
from modicum.statistics.mean import MeanEvidence, SingleValueEvidence
from modicum.statistics.moments import CutOff, Moments
from modicum.statistics.outside import Counted, NoisyTerm, Outside
from modicum.statistics.own_vector import OwnVectorEvidence
from modicum.statistics.placed import HeldColumns
from modicum.statistics.quantile import QuantileEvidence
from modicum.statistics.quantiles import CellCounts, QuantilesEvidence
from modicum.statistics.regression import RegressionEvidence
from modicum.statistics.spread import ConstantEvidence, VarianceEvidence
from modicum.statistics.subset_mean import SubsetEvidence
from modicum.statistics.sum import SumEvidence
from modicum.statistics.trimmed import TrimmedEvidence
from modicum.statistics.vector_sum import VectorEvidence
from modicum.summaries.second_moments import Frame

__all__ = ["EVIDENCE"]

EVIDENCE: tuple[type, ...] = (
    BoundedEvidence,
    CdfEvidence,
    CellCounts,
    ComponentsEvidence,
    ConstantEvidence,
    CountEvidence,
    Counted,
    CovarianceEvidence,
    CutOff,
    ExtremeEvidence,
    Frame,
    GaussianNoise,
    HeldColumns,
    HistogramEvidence,
    LaplaceNoise,
    ListedFit,
    LocationEvidence,
    MeanEvidence,
    Moments,
    NoisyTerm,
    OctavePrior,
    Outside,
    OwnVectorEvidence,
    QuantileEvidence,
    QuantilesEvidence,
    RangeEvidence,
    RegressionEvidence,
    Rough,
    SingleValueEvidence,
    SubsetEvidence,
    SumEvidence,
    TrimmedEvidence,
    VarianceEvidence,
    VectorEvidence,
)
