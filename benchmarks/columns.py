"""Columns on which means by answers from people are tried: bell-shaped, skewed, mostly equal."""

from collections.abc import Callable

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from benchmarks.targets import Target, table
from modicum import local, shuffle
from modicum.exact.entropy import SeededEntropy

Array = NDArray[np.float64]
Column = Callable[[Generator, int], Array]
Build = Callable[[tuple[float, float], int], local.Mean]


def _yes(share: float) -> Column:
    return lambda rng, n: (rng.random(n) < share) * 1.0


def _zeros(rng: Generator, n: int) -> Array:
    return np.where(rng.random(n) < 0.1, rng.exponential(100, n), 0.0)


def _bell(rng: Generator, n: int) -> Array:
    return rng.normal(50, 10, n)


COLUMNS: dict[str, tuple[tuple[float, float], Column]] = {
    "normal(50, 10)": ((-1e9, 1e9), _bell),
    "normal(50, 10), ±1e6": ((-1e6, 1e6), _bell),
    "uniform(0, 100)": ((-1e9, 1e9), lambda rng, n: rng.uniform(0, 100, n)),
    "exponential(10)": ((-1e9, 1e9), lambda rng, n: rng.exponential(10, n)),
    "lognormal(3, 1)": ((-1e9, 1e9), lambda rng, n: rng.lognormal(3, 1, n)),
    "90 % zero": ((0, 1000), _zeros),
    "90 % zero, ±1e6": ((-1e6, 1e6), _zeros),
    "20 % yes": ((0, 1), _yes(0.2)),
    "5 % yes": ((0, 1), _yes(0.05)),
    "20 % yes, ±1e6": ((-1e6, 1e6), _yes(0.2)),
    "0 or 1000 (30 %)": ((-1e9, 1e9), lambda rng, n: 1000 * _yes(0.3)(rng, n)),
}


def means(
    builds: dict[str, tuple[int, Build]], releases: int, targets: list[Target], kind: str
) -> str:
    """Return a table of all columns under all settings: real errors beside stated ones."""
    rows = []
    for setting, (n, build) in builds.items():
        for name, (within, column) in COLUMNS.items():
            found = np.array([_played(build, within, column, n, i) for i in range(releases)])
            error, stated, width, clipped, deviation = found.T
            real = float(np.sqrt(np.mean(error**2)))
            rows.append(
                [
                    setting,
                    name,
                    f"{real:.3g}",
                    f"{np.median(np.abs(error)):.3g}",
                    f"{np.sqrt(np.mean(stated**2)):.3g}",
                    f"{np.mean(np.abs(error) <= 2 * stated):.2f}",
                    f"{np.median(width):.3g}",
                    f"{np.median(clipped):.3f} ± {np.median(deviation):.3f}",
                ]
            )
            if name == "20 % yes" and n >= 100_000:
                targets.append(
                    Target(f"{kind}, {setting}: 20 % yes in (0, 1)", 0.02, real, unit="")
                )
    header = ["setting", "data", "rms error", "median error", "stated", "within 2 stated"]
    return table([*header, "width of bounds", "clipped"], rows)


def _played(
    build: Build, within: tuple[float, float], column: Column, n: int, seed: int
) -> tuple[float, ...]:
    x = column(default_rng((n, seed)), n)
    protocol = build(within, seed)
    batch = local.Batch(protocol, n, entropy=SeededEntropy(f"{within} {n} {seed}"))
    server = local.Server(protocol)
    while server.estimate is None:
        server.aggregate([batch.respond(x, server.announcement)])
        server.close()
    found = server.estimate
    return (
        found.value - float(x.mean()),
        found.standard_error,
        found.high - found.low,
        found.clipped,
        found.clipped_deviation,
    )


def alone(epsilon: int) -> Build:
    """Return a builder of local means."""
    return lambda within, seed: local.mean(within=within, epsilon=epsilon, session=f"{seed:032x}")


def together(clients: int) -> Build:
    """Return a builder of shuffled means, ε = 1, δ = 1e-8."""
    return lambda within, seed: (
        shuffle.mean(
            within=within, epsilon=1, delta="1e-8", clients=clients, session=f"{seed:032x}"
        ).protocol
    )
