"""Without a curator: answers, mean vectors, messages and liars."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.columns import alone, means
from benchmarks.local_peers import known_variance, shifted_clipped_mean, unknown_variance
from benchmarks.targets import Target, table
from modicum import local as protocols
from modicum.exact.entropy import SeededEntropy
from modicum.protocols.local.frequency import Oracle, TreeRound, oracle
from modicum.protocols.local.mean import best_window
from modicum.protocols.local.mean_vector import GaussianRound
from modicum.protocols.local.tree import Tree

Array = NDArray[np.float64]
N = 100_000
RHO = Fraction(1, 2)  # ε²/2 at ε = 1
DIMENSIONS = (2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried.

    ``releases`` and ``sizes`` are those of means and histograms. ``trials`` are those of a mean
    vector, over its dimension, since the norm of an error in many dimensions varies less;
    ``sessions`` those of the theorem; ``most`` the clients of the largest.
    """

    trials: int
    sessions: int
    most: int
    releases: int
    sizes: tuple[int, ...]

    def vectors(self, dimension: int) -> int:
        """Return the trials of mean vectors."""
        return max(2, self.trials // dimension)


FULL = Effort(trials=280, sessions=2, most=1_000_000, releases=40, sizes=(10_000, 100_000))
QUICK = Effort(trials=4, sessions=2, most=50_000, releases=2, sizes=(10_000,))


def local(effort: Effort) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets."""
    targets: list[Target] = []
    parts = [
        "## Without a curator",
        _answers(),
        _means(effort, targets),
        _shares(effort, targets),
        _vectors(effort, targets),
        _radii(effort, targets),
        _theorem(effort),
        _messages(),
        _liars(),
    ]
    return "\n\n".join(parts), targets


def _answers() -> str:
    """Exact variances, nothing drawn."""
    rows = []
    for text in ("0.25", "0.5", "1", "2", "4"):
        epsilon = Fraction(text)
        e = float(epsilon)
        many, four = oracle(1 << 20, epsilon), oracle(4, epsilon)
        window = best_window(epsilon)
        half = window.reach / 2
        answer = (window.variance(window.reach // 2) + (window.reach == 1) / 4) / half**2
        rows.append(
            [
                text,
                f"{four.variance:.3g}",
                f"{many.variance:.3g} (q = {many.symbols})",
                f"{4 * math.exp(e) / math.expm1(e) ** 2:.3g}",
                f"{Oracle(1 << 20, 2, True, epsilon).variance:.3g}",
                f"{answer:.3g}",
                f"{(1 / math.tanh(e / 2)) ** 2:.3g}",
                f"{8 / e**2:.3g}",
                f"{4 / e**2:.3g}",
            ]
        )
    header = ["ε", "4 nodes", "2^20 nodes", "unary", "Hadamard"]
    header += ["number", "one bit", "Laplace", "Gaussian, ρ = ε²/2"]
    return (
        "Variance of one answer: of the share at another's node, then of a number in the middle of"
        " [-1, 1].\nThe columns *4 nodes*, *2^20 nodes* and *number* are this library's choice."
        f"\n\n{table(header, rows)}"
    )


def session(
    protocol: protocols.MeanVector | protocols.Mean | protocols.Histogram, x: Array, seed: object
):
    batch = protocols.Batch(protocol, len(x), entropy=SeededEntropy(repr(seed)))
    server = protocols.Server(protocol)
    while server.estimate is None:
        server.aggregate([batch.respond(x, server.announcement)])
        server.close()
    return server.estimate


def _ours(x: Array, radius: float, seed: int) -> Array:
    protocol = protocols.mean_vector(
        dimension=x.shape[1], radius=radius, rho=RHO, session=f"{seed:032x}"
    )
    return session(protocol, x, seed).values


def _means(effort: Effort, targets: list[Target]) -> str:
    builds = {
        f"n = {n:,}, ε = {epsilon}": (n, alone(epsilon)) for n in effort.sizes for epsilon in (1, 4)
    }
    shown = means(builds, effort.releases, targets, "local mean")
    return (
        f"Means of columns of all kinds within the range given, ±1e9 if none is, {effort.releases}"
        " releases each: real errors, beside those\nthat were stated. Where round one can"
        f" exclude nothing, the bounds stay wide, and say so.\n\n{shown}"
    )


def _shares(effort: Effort, targets: list[Target]) -> str:
    """Stated errors of histograms beside real ones, over all points."""
    rows = []
    n = effort.sizes[0]
    for cells, text in ((10, "1"), (10, "4"), (64, "1"), (64, "4"), (64, "6.5"), (64, "8")):
        weights = 1 / np.arange(1, cells + 1) ** 1.1
        errors, stated = [], []
        for seed in range(effort.releases):
            protocol = protocols.histogram(
                within=(0, cells - 1), step=1, epsilon=text, session=f"{seed:032x}"
            )
            rng = default_rng((cells, seed))
            x = rng.choice(cells, n, p=weights / weights.sum()).astype(float)
            found = session(protocol, x, (cells, text, seed))
            points = range(1, cells)
            errors += [found.below(point) - float((x < point).mean()) for point in points]
            stated.append(found.deviation)
        real, said = math.sqrt(np.mean(np.square(errors))), float(np.mean(stated))
        planned, levels = protocol.error(n), protocol.asked(protocol.first()).tree.depth
        shown = [f"{value:.2g}" for value in (real, said, planned, said / real)]
        rows.append([str(cells), text, str(levels), *shown])
        ratio = max(said / real, real / said)
        targets.append(
            Target(f"histogram of {cells} cells, ε = {text}: stated to real", 1.3, ratio)
        )
    header = ["cells", "ε", "levels", "rms error", "stated", "planned", "stated to real"]
    return (
        f"Shares below points, Zipf(1.1), n = {n:,}, {effort.releases} releases:\n\n"
        f"{table(header, rows)}"
    )


def _radii(effort: Effort, targets: list[Target]) -> str:
    rows, d = [], 8
    for name in ("normal", "exponential"):
        errors = {}
        for radius in (100.0, 1e4, 1e6):
            found = []
            for seed in range(max(2, effort.releases // 2)):
                rng = default_rng((d, seed))
                noise = (
                    rng.normal(size=(N, d)) if name == "normal" else rng.exponential(size=(N, d))
                )
                x = noise + 20 / math.sqrt(d)
                found.append(float(np.linalg.norm(_ours(x, radius, seed) - x.mean(axis=0))))
            errors[radius] = float(np.mean(found))
        rows.append([name, *(f"{error:.3g}" for error in errors.values())])
        ratio = errors[1e6] / errors[100.0]
        targets.append(Target(f"mean vector, {name}, radius 1e6 to radius 100", 1.3, ratio))
    header = ["data", "radius 100", "10,000", "1,000,000"]
    return (
        f"Mean vectors that are known to lie within a radius only, d = {d}, n = {N:,}, ρ = 1/2: "
        f"error.\n\n{table(header, rows)}"
    )


def _errors(d: int, seed: int) -> dict[str, float]:
    """One trial: the distance of every estimate from the centre."""
    radius = 20 * math.sqrt(d)
    rng = default_rng((d, seed))
    centre = rng.normal(size=d)
    centre *= 10 * math.sqrt(d) / np.linalg.norm(centre)
    x = rng.normal(size=(N, d)) + centre
    found = {
        "modicum": _ours(x, radius, seed),
        "Shifted-CM": shifted_clipped_mean(x, radius, 0.5, default_rng(seed)),
        "KnownVar": known_variance(x, radius, 1.0, default_rng(seed)),
        "UnkVar": unknown_variance(x, radius, 1.0, default_rng(seed)),
        "no noise": x.mean(axis=0),
    }
    return {name: float(np.linalg.norm(value - centre)) for name, value in found.items()}


def _vectors(effort: Effort, targets: list[Target]) -> str:
    rows = []
    for d in DIMENSIONS:
        trials = [_errors(d, seed) for seed in range(effort.vectors(d))]
        errors = {name: [trial[name] for trial in trials] for name in trials[0]}
        shown = {name: _mean(found) for name, found in errors.items()}
        rows.append([str(d), str(len(trials)), *(f"{m:.3g} ± {s:.1g}" for m, s in shown.values())])
        for peer in ("Shifted-CM", "KnownVar", "UnkVar"):
            (ours, own), (theirs, other) = shown["modicum"], shown[peer]
            ratio = ours / theirs
            margin = 1.96 * ratio * math.hypot(own / ours, other / theirs)
            limit = 1.05 if peer == "Shifted-CM" else 1.0
            targets.append(Target(f"mean vector, d = {d}, to {peer}", limit, ratio, margin=margin))
    header = ["d", "trials", "modicum", "Shifted-CM", "KnownVar", "UnkVar", "no noise"]
    return (
        f"Mean of N(μ, I), |μ| = 10 sqrt d, known to lie within 20 sqrt d, n = {N:,}, ε = 1 (ρ = "
        "1/2): norm of the error,\n10 % trimmed mean ± its standard error. Ours sends messages, in "
        "three rounds; the noise of the others is simulated, and\nShifted-CM's bisections would"
        " take 10 d + 11 rounds. UnkVar's bisections start at [-20 sqrt d, 20 sqrt d]; its\nnumber "
        "of rounds fits an interval four times as long, from which its error at d = 8 is three "
        "times as large, since noise\nthen stops more of its searches far away. Even so a search "
        f"fails in most trials at d = 16 and beyond.\n\n{table(header, rows)}"
    )


def _mean(found: list[float]) -> tuple[float, float]:
    """Return the 10 % trimmed mean, and its standard error by the winsorised variance."""
    count, cut = len(found), len(found) // 10
    ordered = np.sort(found)
    kept = ordered[cut : count - cut]
    spread = np.clip(ordered, kept[0], kept[-1]).std(ddof=1)
    return float(kept.mean()), float(spread / math.sqrt(count) / (1 - 2 * cut / count))


def _theorem(effort: Effort) -> str:
    """Theorem 7: error sqrt(n) / (sqrt(d/ρ) w) stays below a constant."""
    rows = []
    for n in (25_000, 100_000, effort.most):
        for d in (2, 8):
            found = []
            for seed in range(effort.sessions):
                rng = default_rng((n, d, seed))
                x = rng.normal(size=(n, d)) + 10
                width = 2 * float(np.sqrt(((x - 10) ** 2).sum(axis=1)).max())
                error = np.linalg.norm(_ours(x, 20 * math.sqrt(d), seed) - x.mean(axis=0))
                found.append(float(error) * math.sqrt(n * float(RHO) / d) / width)
            rows.append([f"{n:,}", str(d), f"{np.mean(found):.2f}", f"{np.max(found):.2f}"])
    header = ["n", "d", "mean", "largest"]
    return (
        "Theorem 7 of Huang, Liang and Yi (2021): error over w(D) sqrt(d/(ρ n)), w(D) the diameter"
        f" (twice the\nlargest distance from the centre here).\n\n{table(header, rows)}"
    )


def _messages() -> str:
    rows = []
    for name, answer, bits in (
        ("histogram, mean (round 1)", 2, "log2 q"),
        ("mean (round 2)", 2, "log2 N"),
        ("mean vector, d = 8 (round 3)", 32, "d log2(range)"),
        ("mean vector, d = 32 (round 3)", 128, "d log2(range)"),
    ):
        rows.append([name, "1", str(20 + answer), bits])
    header = ["protocol", "messages of a client", "bytes", "theory, in bits"]
    return f"Messages, the header of 20 bytes included:\n\n{table(header, rows)}"


def _liars() -> str:
    """Computed, not simulated: the most that one answer moves an estimate."""
    rows = []
    for text in ("0.5", "1", "2", "4"):
        epsilon = Fraction(text)
        tree = TreeRound(Tree(4, 8), epsilon)
        window = best_window(epsilon)
        mean = (window.outcomes - 1) / window.slope / window.reach
        vector = GaussianRound(8, epsilon**2 / 2).influence()
        shown = (tree.influence(), 8 * tree.influence(), mean, vector)
        rows.append([text, *(f"{x:.3g}" for x in shown)])
    header = ["ε", "share, number as drawn", "share, number chosen (8 levels)"]
    header += ["mean, in widths of the bounds", "vector (d = 8), in radii"]
    return (
        "Most that one malicious client moves an estimate, times the clients that answer its round"
        " (an honest one who\nmay lie about their value moves it by 1 before noise, a vector by"
        f" 2):\n\n{table(header, rows)}"
    )
