"""A budget of (ε, δ) is spent as ρ where that is the better way, and charged as what it is."""

from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum import audit, plan
from modicum import query as ask
from modicum.errors import BudgetExceeded, InvalidArgument, KeyReusedError, MissingColumn
from modicum.exact.entropy import SeededEntropy
from modicum.privacy.event import ZCDP, ApproxDP, PureDP, RangeDP
from modicum.privacy.ledger.book import Ledger
from modicum.research.own_statistics.vector_statistic import MeanOfRange
from modicum.runtime.charging import query_text
from modicum.stored.codec import from_text, to_text

WITHIN = (-1e6, 1e6)
COST = mo.approx(1, "1e-6")
RHO = mo.approx_to_zcdp(COST)
EVENT = ApproxDP(Fraction(1), Fraction(1, 10**6))
STATISTICS = [
    ask.mean_vector,
    ask.clipped_mean_vector,
    ask.covariance,
    partial(ask.pca, components=2),
    ask.linear_regression,
]
NAMES = ["mean_vector", "clipped_mean_vector", "covariance", "pca", "linear_regression"]
each_statistic = pytest.mark.parametrize("question", STATISTICS, ids=NAMES)


def rows_of(width: int, rows: int = 2_000) -> np.ndarray:
    return np.random.default_rng(width).normal(3, 1, size=(rows, width))


def curator_of(x: object, budget: mo.Budget, seed: int = 1) -> mo.Curator:
    return mo.Curator(x, budget=budget, entropy=SeededEntropy(str(seed)))


@each_statistic
def test_many_columns_are_answered_as_their_rho_is_and_charged_as_asked(question) -> None:
    x = rows_of(17, 500)
    curator = curator_of(x, mo.approx(3, "1e-5"))
    release = curator.run(question(within=WITHIN, budget=COST))
    assert release.event == EVENT
    assert curator.spent == COST
    assert {type(entry.event) for entry in release.transcript} <= {ZCDP, RangeDP}
    same = curator_of(x, mo.zcdp(1)).run(question(within=WITHIN, budget=RHO))
    assert (release.numbers, release.transcript) == (same.numbers, same.transcript)
    assert from_text(to_text(release)) == release
    assert '"delta_exact": "1/1000000"' in release.to_json()
    assert "(ε, δ) = (1, 0.000001)" in str(release)
    assert "a ρ that implies the cost" in release.explain()


@each_statistic
@pytest.mark.parametrize("width", [2, 3])
def test_few_columns_are_answered_in_pure_epsilon(question, width) -> None:
    x = rows_of(width)
    curator = curator_of(x, mo.approx(3, "1e-5"))
    release = curator.run(question(within=WITHIN, budget=COST))
    assert release.event == PureDP(Fraction(1))
    assert curator.spent == mo.Budget("approx", Fraction(1))
    same = curator_of(x, mo.pure(1)).run(question(within=WITHIN, epsilon=1))
    assert release.numbers == same.numbers


@pytest.mark.one_in(2)
@pytest.mark.parametrize("width", [64, 512])
def test_the_error_is_that_of_rho(width) -> None:
    x = rows_of(width, 4_000)

    def error(cost: mo.Budget) -> float:
        runs = [mo.mean_vector(x, within=WITHIN, budget=cost).values for _ in range(3)]
        return float(np.median(np.linalg.norm(np.array(runs) - x.mean(axis=0), axis=1)))

    found, pure, rho = error(COST), error(mo.pure(1)), error(RHO)
    assert found < 0.7 * pure
    assert 0.7 * rho < found < 1.4 * rho


@each_statistic
def test_the_number_of_columns_is_that_of_the_names_or_of_the_array(question) -> None:
    x = rows_of(17, 500)
    names = [f"x{i}" for i in range(17)]
    named = partial(question, names)
    if question is ask.linear_regression:
        named = partial(question, names[:-1], target=names[-1])
    of_array = curator_of(x, COST).run(question(within=WITHIN, budget=COST))
    of_table = curator_of(pd.DataFrame(x, columns=names), COST).run(
        named(within=WITHIN, budget=COST)
    )
    assert of_array.event == of_table.event == EVENT
    assert of_array.numbers == of_table.numbers


def test_the_better_way_follows_from_public_numbers() -> None:
    asked = ask.mean_vector(within=WITHIN, budget=COST)
    turned = [asked.of_width(width, "approx").rho is not None for width in range(1, 30)]
    assert turned == [False] * 12 + [True] * 17  # 5/4 of 10.26 columns
    assert asked.of_width(64, "approx").rho == RHO.amount
    assert asked.of_width(64, "zcdp") == asked.of_width(64, "pure") == asked


@pytest.mark.parametrize(
    ("budget", "event"),
    [
        (mo.Budget("approx", Fraction(1)), PureDP(Fraction(1))),
        (mo.approx(1, "1e-300"), PureDP(Fraction(1))),
    ],
)
def test_a_budget_that_holds_little_rho_is_spent_in_pure_epsilon(budget, event) -> None:
    asked = ask.mean_vector(within=WITHIN, budget=budget).of_width(64, "approx")
    assert asked.event == asked.allowance == event


