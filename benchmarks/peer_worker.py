"""Runs inside the peers' own environment: one library, one data file, one JSON line.

``python peer_worker.py NAME DATA.npy EPSILON RELEASES``. Imports nothing of modicum. Every release
is timed, and so is numpy.sum of the same array in between, so that ratios can be compared across
environments. A library that is not installed is reported as such.
"""

import importlib
import json
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np

WIDE = (-1e9, 1e9)


def opendp_wide(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """OpenDP: sum and count of data clamped to ±1e9, half of ε each."""
    return _opendp_mean(x, epsilon, WIDE)


def opendp_quantiles(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """OpenDP: bounds from its private 5 % and 95 % quantiles for half of ε, as it advises."""
    return _opendp_bounded(x, epsilon, 0.05)


def opendp_tails(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """OpenDP: the same with the 0.1 % and 99.9 % quantiles, our choice for this sort of data."""
    return _opendp_bounded(x, epsilon, 0.001)


def _opendp_bounded(x: np.ndarray, epsilon: float, alpha: float) -> Callable[[], float]:
    low, high = (_opendp_quantile(level, epsilon / 4, 1.1) for level in (alpha, 1 - alpha))

    def release() -> float:
        bounds = sorted((low(x), high(x)))
        if bounds[0] == bounds[1]:
            return bounds[0]
        return _opendp_mean(x, epsilon / 2, (bounds[0], bounds[1]))()

    return release


def _opendp_quantile(level: float, epsilon: float, ratio: float) -> Any:
    """Return its quantile among the candidates that the user lists: ± powers up to 1e9."""
    dp = _opendp()
    domain, metric = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    powers = [ratio**k for k in range(1 + int(np.log(1e9) / np.log(ratio)))]
    candidates = sorted({0.0, *powers, *(-each for each in powers)})
    return dp.binary_search_chain(
        lambda scale: dp.m.make_private_quantile(
            domain, metric, dp.max_divergence(), candidates, level, scale
        ),
        1,
        epsilon,
    )


def _opendp_mean(x: np.ndarray, epsilon: float, bounds: tuple[float, float]) -> Callable[[], float]:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    most = 10 * 2 ** (len(x) - 1).bit_length()  # its float sum wants a public largest size
    clamped = space >> dp.t.then_clamp(bounds)
    summed = clamped >> dp.t.make_bounded_float_checked_sum(most, bounds)
    counted = space >> dp.t.then_count()
    # Laplace scale = sensitivity / (ε / 2), a hair more for its directed rounding. Its own search
    # for the scale would take most of the time.
    noisy_sum, noisy_count = (
        t >> dp.m.then_laplace((1 + 1e-9) * t.map(1) / (epsilon / 2)) for t in (summed, counted)
    )
    return lambda: noisy_sum(x) / max(noisy_count(x), 1)


def _opendp() -> Any:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    return dp


def diffprivlib_wide(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """diffprivlib: tools.mean with bounds ±1e9 (swap neighbours, public n)."""
    tools = importlib.import_module("diffprivlib.tools")
    return lambda: tools.mean(x, epsilon=epsilon, bounds=WIDE)


def pydp_auto(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """PyDP: BoundedMean with its bounds left out, so that it finds them itself."""
    mean = importlib.import_module("pydp.algorithms.laplacian").BoundedMean
    rows = x.tolist()
    return lambda: mean(epsilon=epsilon, dtype="float").quick_result(rows)


def pydp_std_auto(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """PyDP: BoundedStandardDeviation with its bounds left out."""
    algorithms = importlib.import_module("pydp.algorithms.laplacian")
    rows = x.tolist()
    return lambda: algorithms.BoundedStandardDeviation(epsilon=epsilon, dtype="float").quick_result(
        rows
    )


def diffprivlib_std_wide(x: np.ndarray, epsilon: float) -> Callable[[], float]:
    """diffprivlib: tools.std with bounds ±1e9 (swap neighbours, public n)."""
    tools = importlib.import_module("diffprivlib.tools")
    return lambda: tools.std(x, epsilon=epsilon, bounds=WIDE)


def opendp_described(x: np.ndarray, epsilon: float) -> Callable[[], list[float]]:
    """OpenDP: three quartiles among ±1.01^k, and a mean in bounds of such quantiles."""
    quartiles = [_opendp_quantile(level, epsilon / 6, 1.01) for level in (0.25, 0.5, 0.75)]
    mean = _opendp_bounded(x, epsilon / 2, 0.01)
    return lambda: [*(float(each(x)) for each in quartiles), mean()]


def pydp_described(x: np.ndarray, epsilon: float) -> Callable[[], list[float]]:
    """PyDP: three quartiles within ±1e9, and a mean that finds its bounds."""
    algorithms = importlib.import_module("pydp.algorithms.laplacian")
    rows = x.tolist()
    low, high = WIDE

    def release() -> list[float]:
        quartiles = [
            algorithms.Percentile(
                epsilon=epsilon / 6, percentile=level, lower_bound=low, upper_bound=high,
                dtype="float",
            ).quick_result(rows)
            for level in (0.25, 0.5, 0.75)
        ]  # fmt: skip
        mean = algorithms.BoundedMean(epsilon=epsilon / 2, dtype="float")
        return [*quartiles, mean.quick_result(rows)]

    return release


WORKERS = {
    "opendp_wide": (opendp_wide, "opendp"),
    "opendp_quantiles": (opendp_quantiles, "opendp"),
    "opendp_tails": (opendp_tails, "opendp"),
    "diffprivlib_wide": (diffprivlib_wide, "diffprivlib"),
    "pydp_auto": (pydp_auto, "python-dp"),
    "pydp_std_auto": (pydp_std_auto, "python-dp"),
    "diffprivlib_std_wide": (diffprivlib_std_wide, "diffprivlib"),
    "opendp_described": (opendp_described, "opendp"),
    "pydp_described": (pydp_described, "python-dp"),
}


def main() -> None:
    name, path, epsilon, releases = sys.argv[1:]
    prepare, package = WORKERS[name]
    x = np.load(path)
    try:
        release = prepare(x, float(epsilon))
    except ImportError as error:
        print(json.dumps({"missing": str(error), "package": package}))
        return
    estimates: list[Any] = []
    times, sums = [], []
    for _ in range(int(releases)):
        start = time.process_time()
        try:
            estimates.append(np.asarray(release(), dtype=float).tolist())
        except Exception:  # noqa: BLE001  a failed release is a result: it is counted
            estimates.append(None)
        times.append(time.process_time() - start)
        for _ in range(3):
            start = time.process_time()
            np.sum(x)
            sums.append(time.process_time() - start)
    print(
        json.dumps(
            {
                "package": package,
                "version": metadata.version(package),
                "estimates": estimates,
                "ratio": min(times) / min(sums),
            }
        )
    )


if __name__ == "__main__":
    main()
