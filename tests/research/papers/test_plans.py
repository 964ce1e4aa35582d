"""Plans of the papers' questions."""

import doctest

import numpy as np
import pytest

import modicum as mo
from modicum import plan
from modicum.exact.entropy import SeededEntropy
from modicum.research.papers import dick2023, huang2021, kulesza2023
from modicum.research.papers.registry import STATISTICS

PLANNED = [each for each in STATISTICS if each.plan is not None]


@pytest.mark.parametrize("statistic", PLANNED, ids=lambda statistic: statistic.name)
@pytest.mark.one_in(4)
def test_the_example_holds(statistic) -> None:
    names = {"release": plan.release, statistic.name: statistic.question}
    parsed = doctest.DocTestParser().get_doctest(
        statistic.plan.example, names, statistic.name, None, None
    )
    assert parsed.examples
    assert doctest.DocTestRunner().run(parsed).failed == 0


WIDE = {"within": (-1000, 1000), "step": 1}
CASES = {
    "independent": (kulesza2023.independent_mean, {"epsilon": 1}),
    "shifted": (kulesza2023.shifted_mean, {"epsilon": 1}),
    "staircase": (kulesza2023.staircase_mean, {"epsilon": 4}),
    "threshold": (dick2023.threshold, {"rank": 400, "side": "high", "epsilon": 1}),
    "PrivQuant": (huang2021.private_quantile, {"q": "0.9", "rho": "0.1"}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_plan_is_near_the_average_of_releases(name) -> None:
    question, asked = CASES[name]
    found = plan.release(question, **WIDE, **asked, sd=100, mean=20, shape="normal", n=4000)
    x = np.round(np.random.default_rng(3).normal(20, 100, 4000))
    ordered = np.sort(x)
    truth = {"threshold": ordered[-401], "PrivQuant": np.quantile(x, 0.9)}.get(name, x.mean())
    query = question(**WIDE, **asked)
    errors = []
    for seed in range(60):
        entropy = SeededEntropy(f"{name} {seed}")
        curator = mo.Curator(x, budget=query.budget, entropy=entropy)
        errors.append(abs(curator.run(query).value - truth))
    assert found.error == pytest.approx(np.mean(errors), rel=0.5)
