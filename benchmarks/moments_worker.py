"""Regression and components by other libraries: one task, one JSON line.

``python moments_worker.py diabetes OUT.npy`` writes scikit-learn's diabetes data, y last.
``python moments_worker.py NAME DATA.npy FACTOR FITS`` fits again and again at ε = 1, with the
bounds of the data times a factor: bounds that a user cannot know. Imports nothing of modicum.
"""

import json
import sys
import warnings
from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

import numpy as np

COMPONENTS = 2


def captured(x: np.ndarray, components: np.ndarray) -> float:
    """Share of the variance along orthonormal components."""
    matrix = np.cov(x.T)
    return float(np.trace(components @ matrix @ components.T) / np.trace(matrix))


def diffprivlib_regression(rows: np.ndarray, factor: float) -> Callable[[], float]:
    models = import_module("diffprivlib.models")
    x, y = rows[:, :-1], rows[:, -1]
    ends = [factor * np.abs(each).max(axis=0) for each in (x, y)]

    def fit() -> float:
        model = models.LinearRegression(
            epsilon=1, bounds_X=(-ends[0], ends[0]), bounds_y=(-ends[1], ends[1])
        )
        return float(model.fit(x, y).score(x, y))

    return fit


def opendp_regression(rows: np.ndarray, factor: float) -> Callable[[], float]:
    """Theil and Sen's slope, which takes one column; the scale is that of ε = 1 for one row."""
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    x, y = rows[:, :-1], rows[:, -1]
    ends = [factor * float(np.abs(each).max()) for each in (x, y)]

    def model(scale: float) -> Any:
        return dp.sklearn.linear_model.LinearRegression(
            dp.max_divergence(),
            x_bounds=[(-ends[0], ends[0])],
            y_bounds=(-ends[1], ends[1]),
            scale=scale,
        )

    fitted = model(model(1.0).measurement.map(1))
    return lambda: float(fitted.fit(x, y).score(x, y))


def diffprivlib_pca(x: np.ndarray, factor: float) -> Callable[[], float]:
    models = import_module("diffprivlib.models")
    norm = factor * np.linalg.norm(x, axis=1).max()
    bounds = (factor * x.min(axis=0), factor * x.max(axis=0))

    def fit() -> float:
        model = models.PCA(n_components=COMPONENTS, epsilon=1, data_norm=norm, bounds=bounds)
        return captured(x, model.fit(x).components_)

    return fit


def opendp_pca(x: np.ndarray, factor: float) -> Callable[[], float]:
    dp = import_module("opendp.prelude")
    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    rows, columns = x.shape
    norm = factor * float(np.linalg.norm(x, axis=1).max())

    def fit() -> float:
        model = dp.sklearn.decomposition.PCA(
            epsilon=1.0,
            row_norm=norm,
            n_samples=rows,
            n_features=columns,
            n_components=COMPONENTS,
        )
        model.fit(x)
        return captured(x, model.components_)

    return fit


TASKS = {
    "diffprivlib_regression": (diffprivlib_regression, "diffprivlib"),
    "diffprivlib_pca": (diffprivlib_pca, "diffprivlib"),
    "opendp_pca": (opendp_pca, "opendp"),
    "opendp_regression": (opendp_regression, "opendp"),
}


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1] == "diabetes":
        x, y = import_module("sklearn.datasets").load_diabetes(return_X_y=True)
        np.save(sys.argv[2], np.column_stack([x, y]))
        print(json.dumps({}))
        return
    name, path, factor, fits = sys.argv[1:]
    prepare, package = TASKS[name]
    fit = prepare(np.load(path), float(factor))
    scores = [fit() for _ in range(int(fits))]
    print(json.dumps({"scores": scores, "package": package, "version": metadata.version(package)}))


if __name__ == "__main__":
    main()
