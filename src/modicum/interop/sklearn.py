"""Estimators for scikit-learn's pipelines (extra ``sklearn``).

They take scikit-learn's names and shapes, and differ where privacy asks for it: the price is given,
``epsilon`` or ``rho``; there is no seed; rows with a missing value are left out while fitting; and
no error depends on a value, so that empty data are fitted too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from modicum import one_shot
from modicum.errors import InvalidArgument
from modicum.frames.base import quiet
from modicum.interop.typed import typed
from modicum.privacy.budget import Number, chosen_budget, pure, zcdp
from modicum.release import Record
from modicum.statistics.covariance import ComponentsErrorModel

try:
    _base: Any = import_module("sklearn.base")
    _validation: Any = import_module("sklearn.utils.validation")
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "scikit-learn is missing: pip install 'modicum[sklearn]'"
    ) from missing

__all__ = ["PCA", "LinearRegression", "RobustScaler", "StandardScaler"]

Floats = NDArray[np.float64]
Range = tuple[float, float]


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

    def _range(self) -> Range:
        if self.within is None:
            raise InvalidArgument(
                "within is missing: any safe public range of all columns, such as (-1e6, 1e6); it "
                "need not be tight"
            )
        return self.within

    def _read(self, X: Any, *, reset: bool) -> Floats:
        """Return a table as floats, checked by its shape and its types alone."""
        with quiet():
            read: Floats = _validation.validate_data(
                self,
                typed(X),
                reset=reset,
                dtype=np.float64,
                ensure_all_finite=False,
                ensure_min_samples=0,
            )
        return read

    def _check_fitted(self) -> None:
        _validation.check_is_fitted(self)


class _Transformer(_base.TransformerMixin, _Private):  # type: ignore[misc]
    """A model that maps rows to rows."""


class LinearRegression(_base.RegressorMixin, _Private):  # type: ignore[misc]
    """Linear regression with no bounds to guess.

    Parameters
    ----------
    within : (float, float)
        A public range that surely holds every value of every column and of y, such as
        ``(-1e6, 1e6)``. It need not be tight.
    epsilon, rho : number
        Exactly one: the price of one fit, as pure ε or zCDP ρ.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    release_ : ArrayRelease
        The whole record, with intervals: ``release_.interval()``.

    Raises
    ------
    InvalidArgument
        Without a range, or without one price.

    Notes
    -----
    Guarantee: a fit is ε-DP (or ρ-zCDP) for add-remove neighbours; the number of rows is private
    too. Every fit costs the price again. Method and error are those of
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
        y : array of shape (n_samples,)

        Raises
        ------
        InvalidArgument, UnsupportedData, ValueError
            By arguments, shapes and types only.
        """
        rows, goal = self._read(X, reset=True), _goal(y)
        _validation.check_consistent_length(rows, goal)
        self.release_ = one_shot.linear_regression(
            np.column_stack([rows, goal]),
            within=self._range(),
            epsilon=self.epsilon,
            rho=self.rho,
        )
        values = self.release_.values
        self.intercept_, self.coef_ = float(values[0]), values[1:].copy()
        return self

    def predict(self, X: Any) -> Floats:
        """Return ``X @ coef_ + intercept_``, which costs nothing."""
        self._check_fitted()
        with quiet():
            predicted: Floats = self._read(X, reset=False) @ self.coef_ + self.intercept_
        return predicted


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
    components_ : array of shape (n_components_, n_features)
    explained_variance_, explained_variance_ratio_ : array of shape (n_components_,)
    mean_ : array of shape (n_features,)
    n_components_ : int
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
        self.n_components = n_components
        self.within = within
        self.epsilon = epsilon
        self.rho = rho

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit; errors as for :meth:`LinearRegression.fit`. ``y`` plays no part."""
        rows = self._read(X, reset=True)
        wanted = rows.shape[1] if self.n_components is None else self.n_components
        self.release_ = one_shot.pca(
            rows,
            components=wanted,
            within=self._range(),
            epsilon=self.epsilon,
            rho=self.rho,
        )
        error_model = self.release_.error_model
        assert isinstance(error_model, ComponentsErrorModel)
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
        """Project rows on the components, which costs nothing."""
        self._check_fitted()
        with quiet():
            projected: Floats = (self._read(X, reset=False) - self.mean_) @ self.components_.T
        return projected

    def inverse_transform(self, X: Any) -> Floats:
        """Return the points that projections stand for."""
        self._check_fitted()
        points: Floats = np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_
        return points


