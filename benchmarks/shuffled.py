"""Through a shuffler: messages, sums beside a curator's, and mean vectors."""

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from benchmarks.columns import means, together
from benchmarks.targets import Target, table
from modicum import shuffle
from modicum.exact.entropy import SeededEntropy

Array = NDArray[np.float64]
ADULT = 32_561


@dataclass(frozen=True, slots=True)
class Effort:
    """Sessions of a sum and of a mean vector, and clients of the latter."""

    sums: int
    sessions: int
    sizes: tuple[int, ...]
    releases: int


FULL = Effort(sums=200, sessions=3, sizes=(10_000, 40_000, 160_000), releases=40)
QUICK = Effort(sums=20, sessions=2, sizes=(10_000, 40_000), releases=2)


def shuffled(effort: Effort) -> tuple[str, list[Target]]:
    """Return the text of the part and its targets."""
    targets: list[Target] = []
    parts = [
        "## Through a shuffler",
        _messages(),
        _sums(effort, targets),
        _means(effort, targets),
        _vectors(effort, targets),
    ]
    return "\n\n".join(parts), targets


def _messages() -> str:
    rows = []
    for n in (1000, 10_000, 100_000, 1_000_000):
        sum_ = shuffle.split_sum(within=(0, 1), epsilon=1, clients=n, honest=n)
        theory = (80 + sum_.bits) / (math.log2(n) - math.log2(math.e))
        rows.append(
            [
                f"{n:,}",
                str(sum_.bits),
                f"{theory:.2f} + 2",
                str(sum_.shares),
                str(sum_.shares * sum_.frame_size),
            ]
        )
    header = ["clients", "log2 q", "(2σ + log2 q)/(log2 n - log2 e) + 2", "messages", "bytes"]
    return (
        "A sum in shares, ε = 1, σ = 40: messages of a client, each a header of 11 bytes,"
        f" 16 random ones and 8 of the share.\n\n{table(header, rows)}"
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


def _means(effort: Effort, targets: list[Target]) -> str:
    sizes = (10_000, 100_000) if effort.releases > 2 else (10_000,)
    builds = {f"n = {n:,}": (n, together(n)) for n in sizes}
    shown = means(builds, effort.releases, targets, "shuffled mean")
    return (
        "Means from single shuffled messages, ε = 1, δ = 1e-8, within the range given, ±1e9 if none"
        f" is, {effort.releases} releases each:\n\n{shown}"
    )


def _session(x: Array, delta: float, seed: object) -> tuple[shuffle.MeanVector, Array, float]:
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


def _vectors(effort: Effort, targets: list[Target]) -> str:
    """Theorem 8: error n ε / (w sqrt(d ln 1/δ)) stays below a constant, for any data."""
    rows, units = [], []
    delta = 1e-8
    cases = [(n, d, far) for n in effort.sizes for d in (2, 8) for far in (False, True)]
    # What would take minutes for a session is left out.
    for n, d, far in (case for case in cases if case[0] * case[1] < 10**6):
        found = []
        for seed in range(effort.sessions):
            rng = default_rng((n, d, far, seed))
            x = rng.normal(size=(n, d)) + 10
            if far:  # 100 people on one side, some ten times as far as anybody else
                x[:100, 0] += 50
            farthest = x[np.linalg.norm(x - np.median(x, axis=0), axis=1).argmax()]
            width = float(np.linalg.norm(x - farthest, axis=1).max())  # at most w(D)
            protocol, values, standard = _session(x, delta, (n, d, far, seed))
            error = float(np.linalg.norm(values - x.mean(axis=0)))
            unit = width * math.sqrt(d * math.log(1 / delta)) / n
            found.append((error, standard * math.sqrt(d), error / unit))
        error, predicted, ratio = np.mean(found, axis=0)
        units.append(max(one[2] for one in found))
        messages, size = protocol.messages[2], protocol.message_sizes[2]
        theory = (2 * protocol.sum.security + protocol.sum.bits) / math.log2(
            protocol.honest / math.e
        )
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
        " log2 q)/(log2 h - log2 e) each, h the honest, and 2 more. Far people are left out by the"
        " radius if they are too few to be\nseen, which costs their share of the mean."
        f"\n\n{table(header, rows)}"
    )
