"""Estimators for scikit-learn's pipelines; skipped where it is missing."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install scikit-learn (make test-sklearn does)")

from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import modicum as mo
from modicum.api import answering
from modicum.errors import InvalidArgument, UnsupportedData
from modicum.exact.entropy import SeededEntropy

WITHIN = (-1e6, 1e6)
RNG = np.random.default_rng(3)
X = RNG.normal([5, -100, 0.01], [2, 10, 0.001], size=(4000, 3))
Y = 3 + X @ [2, 0.5, 1000] + RNG.normal(size=4000)
MODELS = (mo.LinearRegression, mo.PCA, mo.StandardScaler, mo.RobustScaler)


class Repeatable(SeededEntropy):
    """Repeats itself, and yet makes releases as a user sees them."""

    secret = True


@pytest.fixture(autouse=True)
def repeatable(monkeypatch):
    monkeypatch.setattr(answering, "SYSTEM", Repeatable("sklearn"))


# Checks of scikit-learn that this library fails on purpose.
ON_VALUES = {
    "check_estimators_empty_data_messages": "the number of rows is private: no error tells it",
    "check_supervised_y_no_nan": "an error that depends on a value would tell it",
    "check_dtype_object": "objects are refused by their type, not converted one by one",
}
ON_CHANCE = {
    "check_fit_idempotent": "two fits have different noise",
    "check_regressor_data_not_an_array": "two fits have different noise",
    "check_regressors_int": "two fits have different noise",
    "check_supervised_y_2d": "two fits have different noise",
}
ON_NAMES = {
    "check_estimator_sparse_array": "sets an argument of scikit-learn's class of that name",
    "check_estimator_sparse_matrix": "sets an argument of scikit-learn's class of that name",
}


@pytest.mark.parametrize("model", MODELS)
def test_the_checks_of_scikit_learn(model) -> None:
    """At a cost at which the noise does not hide a mistake."""
    expected = ON_VALUES | ON_CHANCE | (ON_NAMES if model is mo.StandardScaler else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            model(within=WITHIN, epsilon=1000), expected_failed_checks=expected, on_skip=None
        )
    assert {each["check_name"] for each in results if each["status"] == "failed"} == set()


def test_a_regression_of_diabetes_without_bounds() -> None:
    x, y = load_diabetes(return_X_y=True)
    scores = [
        mo.LinearRegression(within=WITHIN, epsilon=1).fit(x, y).score(x, y) for _ in range(25)
    ]
    assert np.median(scores) > 0


def test_a_regression_has_its_record() -> None:
    model = mo.LinearRegression(within=WITHIN, rho=2).fit(X, Y)
    assert model.coef_ == pytest.approx([2, 0.5, 1000], rel=0.2)
    assert model.release_.unit == mo.Unit()
    assert model.release_.labels[0] == "intercept"
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


def test_components_have_variances() -> None:
    model = mo.PCA(n_components=2, within=WITHIN, epsilon=2).fit(X)
    assert abs(model.components_[0, 1]) > 0.9
    assert model.explained_variance_[0] == pytest.approx(100, rel=0.5)
    assert 0 < model.explained_variance_ratio_.sum() <= 1
    assert model.inverse_transform(model.transform(X)).shape == X.shape
    assert model.n_samples_ == pytest.approx(4000, rel=0.1)
    assert list(model.get_feature_names_out()) == ["pca0", "pca1"]


def test_scalers_and_a_pipeline() -> None:
    for scaler in (mo.StandardScaler, mo.RobustScaler):
        scaled = scaler(within=WITHIN, epsilon=20).fit_transform(X)
        assert np.abs(np.median(scaled, axis=0)).max() < 0.2
        assert 0.3 < scaled.std(axis=0).min() < scaled.std(axis=0).max() < 2
    steps = make_pipeline(
        mo.StandardScaler(within=WITHIN, epsilon=20), mo.LinearRegression(within=WITHIN, epsilon=5)
    )
    assert clone(steps).fit(X, Y).score(X, Y) > 0.5


def test_the_cost_of_a_scaler_adds_up() -> None:
    scaler = mo.StandardScaler(within=WITHIN, epsilon="0.7").fit(X)
    assert sum(each.event.epsilon for each in scaler.releases_) == mo.pure("0.7").amount


@pytest.mark.parametrize("model", MODELS)
def test_values_cause_no_error(model) -> None:
    bad = X[:50].copy()
    bad[::2], bad[1] = np.nan, np.inf
    for rows in (bad, X[:0], X[:1], np.full((9, 3), 1e308)):
        fitted = model(within=WITHIN, epsilon=1).fit(rows, np.ones(len(rows)))
        ask = fitted.predict if model is mo.LinearRegression else fitted.transform
        assert np.isfinite(ask(X[:3])).all()


ODD = [None, "text", 2**70, 10**400, -(10**400), float("inf"), 1j, [3], {}, True, b"1", 1e308]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:12])
def test_no_item_of_a_list_decides_about_an_error(model, odd) -> None:
    rows = [[i, i % 7] for i in range(30)]
    goal = [float(i) for i in range(30)]
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for x, y in (
            ([*rows, [odd, 1]], [*goal, 1]),
            ((*map(tuple, rows), (1, odd)), [*goal, 1]),
            ([*map(np.array, rows), [odd, 1]], [*goal, 1]),
            ([[odd, odd]] * 30, goal),
            (rows, [*goal[:-1], None if isinstance(odd, list) else odd]),  # a list is a shape
        ):
            fitted = model(within=WITHIN, epsilon=1).fit(x, y)
            ask = fitted.predict if model is mo.LinearRegression else fitted.transform
            ask(x)


@pytest.mark.parametrize("model", MODELS)
def test_a_list_is_read_as_the_same_array(model, monkeypatch) -> None:
    rows = [[float(a), None if i == 3 else float(b)] for i, (a, b, _) in enumerate(X[:200])]
    plain = np.array([[np.nan if x is None else x for x in row] for row in rows])
    fits = []
    for x in (rows, plain):
        monkeypatch.setattr(answering, "SYSTEM", Repeatable("list"))
        fits.append(model(within=WITHIN, epsilon=5).fit(x, Y[:200].tolist()))
    ask = [fit.predict if model is mo.LinearRegression else fit.transform for fit in fits]
    assert np.array_equal(ask[0](rows), ask[1](plain), equal_nan=True)


@pytest.mark.parametrize("model", MODELS)
def test_what_hides_values_or_is_too_wide_is_refused_by_its_type(model) -> None:
    for small in (1.0, 1e300):
        rows = np.full((20, 2), small)
        hidden = np.ma.masked_array(rows, mask=rows > 2)
        refused = [hidden, rows.astype(object), iter(rows), {"a": 1}]
        if np.longdouble(0).itemsize > 8:
            refused.append(rows.astype(np.longdouble) * 10)
        for x in refused:
            with pytest.raises(UnsupportedData):
                model(within=WITHIN, epsilon=1).fit(x, np.ones(20))
        with pytest.raises(UnsupportedData):
            mo.LinearRegression(within=WITHIN, epsilon=1).fit(rows, hidden[:, 0])


def test_a_signalling_nan_warns_nobody() -> None:
    rows = np.ones((30, 2), np.float32)
    rows.view(np.uint32)[3, 1] = 0x7F800001
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        mo.PCA(1, within=WITHIN, epsilon=1).fit(rows).transform(rows)


@pytest.mark.parametrize("model", MODELS)
def test_a_range_may_be_left_out(model) -> None:
    fitted = model(epsilon=100).fit(X, Y)
    kept = fitted.release_ if hasattr(fitted, "release_") else fitted.releases_[0]
    assert kept.range_found is not None


@pytest.mark.parametrize("model", MODELS)
def test_bad_arguments(model) -> None:
    for given in ({}, {"within": WITHIN}, {"within": (1, 0), "epsilon": 1}):
        with pytest.raises(InvalidArgument):
            model(**given).fit(X, Y)
    with pytest.raises(UnsupportedData):
        model(within=WITHIN, epsilon=1).fit(np.array([["a", "b"]]), [1])
    with pytest.raises(ValueError, match="features"):
        model(within=WITHIN, epsilon=9).fit(X, Y).__getattribute__(
            "predict" if model is mo.LinearRegression else "transform"
        )(X[:, :2])
