"""Questions inside OpenDP's compositors; skipped where OpenDP is missing."""

import math
import pickle
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

import modicum as mo
from modicum import query as ask
from modicum.api import answering
from modicum.errors import InvalidArgument
from modicum.exact.entropy import SeededEntropy
from modicum.exact.gaussian import discrete_gaussian_many
from modicum.exact.laplace import discrete_laplace_many
from modicum.interop import opendp as bridge
from modicum.interop.opendp import register, to_opendp
from tests.exact.goodness import REJECT, p_value
from tests.exact.test_gaussian import mechanism as gaussian
from tests.exact.test_laplace import mechanism as laplace

dp = pytest.importorskip(
    "opendp.prelude", reason="pip install 'opendp>=0.16' (make test-opendp does)"
)

WITHIN = (-1e6, 1e6)
DATA = [float(each) for each in range(1000)]
FLOATS = "f64"


class Repeatable(SeededEntropy):
    """Repeats itself, and yet makes releases as a user sees them."""

    secret = True


@pytest.fixture(autouse=True)
def features(monkeypatch):
    """Enable what a user enables, and disable it again."""
    monkeypatch.setattr(answering, "SYSTEM", Repeatable("opendp"))
    dp.enable_features("contrib", "honest-but-curious")
    yield
    dp.disable_features("contrib", "honest-but-curious")


def vector(carrier: str = FLOATS, **more: object):
    atom = dp.atom_domain(T=carrier, nan=True) if carrier[0] == "f" else dp.atom_domain(T=carrier)
    return dp.vector_domain(atom, **more)


def test_a_measurement_releases_the_question() -> None:
    mean = to_opendp(ask.mean(within=WITHIN, epsilon=1))
    release = mean([*DATA, math.nan])
    assert isinstance(release, mo.Release)
    assert release.value == pytest.approx(499.5, abs=20)
    assert release.account == "counted by OpenDP"
    assert release.private
    assert mean(DATA) != mean(DATA)
    assert (mean >> float)(DATA) == pytest.approx(499.5, abs=20)
    assert mean([]).statistic == "mean"


@pytest.mark.parametrize(
    "question",
    [ask.mean(within=WITHIN, epsilon=1), ask.cdf(points=[500], epsilon=1)],
    ids=["mean", "cdf"],
)
def test_opendp_hangs_no_data_on_a_release(question) -> None:
    measurement = to_opendp(question)
    for release in (measurement(DATA), dp.c.make_composition([measurement])(DATA)[0]):
        assert not hasattr(release, "__opendp_dict__")
        assert pickle.loads(pickle.dumps(release)) == release


def test_several_numbers() -> None:
    found = to_opendp(ask.quantiles(q=[0.25, 0.75], within=WITHIN, epsilon=3))(np.array(DATA))
    assert found.values == pytest.approx([250, 750], abs=30)
    assert to_opendp(ask.histogram(edges=[0, 500, 1000], rho=1)).output_measure == (
        dp.zero_concentrated_divergence()
    )


@pytest.mark.parametrize("carrier", ["f32", "f64", "bool", "i32", "i64", "u32", "u64"])
def test_numbers_of_every_kind(carrier) -> None:
    data = [True, False] * 200 if carrier == "bool" else [1, 3] * 200
    data = [float(each) for each in data] if carrier[0] == "f" else data
    total = to_opendp(ask.sum(within=WITHIN, epsilon=5), domain=vector(carrier))
    assert total(data).value == pytest.approx(sum(data), abs=20)


TENTH = Fraction(1, 10)


def rounded_up(found: float, exact: Fraction) -> bool:
    """Say whether it is the least float64 that is not below."""
    return Fraction(math.nextafter(found, -math.inf)) < exact <= Fraction(found)


