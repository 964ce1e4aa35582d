"""An estimator's allowance: builds laws for a share of it and knows exactly what is left.

The same estimator runs in pure ε and in zCDP; only the laws differ. A pure purse uses the
discrete Laplace law and permute-and-flip, a concentrated one the discrete Gaussian law and the
exponential mechanism, whose bounded range is cheap there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from modicum.exact.lattice import Lattice
from modicum.mechanisms.additive import Additive
from modicum.mechanisms.exponential import Exponential, OctavePrior, S
from modicum.mechanisms.grids import FloatGrid, IntervalGrid, RadiusGrid, RangeWarp
from modicum.mechanisms.joint_quantiles import JointQuantiles, JointTerms
from modicum.mechanisms.level_sets import LevelScore, LinearLevelMechanism
from modicum.mechanisms.quantile_tree import NestedQuantiles, Node, RankedRecords
from modicum.mechanisms.scores import (
    IntervalScore,
    LossScore,
    MedianScore,
    RankScore,
    TargetScore,
    ThresholdScore,
    TopScore,
)
from modicum.mechanisms.selection import RadiusDraw, RadiusRanks, Selection
from modicum.mechanisms.subsampled import Members, Subsampled, amplified
from modicum.privacy.budget import Kind
from modicum.privacy.event import Event, PureDP, RangeDP
from modicum.statistics.nest import TreePlan, planned
from modicum.summaries.base import Integers
from modicum.summaries.second_moments import Norm

__all__ = ["Purse", "Use"]

Use = Literal["noise", "range", "subsample"]

_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(slots=True)
class Purse(ABC):
    """Allowance ``total`` (ε or ρ), of which ``left`` has not been promised to a law.

    A share is a fraction of the total; ``None`` means all that is left.
    """

    total: Fraction
    left: Fraction
    kind: ClassVar[Kind]
    selection: ClassVar[Selection]
    norm: ClassVar[Norm]

    @property
    @abstractmethod
    def scale(self) -> Fraction:
        """The ε that sets the scale of the noise: ε itself, or sqrt(2 ρ) rounded down."""

    def range_for(self, share: Fraction | None) -> Fraction:
        """Size η of the bounded-range event which a share buys."""
        return self._range_of(self.left if share is None else self.total * share)

    @abstractmethod
    def keeps(self, precision: float, share: Fraction) -> bool:
        """Whether what is left after a share buys that part of the precision of all of it."""

    @abstractmethod
    def share_for(self, strength: float, use: Use) -> Fraction:
        """Share that buys a strength, in units of :attr:`scale`.

        Strength s is noise as wide as Laplace noise of scale 1/s, or a bounded range of s, or a
        pure ε of s on a subsample; it is met or exceeded, by 2^-20 at most.
        """

    @property
    @abstractmethod
    def path_power(self) -> Fraction:
        """What is added up along a path of bounded ranges is ε to the power 1/p - 2."""

    @abstractmethod
    def _path_event(self, amount: Fraction) -> Event:
        """Event of draws whose bounded ranges cost an amount along every path."""

    @staticmethod
    @abstractmethod
    def _range_of(amount: Fraction) -> Fraction:
        """Size η of the bounded-range event which an amount of the currency buys."""

    @abstractmethod
    def _whole(self, amount: Fraction) -> Event:
        """Event that costs an amount to the last crumb, for a bounded range it buys."""

    @abstractmethod
    def _subsampled(self, share: Fraction) -> Fraction:
        """Size ε of the pure event which a share buys for a law on a subsample."""

    @abstractmethod
    def _additive(
        self,
        values: Iterable[int],
        sensitivity: int,
        amount: Fraction,
        weights: tuple[int, ...] | None = None,
    ) -> Additive:
        """Integers plus noise, of sizes 1/weight, for an amount of the currency."""

    def noisy(self, values: Iterable[int], *, sensitivity: int, share: Fraction | None) -> Additive:
        """Integers plus noise; ``sensitivity`` must bound their L1 and their L2 change."""
        amount = self.left if share is None else self.total * share
        mechanism = self._additive(values, sensitivity, amount)
        self._pay(mechanism.event)
        return mechanism

    def noise_sd(self, share: Fraction) -> float:
        """Return the standard deviation of the noise that a share buys for a count."""
        return math.sqrt(self._additive((0,), 1, self.total * share).noise[0].variance)

    def radii(
        self,
        outside: tuple[tuple[int, ...], ...],
        grid: RadiusGrid,
        *,
        tilt: Fraction,
        share: Fraction,
    ) -> RadiusDraw:
        """One radius a side."""
        mechanism = RadiusDraw(outside, grid, self.range_for(share), tilt, self.selection)
        self._pay(mechanism.event)
        return mechanism

    def ranks(
        self,
        records: Members,
        centre: int,
        grid: RadiusGrid,
        *,
        targets: tuple[int, ...],
        tilts: tuple[Fraction, ...],
        level: int,
        share: Fraction,
    ) -> Subsampled[tuple[int, ...]]:
        """Radii with about the targeted numbers of records of a subsample outside."""
        target = self._subsampled(share)
        each = amplified(target, level) / len(targets)
        template = RadiusRanks(_NOBODY, centre, grid, targets, tilts, each)
        mechanism = Subsampled(records, template, level, PureDP(target))
        self._pay(mechanism.event)
        return mechanism

    def centre(
        self, records: Members, lattice: Lattice, *, bits: int, level: int, share: Fraction
    ) -> Subsampled[int]:
        """Median on a floating-point grid, on a subsample of rate 2^-level."""
        target = self.range_for(share) if level == 0 else self._subsampled(share)
        nobody = MedianScore(_NOBODY, FloatGrid(bits), lattice.first, lattice.last)
        template = Exponential(nobody, amplified(target, level))
        event = template.event if level == 0 else PureDP(target)
        mechanism = Subsampled(records, template, level, event)
        self._pay(mechanism.event)
        return mechanism

    def rank(
        self,
        window: tuple[Integers, int, int],
        ends: tuple[int, int],
        *,
        q: Fraction,
        shift: int,
        cap: int,
        edge: int | None,
        share: Fraction | None,
        prior: OctavePrior | None = None,
    ) -> Exponential[RankScore]:
        """Integer between two ends near rank q n + shift.

        ``window`` holds the records around it, the number of those before, and n.
        """
        score = RankScore(*window, *ends, q, shift, cap, edge, prior)
        return self._exponential(score, share)

    def top(
        self, values: Integers, ends: tuple[int, int], prior: OctavePrior
    ) -> Exponential[TopScore]:
        """Integer between two ends that next to no record exceeds, for all that is left."""
        return self._exponential(TopScore(values, *ends, prior), None)

    def tree(self, qs: tuple[Fraction, ...], points: int, *, share: Fraction) -> TreePlan:
        """Divide a share along every path of a tree of quantiles."""
        return planned(qs, self.path_power, self.total * share, self._range_of, points)

    def nested(
        self,
        records: RankedRecords,
        ends: tuple[int, int],
        nodes: tuple[Node, ...],
        *,
        fine: int,
        share: Fraction,
    ) -> NestedQuantiles:
        """Quantiles whose nodes have this share, on every path."""
        event = self._path_event(self.total * share)
        mechanism = NestedQuantiles(records, *ends, fine, nodes, event)
        self._pay(event)
        return mechanism

    def joint(
        self,
        records: RankedRecords,
        ends: tuple[int, int],
        terms: JointTerms,
        *,
        fine: int,
        warp: RangeWarp,
        share: Fraction,
    ) -> JointQuantiles:
        """Quantiles and the number of records that they divide."""
        epsilon, event = self.range_for(share), self._path_event(self.total * share)
        mechanism = JointQuantiles(records, *ends, fine, terms, epsilon, event, warp)
        self._pay(event)
        return mechanism

    def threshold(
        self,
        lowest: Integers,
        ends: tuple[int, int],
        *,
        target: int,
        cap: int,
        share: Fraction,
    ) -> Exponential[ThresholdScore]:
        """Integer between two ends with about ``target`` records below it."""
        mechanism = Exponential(ThresholdScore(lowest, *ends, target, cap), self.range_for(share))
        self._pay(mechanism.event)
        return mechanism

    def level(
        self,
        ends: tuple[Integers, Integers],
        first: int,
        last: int,
        *,
        unit: int,
        share: Fraction | None,
    ) -> Exponential[LevelScore]:
        """Integer of [first, last] near the innermost of nested level sets.

        ``ends`` holds the lowest and highest of each; a record moves lengths by at most ``unit``.
        """
        return self._exponential(LevelScore(*ends, first, last), share, unit)

    def _exponential(self, score: S, share: Fraction | None, unit: int = 1) -> Exponential[S]:
        """Exponential mechanism; a record moves losses by at most ``unit`` times their span."""
        epsilon, event = self._bounded_range(share)
        mechanism = Exponential(score, epsilon / unit, event)
        self._pay(event)
        return mechanism

    def _bounded_range(self, share: Fraction | None) -> tuple[Fraction, Event]:
        """Size of the bounded range that a share buys, and what it is charged as."""
        if share is None:
            return self._range_of(self.left), self._whole(self.left)
        size = self.range_for(share)
        return size, RangeDP(size)

    def interval(
        self, scores: Integers, grid: IntervalGrid, *, doubt: int | None = None, share: Fraction
    ) -> Exponential[IntervalScore]:
        """Interval that holds most of a column, by its scores; or none, with a doubt."""
        return self._exponential(IntervalScore(scores, grid, doubt), share)

    def least_loss(
        self, losses: Integers, *, most: int, first: int, share: Fraction | None
    ) -> Exponential[LossScore]:
        """Candidate with nearly the least loss; a record adds up to ``most`` to each.

        ``first`` is the weight of the first one.
        """
        return self._exponential(LossScore(losses, most, first), share)

    def beyond(
        self, counts: tuple[int, ...], *, target: int, share: Fraction | None, unit: int = 1
    ) -> Exponential[TargetScore]:
        """Threshold with about ``target`` beyond it; a record moves counts by at most ``unit``."""
        return self._exponential(TargetScore(counts, target), share, unit)

    def weighted(
        self, values: tuple[int, ...], weights: tuple[int, ...], *, bound: int
    ) -> Additive:
        """Integers plus noise of sizes 1/weight, for all that is left.

        ``bound`` must bound the change in the weighted norm of :attr:`norm`.
        """
        mechanism = self._additive(values, bound, self.left, weights)
        self._pay(mechanism.event)
        return mechanism

    def linear_level(
        self, ends: tuple[Integers, Integers], lattice: Lattice, *, share: Fraction | None
    ) -> LinearLevelMechanism:
        """Lattice point near the innermost of nested level sets, the length linear in between."""
        epsilon, event = self._bounded_range(share)
        mechanism = LinearLevelMechanism(*ends, lattice.first, lattice.last, epsilon, event)
        self._pay(event)
        return mechanism

    def _pay(self, event: Event) -> None:
        self.left -= event.cost(self.kind).amount
        if self.left < 0:
            raise AssertionError("an estimator promised more than its budget")
