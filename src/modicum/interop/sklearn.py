"""Estimators for scikit-learn's pipelines (extra ``sklearn``).

They take scikit-learn's names and shapes, and differ where privacy requires it: the budget is
given, as ``epsilon`` or ``rho``; there is no seed; rows with a missing value are left out while
fitting; and no error depends on a value, so that empty data are fitted too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from modicum import errors
from modicum.api import one_shot
from modicum.privacy.budget import Number, chosen_budget
from modicum.releases.release import Record
from modicum.sources import base
from modicum.sources.engines import arrays

try:
    _base: Any = import_module("sklearn.base")
    _validation: Any = import_module("sklearn.utils.validation")
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("scikit-learn is missing: pip install scikit-learn") from missing

__all__ = ["PCA", "LinearRegression", "RobustScaler", "StandardScaler"]

Floats = NDArray[np.float64]
Range = tuple[float, float]

_WIDEST = 8  # bytes of a number


class _Private(_base.BaseEstimator):  # type: ignore[misc]
    """What all of them share: how they read tables, and what scikit-learn should know."""

    def __init__(
        self,
        *,
        within: Range | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
    ) -> None:
        self.within = within
        self.epsilon = epsilon
        self.rho = rho

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags

    def _arguments(self) -> dict[str, Any]:
        """Return what every query needs."""
        return {"within": self.within, "epsilon": self.epsilon, "rho": self.rho}

    def _read(self, X: Any, *, reset: bool) -> Floats:
        """Return a table as floats, checked by its shape and its types alone."""
        with base.suppress_warnings():
            read: Floats = _validation.validate_data(
                self,
                _typed(X),
                reset=reset,
                dtype=np.float64,
                ensure_all_finite=False,
                ensure_min_samples=0,
            )
        return read


class LinearRegression(_base.RegressorMixin, _Private):  # type: ignore[misc]
    """Linear regression with no bounds to guess.

    Parameters
    ----------
    within : (float, float), optional
        A public range certain to contain every value of every column and of y, such as
        ``(-1e6, 1e6)``. It need not be tight. By default one is found privately.
    epsilon, rho : number
        Exactly one: the cost of one fit, as pure ε or zCDP ρ.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The slopes.
    intercept_ : float
        What is predicted where all features are 0.
    release_ : ArrayRelease
        The whole record, with intervals: ``release_.interval()``.

    Raises
    ------
    InvalidArgument
        Without a range, or without one cost.

    Notes
    -----
    Guarantee: a fit is ε-DP (or ρ-zCDP) for add-remove neighbours; the number of rows is private
    too. Every fit costs its budget again. Method and error are those of
    :func:`modicum.query.linear_regression`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(5000, 3))
    >>> model = LinearRegression(within=(-1e6, 1e6), epsilon=1).fit(x, x @ [3, 2, 0] + 5)
    >>> model.predict([[0, 0, 0]]).shape, model.score(x, x @ [3, 2, 0] + 5) > 0.5
    ((1,), True)
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit; see the class for what it costs.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Array, data frame or list of rows, of numbers; rows with a missing value are left out.
        y : array of shape (n_samples,)
            The target.

        Returns
        -------
        LinearRegression
            Itself.

        Raises
        ------
        InvalidArgument, UnsupportedData, ValueError
            By arguments, shapes and types only.
        """
        rows, goal = self._read(X, reset=True), _goal(y)
        _validation.check_consistent_length(rows, goal)
        table = np.column_stack([rows, goal])
        self.release_ = one_shot.linear_regression(table, **self._arguments())
        values = self.release_.values
        self.intercept_, self.coef_ = float(values[0]), values[1:].copy()
        return self

    def predict(self, X: Any) -> Floats:
        """Return ``X @ coef_ + intercept_``, which costs nothing.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Array, data frame or list of rows, of numbers.

        Returns
        -------
        array of shape (n_samples,)
            Missing where a feature is.
        """
        _validation.check_is_fitted(self)
        with base.suppress_warnings():
            predicted: Floats = self._read(X, reset=False) @ self.coef_ + self.intercept_
        return predicted


class _Transformer(_base.TransformerMixin, _Private):  # type: ignore[misc]
    """A model that maps rows to rows."""


class PCA(_base.ClassNamePrefixFeaturesOutMixin, _Transformer):  # type: ignore[misc]
    """Principal components with no norm bound to guess.

    Parameters
    ----------
    n_components : int, optional
        By default as many as there are features.
    within, epsilon, rho
        As for :class:`LinearRegression`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Directions, of length 1 and orthogonal.
    explained_variance_, explained_variance_ratio_ : array of shape (n_components,)
        Along each of them; and as a share of all.
    mean_ : array of shape (n_features,)
        What :meth:`transform` subtracts.
    n_components_ : int
        How many there are.
    n_samples_ : int
        A noisy number.
    release_ : ArrayRelease
        The whole record; ``release_.status`` warns of components that may be noise.

    Notes
    -----
    Guarantee, method and error are those of :func:`modicum.query.pca`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(5000, 3)) * [9, 3, 1]
    >>> model = PCA(n_components=1, within=(-1e6, 1e6), epsilon=1).fit(x)
    >>> model.transform(x).shape, bool(model.components_[0, 0] > 0.9)
    ((5000, 1), True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        within: Range | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
    ) -> None:
        super().__init__(within=within, epsilon=epsilon, rho=rho)
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit; errors as for :meth:`LinearRegression.fit`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Array, data frame or list of rows, of numbers.
        y : None
            It plays no part.

        Returns
        -------
        PCA
            Itself.
        """
        rows = self._read(X, reset=True)
        wanted = rows.shape[1] if self.n_components is None else self.n_components
        self.release_ = one_shot.pca(rows, components=wanted, **self._arguments())
        error_model: Any = self.release_.error_model
        self.components_ = self.release_.values.copy()
        self.n_components_ = len(self.components_)
        self.mean_ = error_model.location
        self.explained_variance_ = error_model.explained_variance
        total = float(error_model.variances.sum())
        self.explained_variance_ratio_ = self.explained_variance_ / (total or 1.0)
        self.n_samples_ = error_model.moments.count
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Floats:
        """Project rows on the components, which costs nothing.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Array, data frame or list of rows, of numbers.

        Returns
        -------
        array of shape (n_samples, n_components)
            Coordinates along the components.
        """
        _validation.check_is_fitted(self)
        with base.suppress_warnings():
            projected: Floats = (self._read(X, reset=False) - self.mean_) @ self.components_.T
        return projected

    def inverse_transform(self, X: Any) -> Floats:
        """Return the points that projections stand for.

        Parameters
        ----------
        X : array of shape (n_samples, n_components)
            As :meth:`transform` returns it.

        Returns
        -------
        array of shape (n_samples, n_features)
            In the units of the features.
        """
        _validation.check_is_fitted(self)
        points: Floats = np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_
        return points


class _Scaler(_base.OneToOneFeatureMixin, _Transformer):  # type: ignore[misc]
    """A centre and a scale for each column, each at an equal part of the cost."""

    _centre: str  # the attribute that holds the centres
    _statistics: tuple[Callable[..., Record], Callable[..., Record]]  # for a centre, and a scale

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit; errors as for :meth:`LinearRegression.fit`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Array, data frame or list of rows, of numbers.
        y : None
            It plays no part.

        Returns
        -------
        StandardScaler or RobustScaler
            Itself.
        """
        rows = self._read(X, reset=True)
        part = chosen_budget(self.epsilon, self.rho, None).part(Fraction(1, 2 * rows.shape[1]))
        within = self._arguments()["within"]
        centres, scales = (
            tuple(statistic(column, within=within, budget=part) for column in rows.T)
            for statistic in self._statistics
        )
        self.releases_ = (*centres, *scales)
        centre, scale = (
            np.array([float(each) for each in found])  # type: ignore[arg-type]
            for found in (centres, scales)
        )
        setattr(self, self._centre, centre)
        self.scale_ = np.where(scale > 0, scale, 1.0)
        return self

    def transform(self, X: Any) -> Floats:
        """Centre and scale rows, which costs nothing.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Array, data frame or list of rows, of numbers.

        Returns
        -------
        array of shape (n_samples, n_features)
            Free of units.
        """
        _validation.check_is_fitted(self)
        rows = self._read(X, reset=False)
        with base.suppress_warnings():
            scaled: Floats = (rows - getattr(self, self._centre)) / self.scale_
        return scaled

    def inverse_transform(self, X: Any) -> Floats:
        """Return scaled rows to their own units.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            As :meth:`transform` returns it.

        Returns
        -------
        array of shape (n_samples, n_features)
            In the units of the features.
        """
        _validation.check_is_fitted(self)
        centre: Floats = getattr(self, self._centre)
        return np.asarray(X, dtype=np.float64) * self.scale_ + centre


