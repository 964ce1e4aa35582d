"""Finding the flags that are false, few or many."""

import numpy as np
import pytest

from modicum.summaries.tails import _false_positions


@pytest.mark.parametrize("length", [8, 2048, 65536])
@pytest.mark.parametrize("share", [0.0, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0])
def test_positions_are_those_that_numpy_finds(length: int, share: float) -> None:
    flags = np.random.default_rng(length).random(length) >= share
    if 0 < share < 1:
        flags[[0, -1]] = False
    assert _false_positions(flags).tolist() == np.flatnonzero(~flags).tolist()
