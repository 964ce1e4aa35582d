"""Values beyond the range count as its ends in every pass, whatever is known of the records."""

import numpy as np
import pytest

from modicum import query as ask
from modicum.audit.trail import Family
from modicum.runtime.replay import Run


def law_of(query, x):
    return Run(query, (family := Family.of(query, [x])).event, family.readers[0]).waiting


@pytest.mark.one_in(2)
@pytest.mark.parametrize("n", [2180, 2181])
def test_records_beyond_the_range_are_its_end(n) -> None:
    """About n = 2180, the highest record of the window is at the end of the range, or is not."""
    query = ask.quantiles(q=[0.5], within=(0, 1000), step=1, epsilon=1, level=None)
    low = np.linspace(0, 990, n - 1000).round()
    outside, clamped = (
        law_of(query, np.concatenate([low, np.full(1000, each)])) for each in (np.inf, 1000.0)
    )
    points = [((t << outside.fine) + 1,) for t in range(0, 1000, 7)]
    assert [outside.log_density(z) for z in points] == [clamped.log_density(z) for z in points]
