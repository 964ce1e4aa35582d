"""The baselines give the errors that their authors' programs were seen to give."""

import math

import numpy as np
import pytest

from benchmarks.vector_baselines import BASELINES

# Isotropic rows about (10, ..., 10), n = 4000, ρ = 1/2, R = 50 sqrt d: L2 errors from the mean of
# the distribution, whose rows alone err by sqrt(d / n).
SEEN = {
    (16, "COINPRESS 2"): 0.066,
    (16, "COINPRESS 4"): 0.065,
    (16, "Shifted-CM"): 0.064,
}


@pytest.mark.parametrize(("d", "name"), SEEN)
def test_errors_are_those_that_were_seen(d, name) -> None:
    rng = np.random.default_rng([d, len(name)])
    errors = []
    for _ in range(8):
        x = rng.normal(10, 1, size=(4000, d))
        found = BASELINES[name](x, 0.5, 50 * math.sqrt(d), 1.0, rng)
        errors.append(float(np.linalg.norm(found - 10)))
    assert np.mean(errors) == pytest.approx(SEEN[d, name], rel=0.25)
