"""Methods of a curator and of its groups; written by ``python -m tools.stubs``."""

from collections.abc import Sequence
from typing import Literal

from modicum.privacy.budget import Budget, Number
from modicum.releases.array_release import ArrayRelease
from modicum.releases.grouped_release import GroupedArrayRelease, GroupedRelease
from modicum.releases.release import Release
from modicum.research.own_statistics.vector_statistic import Sensitivities
from modicum.statistics.ranges.split import Clusters
from modicum.statistics.robust.monotone_statistic import MonotoneStatistic

ONE_COLUMN: str

class Statistics:
    """The methods of a curator that release one statistic."""
    def cdf(
        self,
        column: str | None = None,
        *,
        points: Sequence[float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> ArrayRelease:
        """Release the share of values up to each of some public points.

        Parameters are those of :func:`modicum.cdf`.
        """

    def clipped_mean_vector(
        self,
        columns: Sequence[str] | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> ArrayRelease:
        """Release the means of several columns, with noise on the scale of the rows' distances from 0.

        Parameters are those of :func:`modicum.clipped_mean_vector`.
        """

    def count(
        self,
        column: str | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> Release:
        """Release the number of non-missing values of a column, or of rows.

        Parameters are those of :func:`modicum.count`.
        """

    def covariance(
        self,
        columns: Sequence[str] | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> ArrayRelease:
        """Release the covariance matrix of several columns, with no bounds to guess.

        Parameters are those of :func:`modicum.covariance`.
        """

    def expectile(
        self,
        column: str | None = None,
        *,
        tau: float,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> Release:
        """Release the τ-expectile of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.expectile`.
        """

    def geometric_mean(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> Release:
        """Release the geometric mean of a column of positive values, with no bounds to guess.

        Parameters are those of :func:`modicum.geometric_mean`.
        """

    def histogram(
        self,
        column: str | None = None,
        *,
        edges: Sequence[float] | None = None,
        bins: int | None = None,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> ArrayRelease:
        """Release the number of values in each bin, between public edges or between quantiles.

        Parameters are those of :func:`modicum.histogram`.
        """

    def huber(
        self,
        column: str | None = None,
        *,
        width: float | None = None,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> Release:
        """Release Huber's location of a column: a mean in which far records count as near ones.

        Parameters are those of :func:`modicum.huber`.
        """

    def iqr(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        between: tuple[Number, Number] = ("1/4", "3/4"),
        level: float | None = 0.95,
    ) -> Release:
        """Release the interquartile range of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.iqr`.
        """

    def linear_regression(
        self,
        columns: Sequence[str] | None = None,
        *,
        target: str | None = None,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        population: bool = False,
    ) -> ArrayRelease:
        """Release a linear regression of one column on others, with no bounds to guess.

        Parameters are those of :func:`modicum.linear_regression`.
        """

    def lp_center(
        self,
        column: str | None = None,
        *,
        p: float,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> Release:
        """Release the t with the least sum of ``|x - t|^p``, with no bounds to guess.

        Parameters are those of :func:`modicum.lp_center`.
        """

    def max(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> Release:
        """Release a point that next to no record of a column exceeds: its maximum, nearly.

        Parameters are those of :func:`modicum.max`.
        """

    def mean(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        method: Literal["adaptive", "subset", "bounded"] = "adaptive",
        clusters: Clusters = "clip",
        population: bool = False,
        weights: str | None = None,
    ) -> Release:
        """Release the mean of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.mean`.
        """

    def mean_vector(
        self,
        columns: Sequence[str] | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        method: Literal["adaptive", "shifted"] = "adaptive",
    ) -> ArrayRelease:
        """Release the means of several columns, with noise on the scale of the rows' own spread.

        Parameters are those of :func:`modicum.mean_vector`.
        """

    def median(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        population: bool = False,
    ) -> Release:
        """Release the median of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.median`.
        """

    def min(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> Release:
        """Release a point that next to no record of a column is below: its minimum, nearly.

        Parameters are those of :func:`modicum.min`.
        """

    def monotone_statistic(
        self,
        column: str | None = None,
        *,
        statistic: MonotoneStatistic,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
    ) -> Release:
        """Release a statistic supplied by you that never falls when a record is raised.

        Parameters are those of :func:`modicum.monotone_statistic`.
        """

    def pca(
        self,
        columns: Sequence[str] | None = None,
        *,
        components: int,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> ArrayRelease:
        """Release the leading principal components of several columns, with no bounds to guess.

        Parameters are those of :func:`modicum.pca`.
        """

    def quantile(
        self,
        column: str | None = None,
        *,
        q: Number,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        population: bool = False,
    ) -> Release:
        """Release the q-quantile of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.quantile`.
        """

    def quantiles(
        self,
        column: str | None = None,
        *,
        q: Sequence[Number],
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        population: bool = False,
    ) -> ArrayRelease:
        """Release several quantiles of a column at once, with no bounds to guess.

        Parameters are those of :func:`modicum.quantiles`.
        """

    def ratio(
        self,
        column: str,
        denominator: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> Release:
        """Release the ratio of the sums of two columns, with no bounds to guess.

        Parameters are those of :func:`modicum.ratio`.
        """

    def skewness(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> Release:
        """Release the skewness of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.skewness`.
        """

    def std(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> Release:
        """Release the standard deviation of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.std`.
        """

    def sum(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        method: Literal["adaptive", "bounded"] = "adaptive",
        clusters: Clusters = "clip",
        weights: str | None = None,
    ) -> Release:
        """Release the sum of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.sum`.
        """

    def trimmed_mean(
        self,
        column: str | None = None,
        *,
        trim: Number,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> Release:
        """Release a trimmed mean of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.trimmed_mean`.
        """

    def var(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> Release:
        """Release the variance of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.var`.
        """

    def vector_statistic(
        self,
        columns: Sequence[str] | None = None,
        *,
        statistic: Sensitivities,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> ArrayRelease:
        """Release a vector statistic supplied by you, with noise on the scale of its local sensitivity.

        Parameters are those of :func:`modicum.vector_statistic`.
        """

    def winsorized_mean(
        self,
        column: str | None = None,
        *,
        trim: Number,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> Release:
        """Release a winsorized mean of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.winsorized_mean`.
        """

class GroupStatistics:
    """The methods of groups that release one statistic of each."""
    def cdf(
        self,
        column: str | None = None,
        *,
        points: Sequence[float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedArrayRelease:
        """Release the share of values up to each of some public points.

        Parameters are those of :func:`modicum.cdf`.
        """

    def count(
        self,
        column: str | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> GroupedRelease:
        """Release the number of non-missing values of a column, or of rows.

        Parameters are those of :func:`modicum.count`.
        """

    def expectile(
        self,
        column: str | None = None,
        *,
        tau: float,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> GroupedRelease:
        """Release the τ-expectile of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.expectile`.
        """

    def geometric_mean(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> GroupedRelease:
        """Release the geometric mean of a column of positive values, with no bounds to guess.

        Parameters are those of :func:`modicum.geometric_mean`.
        """

    def histogram(
        self,
        column: str | None = None,
        *,
        edges: Sequence[float] | None = None,
        bins: int | None = None,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedArrayRelease:
        """Release the number of values in each bin, between public edges or between quantiles.

        Parameters are those of :func:`modicum.histogram`.
        """

    def huber(
        self,
        column: str | None = None,
        *,
        width: float | None = None,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> GroupedRelease:
        """Release Huber's location of a column: a mean in which far records count as near ones.

        Parameters are those of :func:`modicum.huber`.
        """

    def iqr(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        between: tuple[Number, Number] = ("1/4", "3/4"),
        level: float | None = 0.95,
    ) -> GroupedRelease:
        """Release the interquartile range of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.iqr`.
        """

    def lp_center(
        self,
        column: str | None = None,
        *,
        p: float,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> GroupedRelease:
        """Release the t with the least sum of ``|x - t|^p``, with no bounds to guess.

        Parameters are those of :func:`modicum.lp_center`.
        """

    def max(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedRelease:
        """Release a point that next to no record of a column exceeds: its maximum, nearly.

        Parameters are those of :func:`modicum.max`.
        """

    def mean(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        method: Literal["adaptive", "subset", "bounded"] = "adaptive",
        clusters: Clusters = "clip",
        population: bool = False,
        weights: str | None = None,
    ) -> GroupedRelease:
        """Release the mean of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.mean`.
        """

    def median(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        population: bool = False,
    ) -> GroupedRelease:
        """Release the median of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.median`.
        """

    def min(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedRelease:
        """Release a point that next to no record of a column is below: its minimum, nearly.

        Parameters are those of :func:`modicum.min`.
        """

    def monotone_statistic(
        self,
        column: str | None = None,
        *,
        statistic: MonotoneStatistic,
        within: tuple[float, float],
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        method: Literal["inverse-sensitivity", "subset"] = "inverse-sensitivity",
    ) -> GroupedRelease:
        """Release a statistic supplied by you that never falls when a record is raised.

        Parameters are those of :func:`modicum.monotone_statistic`.
        """

    def quantile(
        self,
        column: str | None = None,
        *,
        q: Number,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        population: bool = False,
    ) -> GroupedRelease:
        """Release the q-quantile of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.quantile`.
        """

    def quantiles(
        self,
        column: str | None = None,
        *,
        q: Sequence[Number],
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
        population: bool = False,
    ) -> GroupedArrayRelease:
        """Release several quantiles of a column at once, with no bounds to guess.

        Parameters are those of :func:`modicum.quantiles`.
        """

    def ratio(
        self,
        column: str,
        denominator: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
    ) -> GroupedRelease:
        """Release the ratio of the sums of two columns, with no bounds to guess.

        Parameters are those of :func:`modicum.ratio`.
        """

    def skewness(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedRelease:
        """Release the skewness of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.skewness`.
        """

    def std(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedRelease:
        """Release the standard deviation of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.std`.
        """

    def sum(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        method: Literal["adaptive", "bounded"] = "adaptive",
        clusters: Clusters = "clip",
        weights: str | None = None,
    ) -> GroupedRelease:
        """Release the sum of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.sum`.
        """

    def trimmed_mean(
        self,
        column: str | None = None,
        *,
        trim: Number,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> GroupedRelease:
        """Release a trimmed mean of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.trimmed_mean`.
        """

    def var(
        self,
        column: str | None = None,
        *,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
    ) -> GroupedRelease:
        """Release the variance of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.var`.
        """

    def winsorized_mean(
        self,
        column: str | None = None,
        *,
        trim: Number,
        within: tuple[float, float] | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        budget: Budget | None = None,
        step: float | None = None,
        level: float | None = 0.95,
    ) -> GroupedRelease:
        """Release a winsorized mean of a column, with no bounds to guess.

        Parameters are those of :func:`modicum.winsorized_mean`.
        """
