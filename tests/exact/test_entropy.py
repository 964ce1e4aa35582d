"""Entropy: the derived draws are uniform, the seeded stream is reproducible."""

import hashlib

import numpy as np
import pytest
from scipy import stats

from modicum.errors import InvalidArgument
from modicum.exact.entropy import SYSTEM, SeededEntropy, SystemEntropy
from tests.exact.goodness import ACCEPT, REJECT, normalised, p_value
from tests.exact.stub import Listed

pytestmark = pytest.mark.secret_draws


def test_bits_are_the_first_bits_of_the_words() -> None:
    top = 0xFEDCBA9876543210
    assert [Listed(top).bits(k) for k in (0, 1, 4, 16, 64)] == [0, 1, 0xF, 0xFEDC, top]
    assert Listed(top, top).bits(68) == top << 4 | 0xF
    assert Listed(top, 5).bits(128) == top << 64 | 5


def test_below_refuses_too_large_values() -> None:
    eighth = 1 << 61
    assert Listed(6 * eighth, 5 * eighth, 4 * eighth + 7).below(5) == 4
    assert Listed(2**64 - 1, 0, 7, 1 << 63).below(2**64 + 6) == 15
    assert Listed(3).below(1) == 0


def test_below_many_refuses_the_same() -> None:
    entropy = SeededEntropy(1)
    assert entropy.below_many(1, 3).tolist() == [0, 0, 0]
    assert entropy.below_many(7, 0).tolist() == []
    assert entropy.below_many(2**64, 5).dtype == np.uint64
    assert int(entropy.below_many(2**63 + 1, 1000).max()) <= 2**63


@pytest.mark.parametrize("n", [0, -1])
def test_nothing_is_below_zero(n) -> None:
    for call in (SYSTEM.below, lambda n: SYSTEM.below_many(n, 3)):
        with pytest.raises(InvalidArgument, match="n must be"):
            call(n)
    with pytest.raises(InvalidArgument, match="n must be"):
        SYSTEM.below_many(2**64 + 1, 3)


@pytest.mark.parametrize("n", [3, 5, 64, 100])
def test_below_is_uniform(n) -> None:
    entropy = SeededEntropy(n)
    mechanism = dict.fromkeys(range(n), 1 / n)
    assert p_value([entropy.below(n) for _ in range(20_000)], mechanism) > ACCEPT
    assert p_value(entropy.below_many(n, 20_000).tolist(), mechanism) > ACCEPT
    lopsided = normalised(mechanism | {0: 1.8 / n, 1: 0.2 / n})
    assert p_value([entropy.below(n) for _ in range(20_000)], lopsided) < REJECT
    assert p_value(entropy.below_many(n, 20_000).tolist(), lopsided) < REJECT


def test_every_bit_is_fair() -> None:
    for entropy in (SeededEntropy(0), SYSTEM):
        bits = np.unpackbits(entropy.words(4096).view(np.uint8).reshape(-1, 8), axis=1)
        worst = np.abs(bits.mean(axis=0) - 0.5).max() * 2 * np.sqrt(4096)
        # 64 fair bits; a secret source cannot be seeded, so its threshold is one in 10^9.
        assert worst < stats.norm.isf(1e-9 / 64 / 2)


def test_the_seeded_stream_is_shake_of_the_seed() -> None:
    block = hashlib.shake_256(b"7/0").digest(512 * 8)
    expected = [int.from_bytes(block[i : i + 8], "little") for i in range(0, 512 * 8, 8)]
    assert [SeededEntropy(7).word() for _ in range(1)] == expected[:1]
    entropy = SeededEntropy(7)
    stream = [entropy.word() for _ in range(1500)]
    assert stream[:512] == expected
    assert len(set(stream)) == 1500
    assert SeededEntropy(7).words(512).tolist() == expected


def test_seeds_differ() -> None:
    assert len({SeededEntropy(seed).word() for seed in [0, 1, 10, "0", "a", "'a'", -1]}) == 7


def test_only_the_system_is_secret() -> None:
    assert SystemEntropy.secret
    assert not SeededEntropy.secret
    assert len({SYSTEM.word() for _ in range(1200)}) == 1200
