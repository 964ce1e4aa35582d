"""Every row of the papers keeps its claim, uses it where it can, and leaks nothing."""

from itertools import combinations_with_replacement

import pytest

from modicum import audit
from modicum.research.papers import asi2020, dick2023, huang2021, kulesza2023
from modicum.research.papers.registry import PAPERS
from modicum.statistics.robust.monotone_statistic import huber_score
from tests.research.papers.weaker import weaker

NARROW = {"within": (-8, 8), "step": 1}
WIDE = {"within": (-1000, 1000), "step": 1}
ONE = {"epsilon": 1}
HALF = {"rho": "0.5"}
MORE = audit.neighbours((-8, 1, 8), 3)
MEDIAN = huber_score(1.0)
# One more record at the upper end, and the candidates below 999 weigh e^ε times less than it.
STRETCH = (((999.0,), (-1000.0, 999.0)),)
MIRROR = (((-999.0,), (-999.0, 1000.0)),)
UNEVEN = (((-1000.0, -1000.0, 999.0), (-1000.0, -1000.0, 999.0, 1000.0)),)

TIGHT = {
    "Algorithm 2": (dick2023.threshold(rank=1, **WIDE, **ONE), STRETCH),
    "Algorithm 2 from above": (dick2023.threshold(rank=1, side="high", **WIDE, **ONE), MIRROR),
    "independent": (kulesza2023.independent_mean(**NARROW, **ONE), MORE),
    "shifted": (kulesza2023.shifted_mean(**NARROW, **ONE), MORE),
    "transformed": (kulesza2023.transformed_mean(**NARROW, **ONE), MORE),
    "staircase": (kulesza2023.staircase_mean(**NARROW, **ONE), MORE),
    "PrivQuant, ε": (huang2021.private_quantile(q="0.5", **NARROW, **ONE), MORE),
    "PrivQuant, ρ": (huang2021.private_quantile(q="0.3", **NARROW, **HALF), MORE),
    "PrivQuant, public n": (huang2021.private_quantile(q="0.3", rows=2, **NARROW, **HALF), MORE),
    "M.1, ε": (asi2020.inverse_sensitivity(statistic=MEDIAN, **WIDE, epsilon=5), UNEVEN),
    "gradient, ε": (asi2020.gradient(statistic=MEDIAN, **WIDE, epsilon=5), UNEVEN),
}


@pytest.mark.parametrize("row", PAPERS, ids=lambda row: row.method)
def test_every_row_keeps_its_claim(row) -> None:
    """All data sets of up to three records at three points, each budget and range."""
    for report in audit.check_row(row, widths=(2, 1)):
        assert report.passed, report
        assert report.drawn == report.claimed


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", TIGHT)
def test_all_of_the_cost_is_used_and_less_noise_is_found(name) -> None:
    query, pairs = TIGHT[name]
    report = audit.check(query, pairs)
    assert report.passed, report
    assert report.used > 0.99
    assert not audit.check(weaker(query), pairs).passed


def exchanges(records: int) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
    """All data sets of so many records that differ in one of them."""
    points = (-8.0, 1.0, 8.0)
    return [
        (tuple(sorted((*rest, a))), tuple(sorted((*rest, b))))
        for rest in combinations_with_replacement(points, records - 1)
        for a in points
        for b in points
        if a < b
    ]


@pytest.mark.parametrize("cost", [ONE, HALF], ids=str)
@pytest.mark.parametrize("q", ["0.5", "0.3"])
@pytest.mark.parametrize("rows", [1, 3, 50])
@pytest.mark.one_in(4)
def test_a_search_with_a_public_number_of_rows_is_private_for_exchanges(q, rows, cost) -> None:
    """Whatever number was given: the true one is never read."""
    query = huang2021.private_quantile(q=q, rows=rows, **NARROW, **cost)
    for records in (1, 3):
        report = audit.check(query, exchanges(records), widths=(3, 2, 1))
        assert report.passed, report
        assert max(step.used for step in report.steps) > 0.99
    assert audit.check(query, MORE, widths=(3, 2, 1)).passed
    assert not audit.check(weaker(query), exchanges(3), widths=(1,)).passed


def test_a_search_with_a_private_number_of_rows_costs_more_for_exchanges() -> None:
    """Twice ε and four times ρ, as every release for added rows."""
    for cost, factor in ((ONE, 2), (HALF, 4)):
        query = huang2021.private_quantile(q="0.5", **NARROW, **cost)
        report = audit.check(query, exchanges(3), widths=(1,))
        assert max(step.used for step in report.steps) == pytest.approx(factor)
