"""Every class that the evidence of a release is made of, so that a stored release can be read."""

from __future__ import annotations

from modicum.estimators.count import CountEvidence
from modicum.estimators.mean_evidence import (
    Counted,
    MeanEvidence,
    NoisyTerm,
    SingleValueEvidence,
)
from modicum.estimators.outside import Outside
from modicum.estimators.quantile import QuantileEvidence
from modicum.estimators.subset_mean import SubsetEvidence
from modicum.estimators.sum import SumEvidence
from modicum.mechanisms.noise import GaussianNoise, LaplaceNoise

__all__ = ["EVIDENCE"]

EVIDENCE: tuple[type, ...] = (
    CountEvidence,
    Counted,
    GaussianNoise,
    LaplaceNoise,
    MeanEvidence,
    NoisyTerm,
    Outside,
    QuantileEvidence,
    SingleValueEvidence,
    SubsetEvidence,
    SumEvidence,
)
