"""Without a curator: answers, mean vectors, messages, liars, and sums through a shuffler."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.local_peers import known_variance, shifted_clipped_mean, unknown_variance
from benchmarks.targets import Target, table
from modicum import local as protocols
from modicum import shuffle
from modicum.exact.entropy import SeededEntropy
from modicum.local.frequency import Oracle, oracle, unary_variance
from modicum.local.gaussian_round import GaussianRound
from modicum.local.tree import Tree
from modicum.local.tree_round import TreeRound
from modicum.local.window_round import best_window

__all__ = ["FULL", "QUICK", "Effort", "local"]

Array = NDArray[np.float64]
N = 100_000
RHO = Fraction(1, 2)  # ε²/2 at ε = 1
DIMENSIONS = (2, 4, 8, 16, 32)
ADULT = 32_561


@dataclass(frozen=True, slots=True)
class Effort:
    """Trials of a mean vector, of a sum, and clients of the largest session."""

    trials: int
    sums: int
    most: int


FULL = Effort(trials=10, sums=100, most=1_000_000)
QUICK = Effort(trials=2, sums=20, most=50_000)


def local(effort: Effort) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets."""
    targets: list[Target] = []
    parts = [
        "## Without a curator",
        _answers(),
        _vectors(effort, targets),
        _theorem(effort),
        _messages(),
        _liars(),
        _sums(effort, targets),
        _shuffled_vectors(effort, targets),
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
                f"{unary_variance(e):.3g}",
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


def session(protocol: protocols.MeanVector | protocols.Mean, x: Array, seed: object):
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


def _vectors(effort: Effort, targets: list[Target]) -> str:
    rows = []
    for d in DIMENSIONS:
        radius = 20 * math.sqrt(d)
        methods: dict[str, Callable[[Array, int], Array]] = {
            "modicum": lambda x, s, r=radius: _ours(x, r, s),
            "Shifted-CM": lambda x, s, r=radius: shifted_clipped_mean(x, r, 0.5, default_rng(s)),
            "KnownVar": lambda x, s, r=radius: known_variance(x, r, 1.0, default_rng(s)),
            "UnkVar": lambda x, s, r=radius: unknown_variance(x, r, 1.0, default_rng(s)),
        }
        errors: dict[str, list[float]] = {name: [] for name in (*methods, "no noise")}
        for seed in range(effort.trials):
            rng = default_rng((d, seed))
            centre = rng.normal(size=d)
            centre *= 10 * math.sqrt(d) / np.linalg.norm(centre)
            x = rng.normal(size=(N, d)) + centre
            errors["no noise"].append(float(np.linalg.norm(x.mean(axis=0) - centre)))
            for name, method in methods.items():
                errors[name].append(float(np.linalg.norm(method(x, seed) - centre)))
        shown = {name: _mean(found) for name, found in errors.items()}
        rows.append([str(d), *(f"{m:.3g} ± {h:.1g}" for m, h in shown.values())])
        for peer in ("Shifted-CM", "KnownVar", "UnkVar"):
            (ours, half), (theirs, other) = shown["modicum"], shown[peer]
            ratio = ours / theirs
            margin = ratio * math.hypot(half / ours, other / theirs)
            limit = 1.05 if peer == "Shifted-CM" else 1.0
            targets.append(Target(f"mean vector, d = {d}, to {peer}", limit, ratio, margin=margin))
    header = ["d", "modicum", "Shifted-CM", "KnownVar", "UnkVar", "no noise"]
    return (
        f"Mean of N(μ, I), |μ| = 10 sqrt d, known to lie within 20 sqrt d, n = {N:,}, ε = 1 (ρ = "
        "1/2): norm of the error,\n10 % trimmed mean and 95 % interval. Ours sends messages, in "
        "three rounds; the noise of the others is simulated, and\nShifted-CM's bisections would"
        f" take 10 d + 11 rounds.\n\n{table(header, rows)}"
    )


def _mean(found: list[float]) -> tuple[float, float]:
    cut = len(found) // 10
    kept = np.sort(found)[cut : len(found) - cut]
    half = 1.96 * float(np.std(kept, ddof=1)) / math.sqrt(len(kept)) if len(kept) > 1 else math.inf
    return float(kept.mean()), half


def _theorem(effort: Effort) -> str:
    """Theorem 7: error sqrt(n) / (sqrt(d/ρ) w) stays below a constant."""
    rows = []
    for n in (25_000, 100_000, effort.most):
        for d in (2, 8):
            found = []
            for seed in range(max(2, effort.trials // 4)):
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
    for n in (1000, 10_000, 100_000, 1_000_000):
        sum_ = shuffle.split_sum(within=(0, 1), epsilon=1, clients=n, honest=n)
        theory = (80 + sum_.bits) / (math.log2(n) - math.log2(math.e))
        rows.append(
            [
                f"shuffled sum, n = {n:,}",
                str(sum_.shares),
                str(sum_.shares * sum_.frame_size),
                f"(2σ + log2 q)/(log2 n - log2 e) = {theory:.2f}, + 2; q = 2^{sum_.bits}",
            ]
        )
    header = ["protocol", "messages of a client", "bytes", "theory"]
    return f"Messages, the header of 20 (19) bytes included:\n\n{table(header, rows)}"


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


def _sums(effort: Effort, targets: list[Target]) -> str:
    rng = default_rng(7)
    ages = (np.clip(rng.gamma(9.5, 4.1, ADULT), 17, 90) / 130) ** 2
    rows = []
    for honest in (ADULT, ADULT * 9 // 10):
        found = []
        for seed in range(effort.sums):
            sum_ = shuffle.split_sum(
                within=(0, 1), epsilon=1, clients=ADULT, honest=honest, session=f"{seed:032x}"
            )
            shuffler = sum_.shuffler(entropy=SeededEntropy(f"order {seed}"))
            batch = shuffle.SumBatch(sum_, ADULT, entropy=SeededEntropy(f"noise {seed}"))
            shuffler.add(batch.respond(ages))
            found.append(shuffle.analysed(sum_, shuffler.release()).value - float(ages.sum()))
        error = float(np.sqrt(np.mean(np.square(found))))
        central = math.sqrt(2)  # the Laplace mechanism on a sum in [0, 1], n public
        rows.append([f"{honest:,}", f"{error:.3g}", f"{sum_.error:.3g}", f"{error / central:.3g}"])
        # The standard error of a root mean square of Laplace draws (kurtosis 6).
        margin = 1.96 * error / central * math.sqrt(5 / 4 / effort.sums)
        targets.append(
            Target(
                f"shuffled sum, {honest:,} honest, to Laplace",
                2.0,
                error / central,
                goal=1.1,
                margin=margin,
            )
        )
    header = ["honest at least", "root mean square error", "predicted", "to central Laplace"]
    return (
        f"Sum of {ADULT:,} synthetic (age/130)² through a shuffler, ε = 1, {effort.sums} sessions:"
        f"\n\n{table(header, rows)}"
    )


def _shuffled(x: Array, delta: float, seed: object) -> tuple[shuffle.MeanVector, Array, float]:
    """One session: the protocol, the estimate, and the standard error of a coordinate."""
    protocol = shuffle.mean_vector(
        dimension=x.shape[1],
        radius=20 * math.sqrt(x.shape[1]),
        epsilon=1,
        delta=Fraction(delta).limit_denominator(10**12),
        clients=len(x),
        session=hashlib.shake_128(repr(seed).encode()).hexdigest(16),
    )
    server = shuffle.VectorServer(protocol)
    parts = [
        (rows, shuffle.VectorBatch(protocol, len(rows), entropy=SeededEntropy(f"{seed} {i}")))
        for i, rows in enumerate(np.array_split(x, max(1, len(x) // 5000)))
    ]
    while server.estimate is None:
        shuffler = protocol.shuffler(server.round, entropy=SeededEntropy(f"{seed} order"))
        for rows, batch in parts:
            shuffler.add(batch.respond(rows, server.announcement))
        server.aggregate(shuffler.release())
    return protocol, server.estimate.values, server.estimate.standard_error


def _shuffled_vectors(effort: Effort, targets: list[Target]) -> str:
    """Theorem 8: error n ε / (w sqrt(d ln 1/δ)) stays below a constant, for any data."""
    rows, units = [], []
    delta = 1e-8
    sizes = (10_000, 40_000) if effort.most < 10**6 else (10_000, 40_000, 160_000)
    cases = [(n, d, far) for n in sizes for d in (2, 8) for far in (False, True)]
    # What would take minutes for a session is left out.
    for n, d, far in (case for case in cases if case[0] * case[1] < 10**6):
        found = []
        for seed in range(max(2, effort.trials // 4)):
            rng = default_rng((n, d, far, seed))
            x = rng.normal(size=(n, d)) + 10
            if far:  # 100 people on one side, some ten times as far as anybody else
                x[:100, 0] += 50
            farthest = x[np.linalg.norm(x - np.median(x, axis=0), axis=1).argmax()]
            width = float(np.linalg.norm(x - farthest, axis=1).max())  # at most w(D)
            protocol, values, standard = _shuffled(x, delta, (n, d, far, seed))
            error = float(np.linalg.norm(values - x.mean(axis=0)))
            unit = width * math.sqrt(d * math.log(1 / delta)) / n
            found.append((error, standard * math.sqrt(d), error / unit))
        error, predicted, ratio = np.mean(found, axis=0)
        units.append(max(one[2] for one in found))
        messages, size = protocol.messages[2], protocol.message_sizes[2]
        theory = (2 * protocol.sum.security + protocol.sum.bits) / math.log2(n / math.e)
        rows.append(
            [
                f"{n:,}",
                str(d),
                "100 far" if far else "normal",
                f"1 + 1 + {messages}",
                f"{(44 + messages * size) / 1000:.1f}",
                f"{d} x {theory:.1f}",
                f"{error:.3g}",
                f"{predicted:.3g}",
                f"{math.sqrt(d / n):.3g}",
                f"{ratio:.2g}",
            ]
        )
    targets.append(Target("shuffled vector, largest error in units of Theorem 8", 20, max(units)))
    header = ["n", "d", "data", "messages", "kB", "theory", "error", "due to noise"]
    header += ["sampling error", "in units of Theorem 8"]
    return (
        "Mean vectors through a shuffler, ε = 1, δ = 1e-8, 9 in 10 honest at least: distance from"
        " the mean of the clients' vectors.\nTheorem 8 of Huang, Liang and Yi (2021) has the unit"
        " w(D) sqrt(d ln(1/δ))/(ε n), beside logarithms; its messages are\nthose of d sums, (2σ +"
        " log2 q)/(log2 n - log2 e) each. Far people are left out by the radius if they are too few"
        f" to be\nseen, which costs their share of the mean.\n\n{table(header, rows)}"
    )
