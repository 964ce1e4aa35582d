"""Split and mix: shares add up, any but all are uniform, and so many hide all but the sum."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from modicum import shuffle
from modicum.exact.entropy import SeededEntropy
from modicum.protocols.shuffle.mean_vector import VectorSum
from modicum.protocols.shuffle.shares import share_count, split


def test_shares_add_up_and_any_but_all_are_uniform() -> None:
    values = np.array([-5, 0, 7, 1 << 20])
    shares = split(values, 11, 21, SeededEntropy(3))
    assert (shares < 1 << 21).all()
    sums = [sum(map(int, row)) % (1 << 21) for row in shares]
    assert sums == [int(v) % (1 << 21) for v in values]


@pytest.mark.parametrize("left_out", range(4))
def test_all_shares_but_one_are_uniform_together(left_out) -> None:
    shares = split(np.full(20_000, 5), 4, 2, SeededEntropy("uniform"))
    others = np.delete(shares, left_out, axis=1).astype(np.int64)
    seen = np.bincount(others @ [1, 4, 16], minlength=64)
    assert stats.chisquare(seen).pvalue > 1e-4


@pytest.mark.parametrize("bits", [1, 21, 63])
def test_every_bit_of_a_share_is_fair(bits) -> None:
    shares = split(np.zeros(4000, np.int64), 3, bits, SeededEntropy("fair"))
    ones = [((shares >> np.uint64(bit)) & np.uint64(1)).mean(axis=0) for bit in range(bits)]
    assert np.abs(np.array(ones) - 0.5).max() < 0.04  # five standard deviations


def transcripts(inputs, q: int, m: int) -> Counter:
    """How often each multiset of shares comes, over all shares of all clients."""
    seen: Counter = Counter()
    for free in itertools.product(range(q), repeat=(m - 1) * len(inputs)):
        shares = []
        for i, x in enumerate(inputs):
            mine = free[(m - 1) * i : (m - 1) * (i + 1)]
            shares += [*mine, (x - sum(mine)) % q]
        seen[tuple(sorted(shares))] += 1
    return seen


def distance(values, others, q: int, m: int) -> Fraction:
    """Total variation of two shuffled transcripts."""
    one, other = transcripts(values, q, m), transcripts(others, q, m)
    gap = sum(abs(one[k] - other[k]) for k in one.keys() | other.keys())
    return Fraction(gap, 2 * q ** ((m - 1) * len(values)))


def components(n: int, m: int, q: int) -> Fraction:
    """E[q^(c-1)] over all permutations of n blocks of m, by the exponential formula."""
    # [x^k] of P = F^q for F = sum (k m)! x^k / k!, from F P' = q F' P.
    base = [Fraction(math.factorial(k * m), math.factorial(k)) for k in range(n + 1)]
    power = [Fraction(1)]
    for k in range(1, n + 1):
        terms = (((q + 1) * i - k) * base[i] * power[k - i] for i in range(1, k + 1))
        power.append(sum(terms) / k)
    return power[n] * math.factorial(n) / math.factorial(n * m) / q


def graph(moved: tuple[int, ...], n: int, m: int) -> tuple[int, int]:
    """Components, and the greatest common divisor of all cycle lengths, of a permutation."""
    follow = [{moved[m * i + j] // m for j in range(m)} for i in range(n)]
    depth: list[int | None] = [None] * n
    parts, common = 0, 0
    for start in range(n):
        if depth[start] is None:
            parts, depth[start], rest = parts + 1, 0, [start]
            while rest:
                i = rest.pop()
                for j in follow[i]:
                    if depth[j] is None:
                        depth[j] = depth[i] + 1
                        rest.append(j)
                    # Each component is strongly connected: these differences make up its cycles.
                    common = math.gcd(common, depth[i] + 1 - depth[j])
    return parts, common


@pytest.mark.parametrize(("n", "m", "q"), [(2, 2, 3), (2, 3, 3), (3, 2, 3), (3, 3, 2)])
def test_the_distance_obeys_the_bound_by_components(n, m, q) -> None:
    """[shuffle.3], exactly: the mean distance from uniform of inputs with a given sum."""
    inputs = [x for x in itertools.product(range(q), repeat=n) if sum(x) % q == 1]
    pairs = list(itertools.combinations(inputs, 2))
    mean = sum(distance(a, b, q, m) for a, b in pairs) * 2 / len(inputs) ** 2
    # Two inputs are at most twice as far from each other as from the uniform law.
    assert float(mean) <= math.sqrt(float(components(n, m, q)) - 1) + 1e-12


@pytest.mark.parametrize(("n", "m", "q"), [(2, 2, 2), (2, 3, 2), (2, 2, 4), (3, 2, 2), (4, 2, 2)])
def test_collisions_are_counted_by_components_and_cycles(n, m, q) -> None:
    """[shuffle.3]: E |U_S| sum P(t)² = E[d q^(c-1)], where d divides S, over all permutations."""
    counted = Counter(graph(moved, n, m) for moved in itertools.permutations(range(n * m)))
    for total in range(q):
        inputs = [x for x in itertools.product(range(q), repeat=n) if sum(x) % q == total]
        squares = Fraction(0)
        for x in inputs:
            for shares, times in transcripts(x, q, m).items():
                orders = math.factorial(n * m)
                for same in Counter(shares).values():
                    orders //= math.factorial(same)
                # An order of the shares has this probability, and there are so many orders.
                squares += orders * Fraction(times, q ** ((m - 1) * n) * orders) ** 2
        found = q ** (n * m - 1) * squares / len(inputs)
        wanted = sum(
            times * math.gcd(q, cycles) * Fraction(q) ** (parts - 1)
            for (parts, cycles), times in counted.items()
            if total % math.gcd(q, cycles) == 0
        )
        assert found == wanted / math.factorial(n * m)


def test_components_are_counted_right() -> None:
    for n, m in ((2, 2), (2, 3), (3, 2), (4, 2)):
        counted = Counter(graph(moved, n, m)[0] for moved in itertools.permutations(range(n * m)))
        for q in (2, 3, 32):
            mean = sum(times * Fraction(q) ** (c - 1) for c, times in counted.items())
            assert mean / math.factorial(n * m) == components(n, m, q)


def test_products_of_factorials_are_few() -> None:
    """Lemma 2 of [shuffle.4], exactly."""
    most = 40
    for s in (2, 3, 4):
        powers = [math.factorial(k) ** s for k in range(most + 1)]
        sums = powers[:]
        for j in range(2, 12):
            sums = [
                sum(powers[a] * sums[n - a] for a in range(1, n - j + 2)) for n in range(most + 1)
            ]
            for n in range(j, most + 1):
                assert 2 ** (j - 1) * sums[n] <= 5 ** (j - 1) * powers[n - j + 1]


@pytest.mark.parametrize(("n", "s"), [(4, 2), (10, 2), (10, 6), (30, 4), (60, 3), (100, 7)])
def test_so_many_shares_leave_next_to_nothing(n, s) -> None:
    """[shuffle.4] at the largest modulus that it allows, for the exact E[q^(c-1)]."""
    for security in (3, 10, 40):
        most = (n / math.e) ** s / 4**security
        if most < 1:
            continue
        q = 1 << math.floor(math.log2(most))
        assert 0 < components(n, s + 1, q) - 1 < Fraction(13, 10) / 4**security


def test_one_share_less_would_not_do() -> None:
    """The bound is not loose by more than a share: with s - 1 the least term is too large."""
    n, security, bits = 10_000, 40, 23
    s = share_count(n, security=security, bits=bits) - 2
    assert 2**bits * Fraction(1, n) ** (s - 2) > Fraction(1, 4**security)


@pytest.mark.parametrize("clients", [100, 10_000, 1 << 24])
@pytest.mark.parametrize("honest", [50, None])
def test_every_protocol_fulfils_the_conditions(clients, honest) -> None:
    """Of [shuffle.4], at the ends of all ranges."""
    arguments = {"clients": clients, "honest": honest}
    made = [
        shuffle.split_sum(within=(0, 1), epsilon=epsilon, security=security, **arguments)
        for epsilon in ("0.001", 1, 10)
        for security in (20, 80)
    ]
    enough = honest or clients * 9 // 10  # a mean vector's δ of at most 1e-3 makes σ at least 13
    made += [
        VectorSum(1, width, Fraction(epsilon), delta, 13, clients, enough)
        for epsilon in (1, 6)
        for delta in (1e-12, 2.5e-4)
        for width in (1, 128)
    ]
    for total in made:
        s = total.shares - 2
        assert s >= 2
        assert total.security >= 3
        assert 1 << total.bits >= 32 * total.clients
        room = s * (math.log2(total.honest) - math.log2(math.e))
        assert room >= (2 * total.security + total.bits) * (1 - 1e-12)


@pytest.mark.parametrize(("n", "security"), [(50, 20), (50, 80), (100, 40)])
def test_the_shares_are_enough_for_few_people(n, security) -> None:
    """[shuffle.3] with the exact expectation, for one share less than a client sends."""
    for epsilon in ("0.001", "10"):
        protocol = shuffle.split_sum(
            within=(-2, 6), epsilon=epsilon, clients=100, honest=n, security=security
        )
        m, q = protocol.shares - 1, 1 << protocol.bits
        # d > 1 needs all shares to change sides between two halves of the clients, with c <= n/2.
        halves = Fraction(2**n * q ** (n // 2), math.comb(n * m, n * m // 2))
        assert (components(n, m, q) - 1 + halves) / 4 < Fraction(1, 4**security)


def test_more_shares_hide_more() -> None:
    far = [distance((0, 0), (1, 2), 3, m) for m in (1, 2, 3, 4)]
    assert far[0] == 1
    assert all(2 * a > 3 * b for a, b in itertools.pairwise(far))


def test_one_share_more_than_for_random_integers_does_for_any() -> None:
    """[shuffle.5]: twice the average's bound with m shares holds for all pairs with m + 1."""
    for m in (1, 2, 3):
        bound = math.sqrt(float(components(2, m, 3)) - 1)
        for a, b in itertools.product(range(3), repeat=2):
            assert float(distance((0, 0), (a, -a % 3), 3, m + 1)) <= bound
            assert float(distance((a, 1), (b, (1 + a - b) % 3), 3, m + 1)) <= bound
    assert float(distance((0, 0, 0), (1, 1, 1), 3, 3)) <= math.sqrt(components(3, 2, 3) - 1)