class StandardScaler(_Scaler):
    """Columns less their mean, in units of their standard deviation.

    Parameters
    ----------
    within, epsilon, rho
        As for :class:`LinearRegression`; each of the 2 n_features numbers has an equal part.

    Attributes
    ----------
    mean_, scale_ : array of shape (n_features,)
        The means and standard deviations; a scale of 0 counts as 1.
    releases_ : tuple of Release
        The means, then the standard deviations.

    Notes
    -----
    They are those of :func:`modicum.mean` and :func:`modicum.std`; a missing value is left out of
    its own column only.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(5, 2, size=(5000, 2))
    >>> scaler = StandardScaler(within=(-1e6, 1e6), epsilon=4).fit(x)
    >>> scaler.mean_.round().tolist()
    [5.0, 5.0]
    """

    _centre = "mean_"
    _statistics = one_shot.mean, one_shot.std


class RobustScaler(_Scaler):
    """Columns less their median, in units of the distance of their quartiles.

    Parameters
    ----------
    within, epsilon, rho
        As for :class:`StandardScaler`.

    Attributes
    ----------
    center_, scale_ : array of shape (n_features,)
        The medians, and the distances of the quartiles; a scale of 0 counts as 1.
    releases_ : tuple of Release
        The medians, then the distances.

    Notes
    -----
    They are those of :func:`modicum.median` and :func:`modicum.iqr`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(5, 2, size=(5000, 2))
    >>> scaler = RobustScaler(within=(-1e6, 1e6), epsilon=4).fit(x)
    >>> scaler.center_.round().tolist()
    [5.0, 5.0]
    """

    _centre = "center_"
    _statistics = one_shot.median, one_shot.iqr


