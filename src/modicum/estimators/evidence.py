"""Every class that the evidence of a release is made of, so that a stored release can be read."""

from __future__ import annotations

from modicum.estimators.bounded import BoundedEvidence
from modicum.estimators.cdf import CdfEvidence
from modicum.estimators.clipping import Rough
from modicum.estimators.count import CountEvidence
from modicum.estimators.covariance import ComponentsEvidence, CovarianceEvidence
from modicum.estimators.extreme import ExtremeEvidence
from modicum.estimators.held_columns import HeldColumns
from modicum.estimators.histogram import HistogramEvidence
from modicum.estimators.iqr import RangeEvidence
from modicum.estimators.listed_fit import ListedFit
from modicum.estimators.location_evidence import LocationEvidence
from modicum.estimators.mean_evidence import (
    Counted,
    MeanEvidence,
    NoisyTerm,
    SingleValueEvidence,
)
from modicum.estimators.moments import CutOff, Moments
from modicum.estimators.outside import Outside
from modicum.estimators.own_vector import OwnVectorEvidence
from modicum.estimators.quantile import QuantileEvidence
from modicum.estimators.quantiles import CellCounts, QuantilesEvidence
from modicum.estimators.regression import RegressionEvidence
from modicum.estimators.subset_mean import SubsetEvidence
from modicum.estimators.sum_evidence import SumEvidence
from modicum.estimators.trimmed_evidence import TrimmedEvidence
from modicum.estimators.variance_evidence import ConstantEvidence, VarianceEvidence
from modicum.estimators.vector_evidence import VectorEvidence
from modicum.mechanisms.additive import GaussianNoise, LaplaceNoise
from modicum.mechanisms.exponential import OctavePrior
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
