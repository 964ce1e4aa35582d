"""Attacks on numbers: low bits, summation order, missing and infinite values, error texts."""

import math

import numpy as np
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy

WITHIN = (-1e9, 1e9)
STEP = 2.0**-21
QUESTIONS = {
    "mean": mo.query.mean(within=WITHIN, epsilon=1),
    "subset": mo.query.mean(within=WITHIN, epsilon=1, method="subset"),
    "zcdp": mo.query.mean(within=WITHIN, rho="0.1"),
    "sum": mo.query.sum(within=WITHIN, epsilon=1),
    "quantile": mo.query.quantile(q=0.9, within=WITHIN, epsilon=1),
    "median, zcdp": mo.query.median(within=WITHIN, rho="0.1"),
    "count": mo.query.count(epsilon=1),
}


def released(data, question, seed="attack") -> mo.Release:
    curator = mo.Curator(
        np.asarray(data, dtype=float),
        budget=mo.zcdp(10) if "rho" in repr(question) or "zcdp" in repr(question) else mo.pure(10),
        entropy=SeededEntropy(seed),
    )
    return curator.run(question)


@pytest.fixture(params=QUESTIONS, ids=list(QUESTIONS))
def question(request):
    return QUESTIONS[request.param]


def integers_in(outcome: object) -> list[object]:
    return list(outcome) if isinstance(outcome, tuple) else [outcome]


def test_every_draw_is_an_integer_whose_support_ignores_the_data(question) -> None:
    """Mironov (2012): the low bits of float noise tell the data. Here no draw has any."""
    for value in (0.0, 1.0, 1 / 3, 2.0**-52, 1e9):
        release = released(np.full(300, value), question)
        for entry in release.transcript:
            assert all(type(x) is int for x in integers_in(entry.outcome))


def test_released_sums_are_whole_steps_whatever_the_data() -> None:
    for value in (0.0, 1.0, math.pi, 1e-300):
        for seed in range(20):
            release = released(np.full(50, value), QUESTIONS["sum"], f"{seed}")
            assert (release.value / STEP).is_integer()


def test_the_precision_attack_finds_no_bit_to_tell_zero_from_one() -> None:
    """Outputs near zero under data 0 must not be finer than under data 1."""

    def finest(value: float) -> int:
        """Largest denominator of an output in steps: 1 means that no output is finer."""
        outputs = [released([value], QUESTIONS["sum"], f"p{seed}").value for seed in range(200)]
        return max((x / STEP).as_integer_ratio()[1] for x in outputs)

    assert finest(0.0) == finest(1.0) == 1


def test_order_and_representation_do_not_matter(question) -> None:
    """Casacuberta et al. (2022): float sums depend on order. These do not, bit for bit."""
    rng = np.random.default_rng(3)
    data = np.concatenate([rng.normal(size=3000) * 1e3, [1e8, -1e8, 0.1, 0.2, 0.3] * 20])
    # Fewer than 2^12 records: no subsample, so the same seed gives the same draws.
    expected = released(data, question)
    for order in (np.sort(data), np.sort(data)[::-1], rng.permutation(data)):
        assert released(order, question).to_json() == expected.to_json()


def test_missing_values_leave_no_trace(question) -> None:
    data = np.random.default_rng(4).exponential(size=3000)
    with_missing = np.insert(data, [0, 10, 3000], np.nan)
    first, second = released(data, question), released(with_missing, question)
    assert first.to_json() == second.to_json()


def test_infinities_count_as_the_ends_of_the_range(question) -> None:
    data = np.random.default_rng(5).normal(size=2000)
    probing = [np.inf, -np.inf, 1e300, -1e300]
    clamped = [1e9, -1e9, 1e9, -1e9]
    first = released(np.append(data, probing), question)
    second = released(np.append(data, clamped), question)
    assert first.to_json() == second.to_json()
    assert math.isfinite(first.value)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [5.0],
        [np.nan] * 10,
        [np.inf],
        [7.0] * 1000,
        [5e-324, -5e-324],
        [1.7e308] * 9,
        [0.0, 1e9],
    ],
    ids=["empty", "one", "missing", "infinite", "constant", "tiny", "huge", "ends"],
)
def test_no_data_make_a_difference_in_behaviour(data, question) -> None:
    release = released(data, question)
    lower, upper = release.interval()
    assert all(math.isfinite(x) for x in (release.value, lower, upper))
    assert release.to_json()
    assert release.explain()


@pytest.mark.parametrize(
    "call",
    [
        lambda data: mo.mean(data, within=(1, 0), epsilon=1),
        lambda data: mo.mean(data, within=WITHIN, epsilon=0),
        lambda data: mo.mean(data, within=WITHIN, epsilon=1, step=1e-9),
        lambda data: mo.mean(data, "income", within=WITHIN, epsilon=1),
        lambda data: mo.Curator(data, budget=mo.pure(1)).mean(within=WITHIN, epsilon=2),
    ],
    ids=["range", "epsilon", "step", "column", "budget"],
)
def test_error_texts_do_not_depend_on_values(call) -> None:
    texts = set()
    for data in ([], [1.0], [123456.789, np.nan], [np.inf] * 5):
        with pytest.raises(mo.ModicumError) as caught:
            call(np.array(data))
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert "123456" not in texts.pop()


def in_pandas(x: np.ndarray) -> object:
    return pytest.importorskip("pandas").Series(x)


@pytest.mark.parametrize("wrap", [np.asarray, list, in_pandas])
def test_a_signalling_nan_makes_no_warning(wrap) -> None:
    """A cast of such a value sets a floating-point flag; warnings are errors in these tests."""
    data = np.arange(50_000, dtype=np.float32)
    data.view(np.uint32)[5] = 0x7FA00000
    assert math.isfinite(mo.mean(wrap(data), within=(-1e6, 1e6), epsilon=1).value)


@pytest.mark.parametrize("within", [(-2e307, 2e307), (0, 1e-300), (1e9, 1e9 + 1), (-5, -3)])
@pytest.mark.parametrize("cost", ["1e-9", "0.001", "1", "100", "100000"])
def test_extreme_ranges_and_costs_release_finite_numbers(within, cost) -> None:
    data = np.linspace(*within, 1000)
    for name in ("mean", "sum", "count"):
        arguments = {} if name == "count" else {"within": within}
        release = getattr(mo, name)(data, epsilon=cost, **arguments)
        assert all(map(math.isfinite, (release.value, *release.interval())))
        assert release.to_json()


def test_costs_too_small_for_any_law_are_refused() -> None:
    for cost in ({"epsilon": "1e-320"}, {"rho": "1e-30"}, {"epsilon": "1e-10"}):
        curator = mo.Curator([1.0, 2.0], budget=mo.zcdp(1))
        with pytest.raises(mo.InvalidArgument, match="too small"):
            curator.mean(within=WITHIN, **cost)
        assert curator.spent.amount == 0