class _Scaler(_base.OneToOneFeatureMixin, _Transformer, ABC):  # type: ignore[misc]
    """A centre and a scale for each column, each at an equal part of the price."""

    def _fit_columns(
        self, X: Any, *questions: Callable[..., Record]
    ) -> tuple[tuple[Record, ...], ...]:
        """Ask each question of each column."""
        rows = self._read(X, reset=True)
        price = chosen_budget(self.epsilon, self.rho, None)
        part = Fraction(1, len(questions) * rows.shape[1])
        make = zcdp if price.kind == "zcdp" else pure
        budget = make(price.amount * part)
        return tuple(
            tuple(ask(column, within=self._range(), budget=budget) for column in rows.T)
            for ask in questions
        )

    def _set(
        self, centres: tuple[Record, ...], scales: tuple[Record, ...]
    ) -> tuple[Floats, Floats]:
        """Keep the records; a scale of 0 becomes 1."""
        self.releases_ = (*centres, *scales)
        centre, scale = (
            np.array([float(each) for each in found])  # type: ignore[arg-type]
            for found in (centres, scales)
        )
        return centre, np.where(scale > 0, scale, 1.0)

    @abstractmethod
    def _ends(self) -> tuple[Floats, Floats]:
        """Return the centres and the scales."""

    def transform(self, X: Any) -> Floats:
        """Centre and scale rows, which costs nothing."""
        self._check_fitted()
        rows = self._read(X, reset=False)
        centre, scale = self._ends()
        with quiet():
            scaled: Floats = (rows - centre) / scale
        return scaled

    def inverse_transform(self, X: Any) -> Floats:
        """Return scaled rows to their own units."""
        self._check_fitted()
        centre, scale = self._ends()
        rows: Floats = np.asarray(X, dtype=np.float64) * scale + centre
        return rows


class StandardScaler(_Scaler):
    """Columns less their mean, in units of their standard deviation.

    Parameters
    ----------
    within, epsilon, rho
        As for :class:`LinearRegression`; each of the 2 n_features numbers has an equal part.

    Attributes
    ----------
    mean_, scale_ : array of shape (n_features,)
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit; errors as for :meth:`LinearRegression.fit`. ``y`` plays no part."""
        self.mean_, self.scale_ = self._set(*self._fit_columns(X, one_shot.mean, one_shot.std))
        return self

    def _ends(self) -> tuple[Floats, Floats]:
        return self.mean_, self.scale_


class RobustScaler(_Scaler):
    """Columns less their median, in units of the distance of their quartiles.

    Parameters
    ----------
    within, epsilon, rho
        As for :class:`StandardScaler`.

    Attributes
    ----------
    center_, scale_ : array of shape (n_features,)
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit; errors as for :meth:`LinearRegression.fit`. ``y`` plays no part."""
        self.center_, self.scale_ = self._set(*self._fit_columns(X, one_shot.median, one_shot.iqr))
        return self

    def _ends(self) -> tuple[Floats, Floats]:
        return self.center_, self.scale_


def _goal(y: Any) -> Floats:
    """Read y by its shape and type alone."""
    if y is None:
        raise InvalidArgument("requires y to be passed, but the target y is None")
    with quiet():
        goal: Floats = _validation.column_or_1d(typed(y), dtype=np.float64, warn=True)
    return goal