def _goal(y: Any) -> Floats:
    """Read y by its shape and type alone."""
    if y is None:
        raise errors.InvalidArgument("requires y to be passed, but the target y is None")
    with base.suppress_warnings():
        goal: Floats = _validation.column_or_1d(_typed(y), dtype=np.float64, warn=True)
    return goal


def _typed(X: Any) -> Any:
    """A table of numbers; its declared types and shape decide, and no value does.

    A list does not declare types, so its items are read as :func:`modicum.mean` reads those of a
    list: one that is not a number is missing.
    """
    if isinstance(X, list | tuple):
        return _listed(X)
    if isinstance(X, np.ma.MaskedArray):
        raise errors.UnsupportedData(
            "a masked array hides values: pass x.astype(float).filled(numpy.nan)"
        )
    if not hasattr(X, "dtype") and not hasattr(X, "dtypes"):
        if not hasattr(X, "__array__"):
            raise errors.UnsupportedData(
                f"cannot read a {type(X).__name__}: pass an array, a data frame or a list of rows"
            )
        X = np.asarray(X)
    types = [X.dtype] if hasattr(X, "dtype") else list(X.dtypes)
    if not all(_is_number(each) for each in types):
        raise errors.UnsupportedData(
            "a table of numbers is needed, of up to 64 bits each: convert others, text and objects "
            "beforehand"
        )
    return X


def _is_number(declared: Any) -> bool:
    """Whether a declared type holds numbers; scikit-learn refuses complex ones itself."""
    kind, size = getattr(declared, "kind", "O"), getattr(declared, "itemsize", 8)
    return kind == "c" or (kind in set("biuf") and size <= _WIDEST)


def _listed(items: list[Any] | tuple[Any, ...]) -> Floats:
    """Read a list of numbers, or of rows of one length."""
    rows = [isinstance(each, list | tuple) or getattr(each, "ndim", 0) == 1 for each in items]
    if not any(rows):
        return arrays.numbers_of(items)
    widths = {len(each) if is_row else -1 for each, is_row in zip(items, rows, strict=True)}
    if len(widths) > 1:
        raise errors.UnsupportedData("the rows of a list must all have the same length")
    flat = [x for row in items for x in (row.tolist() if hasattr(row, "tolist") else row)]
    return arrays.numbers_of(flat).reshape(len(items), widths.pop())