def test_scalars_and_vectors_of_ones_own_are_as_they_were() -> None:
    x = rows_of(1)[:, 0]
    curator = curator_of(x, mo.approx(9, "1e-5"))
    for asked in (
        ask.mean(within=WITHIN, budget=COST),
        ask.quantiles(q=[0.2, 0.5], within=WITHIN, budget=COST),
        ask.vector_statistic(statistic=MeanOfRange(), within=WITHIN, budget=COST),
    ):
        assert curator.run(asked).event == PureDP(Fraction(1))
    assert curator.spent == mo.Budget("approx", Fraction(3))


@pytest.mark.parametrize(("budget", "spent"), [(mo.pure(2), "1"), (mo.zcdp(2), "0.5")])
def test_accounts_without_a_delta_pay_for_epsilon(budget, spent) -> None:
    curator = curator_of(rows_of(64), budget)
    release = curator.mean_vector(within=WITHIN, budget=COST)
    assert release.event == PureDP(Fraction(1))
    assert curator.spent.amount == Fraction(spent)


def test_rho_is_paid_as_what_it_costs_at_a_delta() -> None:
    x = rows_of(64)
    curator = curator_of(x, mo.approx(1, "1e-5"))
    with pytest.raises(InvalidArgument, match=r"zcdp_to_approx\(modicum.zcdp\(rho\), delta\)"):
        curator.mean_vector(within=WITHIN, rho="0.01")
    assert curator.spent == mo.Budget("approx", Fraction(0))
    cost = mo.zcdp_to_approx(mo.zcdp("0.01"), "1e-6")
    curator.mean_vector(within=WITHIN, budget=cost)
    assert curator.spent == cost
    rho = ask.mean_vector(within=WITHIN, budget=cost).of_width(64, "approx").rho
    assert rho == pytest.approx(0.01, rel=1e-9)


def test_what_is_refused_costs_nothing() -> None:
    x = pd.DataFrame(rows_of(20), columns=[f"x{i}" for i in range(20)])
    curator = curator_of(x, mo.approx(1, "1e-7"))
    with pytest.raises(BudgetExceeded):
        curator.mean_vector(list(x), within=WITHIN, budget=COST)
    with pytest.raises(BudgetExceeded):
        curator.release(
            a=ask.mean_vector(list(x), within=WITHIN, budget=mo.approx("0.6", "1e-8")),
            b=ask.covariance(list(x), within=WITHIN, budget=mo.approx("0.6", "1e-8")),
        )
    with pytest.raises(MissingColumn):
        curator.mean_vector([*x, "y"], within=WITHIN, budget=mo.approx(1, "1e-7"))
    with pytest.raises(InvalidArgument, match="query"):
        curator.release(a="mean_vector")
    assert curator.spent == mo.Budget("approx", Fraction(0))


def test_costs_of_several_questions_add_up() -> None:
    curator = curator_of(rows_of(20), mo.approx(4, "1e-5"))
    curator.release(
        wide=ask.mean_vector(within=WITHIN, budget=COST),
        again=ask.covariance(within=WITHIN, budget=mo.approx(1, "2e-6")),
    )
    curator.mean_vector(within=WITHIN, epsilon=1)
    assert curator.spent == mo.approx(3, "3e-6")


def test_a_person_with_several_rows_has_the_whole_cost() -> None:
    curator = mo.Curator(rows_of(30), unit=mo.unit_of(rows=2), budget=COST)
    release = curator.mean_vector(within=WITHIN, budget=COST)
    assert release.event == EVENT
    drawn = sum(entry.event.cost("zcdp").amount for entry in release.transcript)
    assert 4 * drawn == RHO.amount


@each_statistic
def test_the_audit_follows_what_is_drawn(question) -> None:
    """With a large δ two columns turn already: the draws keep the ρ that was chosen."""
    cost = mo.approx(1, "0.2")
    asked = question(within=(-8, 8), step=1, budget=cost)
    some, more = np.array([[-8.0, 8.0]]), np.array([[-8.0, 8.0], [3.0, 1.0]])
    report = audit.check(asked, [(some, more)], widths=(1, 1, 1))
    assert report.passed, report
    assert report.kind == "zcdp"
    assert report.drawn == report.claimed == mo.approx_to_zcdp(cost).amount


def test_a_key_is_asked_again_and_old_charges_pay_for_no_delta(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    Ledger.create(url).open_account("p", mo.approx(3, "1e-4"))
    curator = mo.Curator(rows_of(30), ledger=url, account="p")
    first, again = (
        curator.idempotent("k").mean_vector(within=WITHIN, budget=COST) for _ in range(2)
    )
    assert first == again
    assert curator.spent == COST
    Ledger(url).charge("p", mo.Budget("approx", Fraction(1)), request=old_text(), key="old")
    with pytest.raises(KeyReusedError):
        curator.idempotent("old").mean_vector(within=WITHIN, budget=COST)


def old_text() -> str:
    """The question as it was written when it cost (ε, 0)."""
    return query_text({"answer": ask.mean_vector(within=WITHIN, budget=COST)}, mo.unit_of(rows=1))


def test_a_plan_follows_the_better_way() -> None:
    guess = {"within": WITHIN, "sd": [1.0] * 40, "n": 3_000}
    found, pure, rho = (
        plan.mean_vector(**guess, budget=cost).error for cost in (COST, mo.pure(1), RHO)
    )
    assert found == rho < 0.7 * pure