@pytest.mark.parametrize("distance", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("amount", ["0.1", "0.3", "1", "1/3", "1e-9", "12.5"])
def test_the_map_is_rounded_up(amount, distance) -> None:
    exact = Fraction(amount)
    pure = to_opendp(ask.count(epsilon=exact))
    assert pure.output_measure == dp.max_divergence()
    assert rounded_up(pure.map(distance), distance * exact)
    concentrated = to_opendp(ask.count(rho=exact))
    assert rounded_up(concentrated.map(distance), distance**2 * exact)
    approximate = to_opendp(ask.count(budget=mo.approx(exact, "1e-9")))
    assert approximate.output_measure == dp.approximate(dp.max_divergence())
    assert approximate.map(distance) == (pure.map(distance), 0.0)


@pytest.mark.parametrize("distance", [0, 1, 2, 7])
def test_a_changed_record_is_one_less_and_one_more(distance) -> None:
    for cost, times in (("epsilon", 2), ("rho", 4)):
        asked = ask.count(**{cost: "0.3"})
        added = to_opendp(asked)
        changed = to_opendp(asked, domain=vector(size=3), metric=dp.change_one_distance())
        assert added.map(0) == changed.map(0) == 0
        assert changed.map(distance) == added.map(2 * distance)
        assert changed.map(1) == pytest.approx(0.3 * times)
        assert changed([1.0, 2.0, 3.0]).statistic == "count"


def test_sequential_and_adaptive_composition() -> None:
    mean, middle = (
        to_opendp(ask.mean(within=WITHIN, epsilon=1)),
        to_opendp(ask.median(within=WITHIN, epsilon="0.5")),
    )
    both = dp.c.make_composition([mean, middle])
    assert both.map(2) == 3
    assert [each.statistic for each in both(DATA)] == ["mean", "median"]
    space = vector(), dp.symmetric_distance()
    adaptive = dp.c.make_adaptive_composition(
        *space, output_measure=dp.max_divergence(), d_in=1, d_mids=[1.0, 0.5]
    )(DATA)
    assert adaptive(mean).statistic == "mean"
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        adaptive(mean)
    assert adaptive(middle).statistic == "median"
    with pytest.raises(dp.OpenDPException):
        adaptive(middle)


def test_it_is_chained_behind_a_transformation() -> None:
    clamp = dp.t.make_clamp(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance(), (0.0, 10.0)
    )
    middle = to_opendp(ask.median(within=WITHIN, epsilon=5), domain=clamp.output_domain)
    assert (clamp >> middle)(DATA).value == pytest.approx(10)


@pytest.fixture
def registered() -> None:
    """Register it, twice, which is no error."""
    register()
    register()


@pytest.mark.parametrize(
    ("loss", "made"),
    [
        ({"epsilon": 1.0}, lambda epsilon: ask.mean(within=WITHIN, epsilon=epsilon)),
        ({"rho": 0.5}, lambda rho: ask.mean(within=WITHIN, rho=rho)),
        (
            {"epsilon": 1.0, "delta": 1e-6},
            lambda e: ask.mean(within=WITHIN, budget=mo.approx(e, "1e-9")),
        ),
    ],
    ids=["pure", "zcdp", "approx"],
)
@pytest.mark.parametrize("contributions", [1, 3])
def test_a_context_asks(registered, loss, made, contributions) -> None:
    context = dp.Context.compositor(
        data=DATA,
        privacy_unit=dp.unit_of(contributions=contributions),
        privacy_loss=dp.loss_of(**loss),
        split_evenly_over=3,
        domain=vector(),
    )
    query = context.query().modicum(made)
    release = query.release()
    assert release.statistic == "mean"
    cost = release.event.rho if "rho" in loss else release.event.epsilon
    share = Fraction(next(iter(loss.values()))) / 3
    times = contributions**2 if "rho" in loss else contributions
    assert share * (1 - Fraction(1, 10**6)) < cost * times <= share * (1 + Fraction(1, 10**15))
    for _ in range(2):
        context.query().modicum(made, 0.01).release()
    with pytest.raises(ValueError, match="exhausted"):
        context.query()


def test_a_cost_can_be_set(registered) -> None:
    context = dp.Context.compositor(
        data=DATA,
        privacy_unit=dp.unit_of(changes=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        domain=vector(),
    )
    query = context.query(epsilon=0.5)
    release = query.modicum(lambda epsilon: ask.count(epsilon=epsilon), 0.25).release()
    assert release.event.epsilon == Fraction(1, 4)
    with pytest.raises(InvalidArgument, match="a function from a cost"):
        context.query(epsilon=0.5).modicum(ask.count(epsilon=1), 0.25)


def test_the_features_are_the_users_to_enable() -> None:
    dp.disable_features("honest-but-curious")
    with pytest.raises(InvalidArgument, match=r"run opendp.prelude.enable_features\('contrib', 'h"):
        to_opendp(ask.count(epsilon=1))
    with pytest.raises(InvalidArgument, match="enable_features"):
        register.__wrapped__()
    assert "honest-but-curious" not in import_module("opendp.mod").GLOBAL_FEATURES


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (lambda: {"question": 3}, "modicum.query.mean(...), got int"),
        (lambda: {"question": ask.count("wage", epsilon=1)}, "leave out column='wage'"),
        (lambda: {"domain": dp.atom_domain(T=float)}, "vector_domain of an atom_domain.*f64"),
        (lambda: {"domain": vector("String")}, "numbers or bools.*String"),
        (lambda: {"domain": float}, "got type"),
        (lambda: {"metric": dp.absolute_distance(float)}, r"change_one_distance\(\), got Absolute"),
        (lambda: {"metric": "symmetric"}, "got str"),
    ],
)
def test_wrong_arguments(arguments, text) -> None:
    given = {"question": ask.count(epsilon=1)} | arguments()
    with pytest.raises(InvalidArgument, match=text.replace("(...)", r"\(...\)")):
        to_opendp(**given)


def test_without_opendp(monkeypatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(bridge, "import_module", missing)
    with pytest.raises(InvalidArgument, match=r"pip install opendp"):
        to_opendp(ask.count(epsilon=1))


DRAWS = 20_000
SCALES = [Fraction(1), Fraction(10, 3), Fraction(23)]
ALARM = 1e-6  # draws of OpenDP cannot be repeated: a false alarm in a million runs


def theirs(make, metric, scale: Fraction) -> list[int]:
    """Draw from OpenDP, at a scale that both libraries read alike."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), metric
    return make(*space, float(scale))([0] * DRAWS)


@pytest.mark.parametrize("scale", SCALES)
def test_both_libraries_draw_from_the_discrete_laplace(scale) -> None:
    scale = Fraction(float(scale))
    ours = discrete_laplace_many(scale, DRAWS, SeededEntropy("ours")).tolist()
    for draws in (ours, theirs(dp.m.make_laplace, dp.l1_distance(T="i64"), scale)):
        assert p_value(draws, laplace(float(scale))) > ALARM
        assert p_value(draws, laplace(1.3 * float(scale))) < REJECT


@pytest.mark.parametrize("scale", SCALES)
def test_both_libraries_draw_from_the_discrete_gaussian(scale) -> None:
    scale = Fraction(float(scale))
    ours = discrete_gaussian_many(scale**2, DRAWS, SeededEntropy("ours")).tolist()
    for draws in (ours, theirs(dp.m.make_gaussian, dp.l2_distance(T="i64"), scale)):
        assert p_value(draws, gaussian(float(scale) ** 2)) > ALARM
        assert p_value(draws, gaussian((1.3 * float(scale)) ** 2)) < REJECT
