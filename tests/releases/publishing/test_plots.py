"""Pictures without a display: what is drawn are the released numbers and their intervals."""

import builtins
import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.releases.publishing import plots

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pyplot = pytest.importorskip("matplotlib.pyplot")
LineCollection = pytest.importorskip("matplotlib.collections").LineCollection

RNG = np.random.default_rng(7)
N = 8000
PLACES = ["North", "So$uth$_1", "<b>East</b>"]
TABLE = pd.DataFrame(
    {
        "income": RNG.lognormal(10.5, 0.6, N),
        "age": RNG.integers(0, 95, N),
        "zeros": np.where(RNG.random(N) < 0.1, RNG.lognormal(0, 1.5, N), 0.0),
        "rare": (RNG.random(N) < 0.02) * 1.0,
        "tiny": RNG.normal(0, 1e-9, N),
        "huge": RNG.pareto(1.2, N) * 1e9,
        "place": RNG.choice(PLACES, N),
        "sex": RNG.choice(["f", "m"], N),
    }
)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def curator() -> mo.Curator:
    return mo.Curator(TABLE, budget=mo.approx(900, "1e-4"), entropy=SeededEntropy("plots"))


def segments(ax) -> np.ndarray:
    """The ends of all intervals that were drawn, in the order of the points."""
    found = [each for each in ax.collections if isinstance(each, LineCollection)]
    return np.concatenate([each.get_segments() for each in found])


def ends(ax, axis: int) -> np.ndarray:
    return segments(ax)[:, :, axis]


def points(ax) -> tuple[np.ndarray, np.ndarray]:
    """Where the points are that can be used."""
    (line,) = [each for each in ax.lines if each.get_marker() == "o"]
    return line.get_xdata(), line.get_ydata()


def drawn_again(ax) -> None:
    """It can be rendered, with warnings as errors."""
    ax.figure.canvas.draw()


def test_a_number_is_a_point_with_its_interval() -> None:
    release = curator().mean("income", epsilon=1)
    ax = release.plot()
    drawn_again(ax)
    assert points(ax)[0].tolist() == [release.value]
    np.testing.assert_allclose(ends(ax, 0), [release.interval()])
    assert ax.get_title().startswith("mean of income\n95 % intervals, ε = 1")
    assert ax.get_xlabel() == "mean of income"
    np.testing.assert_allclose(
        ends(release.plot(level=0.5, tail=None), 0), [release.interval(0.5, None)]
    )
    assert "50 % intervals" in pyplot.gca().get_title()


def test_a_histogram_is_bars_with_whiskers() -> None:
    edges = [-np.inf, 10, 18, 30, 65, np.inf]
    release = curator().histogram("age", edges=edges, epsilon="0.1")
    ax = release.plot()
    drawn_again(ax)
    assert [bar.get_height() for bar in ax.patches] == release.values.tolist()
    assert [bar.get_x() for bar in ax.patches] == [2, 10, 18, 30, 65]
    assert [bar.get_width() for bar in ax.patches] == [8, 8, 12, 35, 35]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False, False, False, True]
    np.testing.assert_allclose(ends(ax, 1), np.array(release.interval()).T)
    assert [each.get_text() for each in ax.get_xticklabels()] == ["-∞", "10", "18", "30", "65", "∞"]
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > release.interval().upper.max()


def test_bins_of_very_unlike_widths_are_drawn_equally_wide() -> None:
    release = curator().histogram("income", bins=6, within=(0, 1e9), epsilon=1)
    ax = release.plot()
    drawn_again(ax)
    assert {bar.get_width() for bar in ax.patches} == {1.0}
    assert "equally wide" in ax.get_xlabel()
    assert ax.get_xticklabels()[-1].get_text() == "1,000,000,000"
    lonely = curator().histogram("age", edges=[-np.inf, 40, np.inf], epsilon=1).plot()
    drawn_again(lonely)
    assert len(lonely.patches) == 2


def test_a_distribution_function_is_steps_in_a_band() -> None:
    release = curator().cdf("age", points=[10, 20, 40, 80], epsilon="0.1")
    ax = release.plot()
    drawn_again(ax)
    (line,) = ax.lines
    assert line.get_drawstyle() == "steps-post"
    assert line.get_ydata().tolist() == release.values.tolist()
    band = next(each for each in ax.collections if not isinstance(each, LineCollection))
    corners = band.get_paths()[0].vertices[:, 1]
    lower, upper = release.interval()
    assert {*lower, *upper} <= {*corners}
    np.testing.assert_allclose(ends(ax, 1), np.array([lower, upper]).T)
    assert ax.get_xlabel() == "age"


def test_quantiles_are_points_against_q() -> None:
    release = curator().quantiles("income", q=[0.1, 0.5, 0.9], epsilon=1)
    ax = release.plot()
    drawn_again(ax)
    assert [each.tolist() for each in points(ax)] == [[0.1, 0.5, 0.9], release.values.tolist()]
    np.testing.assert_allclose(ends(ax, 1), np.array(release.interval()).T)
    assert "simultaneous" in ax.get_title()
    assert ax.get_ylabel() == "income"


@pytest.mark.parametrize("asked", ["mean_vector", "linear_regression", "pca", "covariance"])
def test_vectors_and_matrices(asked) -> None:
    options = {"linear_regression": {"target": "income"}, "pca": {"components": 2}}.get(asked, {})
    columns = ["age", "rare"] if options.get("target") else ["age", "rare", "income"]
    release = getattr(curator(), asked)(columns, epsilon=1, **options)
    ax = release.plot()
    drawn_again(ax)
    names = [each.get_text() for each in ax.get_yticklabels()]
    if len(release.shape) == 1:
        assert points(ax)[0].tolist() == release.values[::-1].tolist()
        assert names == [*map(str, release.labels[::-1])]  # the first one on top
        return
    np.testing.assert_array_equal(ax.images[0].get_array(), release.values)
    assert len(ax.texts) == release.values.size
    assert all("±" in text.get_text() for text in ax.texts)
    assert "intervals: ±" in ax.figure.axes[1].get_ylabel()


def test_groups_are_sorted_and_those_left_out_are_counted() -> None:
    groups = curator().group_by("age", keys=range(95)).count(epsilon=1)
    ax = groups.plot(most=10)
    drawn_again(ax)
    values = sorted(each.value for each in groups.values())[-10:]
    assert points(ax)[0].tolist() == values
    assert "the largest 10 of 95" in ax.get_title()
    keys = [int(each.get_text()) for each in ax.get_yticklabels()]
    assert [groups[key].value for key in keys] == values
    np.testing.assert_allclose(ends(ax, 0), [groups[key].interval() for key in keys])
    assert len(points(groups.plot())[0]) == 40


def test_what_cannot_be_used_is_a_cross_and_its_interval_ends_in_arrows() -> None:
    groups = curator().group_by("place", keys=[*PLACES, "Nowhere"]).mean("income", epsilon=1)
    assert [key for key in groups if not groups[key].usable] == ["Nowhere"]
    ax = groups.plot()
    drawn_again(ax)
    used = np.array([groups[key].interval() for key in PLACES])
    low, high = ax.get_xlim()
    assert low < used.min() < used.max() < high < used.max() * 1.5
    assert len(points(ax)[0]) == 3
    (cross,) = [line for line in ax.lines if line.get_marker() == "x" and len(line.get_xdata())]
    at = cross.get_ydata()[0]
    assert ax.get_yticklabels()[int(at)].get_text() == "Nowhere"
    arrows = {line.get_marker(): line.get_ydata() for line in ax.lines}
    assert at in arrows["<"]
    assert at in arrows[">"]
    assert ax.get_title().endswith("; × cannot be used")
    assert "×" not in curator().group_by("place", keys=PLACES).count(epsilon=1).plot().get_title()
    nobody = curator().where("age > 200")
    shares = nobody.cdf("age", points=[10, 20], epsilon="0.01")
    assert not shares.usable
    assert shares.plot().lines[0].get_marker() == "x"
    matrix = nobody.covariance(["age", "income"], epsilon="0.01")
    assert all("× " in text.get_text() for text in matrix.plot().texts)
    lost = nobody.mean("income", epsilon="0.01").plot()
    drawn_again(lost)
    assert "no usable answer" in lost.get_title()


def test_an_interval_that_is_much_wider_than_the_others_ends_in_an_arrow() -> None:
    many = plots.Drawn(
        "title", "values", "said", [(each,) for each in "abcde"], np.arange(5.0),
        np.array([-1, 0, 1, 2, -1e9]), np.array([1, 2, 3, 4, 1e9]), np.full(5, fill_value=True),
    )  # fmt: skip
    ax = plots.named(many, None, 40)
    assert ax.get_xlim()[1] < 10
    assert sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() in "<>") == 2


def test_a_crosstab_is_a_heat_map_with_intervals() -> None:
    keys = {"place": PLACES, "sex": ["f", "m"]}
    table = curator().crosstab("place", "sex", keys=keys, epsilon=1)
    ax = table.plot()
    drawn_again(ax)
    grid = [[table[place, sex] for sex in "fm"] for place in PLACES]
    np.testing.assert_array_equal(ax.images[0].get_array(), grid)
    half = table.numbers()["North", "f"]
    assert ax.texts[0].get_text() == (
        f"{table['North', 'f']:,}\n±{(half.upper - half.lower) / 2:g}"
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sex", "place")
    some = curator().crosstab(
        "place", "sex", keys=[("North", "f"), ("<b>East</b>", "m")], epsilon=1
    )
    holes = some.plot()
    drawn_again(holes)
    assert holes.images[0].get_array().mask.tolist() == [[False, True], [True, False]]
    few = table.plot(most=1)
    assert "place: the first 1 of 3; sex: the first 1 of 2" in few.get_title()


def test_counts_of_labels_leave_out_the_total() -> None:
    counts = curator().value_counts("place", keys=PLACES, epsilon=1)
    ax = counts.plot()
    drawn_again(ax)
    names = [each.get_text() for each in ax.get_yticklabels()]
    assert names == [*counts.keys][::-1]
    assert points(ax)[0].tolist() == [counts[name] for name in names]
    three = {"place": PLACES, "sex": ["f", "m"], "rare": [0, 1]}
    table = curator().crosstab("place", "sex", "rare", keys=three, epsilon=1)
    assert len(points(table.plot())[0]) == 12


def test_several_numbers_of_groups_are_panels_on_one_scale() -> None:
    groups = curator().group_by("place", keys=PLACES).quantiles("income", q=[0.2, 0.8], epsilon=1)
    axes = groups.plot()
    drawn_again(axes[0])
    assert len(axes) == 3
    for ax, release in zip(axes, groups.values(), strict=True):
        assert points(ax)[1].tolist() == release.values.tolist()
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert axes[0].get_title() == "place = North"
    assert "simultaneous 95 % intervals" in axes[0].figure.get_suptitle()
    _, mine = pyplot.subplots(2)
    two = groups.plot(mine, most=2)
    assert [ax in mine for ax in two] == [True, True]
    assert "1 more are not shown" in two[-1].get_title()
    with pytest.raises(mo.InvalidArgument, match="3 axes, one for each"):
        groups.plot(mine)


def test_a_description_is_a_panel_for_each_column() -> None:
    found = curator().describe(budget=mo.approx(5, "1e-6"))
    axes = found.plot()
    drawn_again(axes[0])
    assert [ax.get_title() for ax in axes] == [*found.columns, *found.labels]
    place = found.columns.index("income")
    values = points(axes[place])[0].tolist()
    assert values[-1] == found.numbers["mean income"].value
    assert values[-2::-1] == found.numbers["quartiles income"].values.tolist()


@pytest.mark.parametrize("column", ["zeros", "rare", "tiny", "huge"])
@pytest.mark.parametrize("epsilon", ["1", "0.1"])
@pytest.mark.one_in(16)
def test_ugly_columns(column, epsilon) -> None:
    c = curator()
    for release in (
        c.mean(column, epsilon=epsilon),
        c.quantiles(column, q=[0.1, 0.5, 0.9], epsilon=epsilon),
        c.histogram(column, bins=5, epsilon=epsilon),
        c.cdf(column, points=[-1, 0, 1e9], epsilon=epsilon),
        c.mean_vector([column, "income"], epsilon=epsilon),
        c.covariance([column, "income"], epsilon=epsilon),
        c.group_by("place", keys=PLACES).mean(column, epsilon=epsilon),
    ):
        ax = release.plot()
        drawn_again(ax)
        assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()


@pytest.mark.usefixtures("few_runs")
def test_plans_are_curves() -> None:
    curve = mo.plan.mean(n=10_000, sd=5, within=(-1e6, 1e6), epsilon=1).curve(epsilon=["0.1", 1])
    ax = curve.plot()
    drawn_again(ax)
    errors, half, sampling = ax.lines
    assert errors.get_xdata().tolist() == [0.1, 1.0]
    assert errors.get_ydata().tolist() == [each.error for each in curve]
    assert half.get_ydata().tolist() == [each.interval_width / 2 for each in curve]
    assert sampling.get_ydata().tolist() == [0.05, 0.05]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    wide = mo.plan.mean(n=10_000, sd=5, epsilon=1).curve(epsilon=["0.001", 1]).plot()
    drawn_again(wide)
    assert "^" in {line.get_marker() for line in wide.lines}
    assert wide.get_ylim()[1] < 1e6


def test_a_curator_draws_what_was_charged() -> None:
    c = mo.Curator(TABLE, budget=mo.pure(4))
    c.mean("income", epsilon=1)
    c.where("sex == 'f'").count(epsilon="0.5")
    ax = c.plot()
    drawn_again(ax)
    bars = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert bars == [(0, 1), (1, 0.5), (1.5, 2.5)]
    names = [each.get_text() for each in ax.get_yticklabels()]
    assert names == ["mean of income", "count, where sex == 'f'", "left: 2.5"]
    assert ax.get_title() == "ε = 1.5 spent\nof ε = 4 for one row"
    last = c.plot(most=1)
    assert [bar.get_width() for bar in last.patches] == [1, 0.5, 2.5]
    assert last.get_yticklabels()[0].get_text() == "1 before"
    drawn_again(mo.Curator(TABLE, budget=mo.pure(4)).plot())


def test_axes_of_any_style_are_used_and_their_colours_kept() -> None:
    release = curator().quantiles("income", q=[0.1, 0.9], epsilon=1)
    for style, ink in (("default", "black"), ("dark_background", "white")):
        with pyplot.style.context(style):
            _, ax = pyplot.subplots()
        assert release.plot(ax) is ax
        assert ax.xaxis.label.get_color() == ink
        bars = curator().histogram("age", edges=[0, 50, 99], epsilon=1).plot(ax)
        whiskers = [each for each in bars.collections if isinstance(each, LineCollection)][-1]
        assert matplotlib.colors.same_color(whiskers.get_color()[0], ink)
    release.plot(ax)
    two = [line.get_color() for line in ax.lines if line.get_marker() == "o"]
    assert len({*two}) == 2


def test_labels_are_text_and_not_formulas() -> None:
    groups = curator().group_by("place", keys=PLACES).count(epsilon=1)
    ax = groups.plot()
    drawn_again(ax)
    assert not any(label.get_parse_math() for label in (*ax.get_yticklabels(), ax.title))
    assert plots.shown_label("a\u202eb\n" + "x" * 99) == "a�b " + "x" * 35 + "…"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda r: r.plot(5), "got int"),
        (lambda r: r.plot(level=95), "in percent that is 0.95"),
        (lambda r: r.plot(most=0), "whole number of at least 1"),
        (lambda r: r.plot(most=True), "whole number of at least 1"),
        (lambda r: r.plot(kind="bar"), "has no argument 'kind'"),
    ],
)
def test_arguments_that_cannot_be_used(call, told) -> None:
    for release in (
        curator().mean("income", epsilon=1),
        curator().histogram("age", edges=[0, 9], epsilon=1),
        curator().value_counts("sex", keys=["f"], epsilon=1),
    ):
        with pytest.raises(mo.InvalidArgument, match=told):
            call(release)


def test_without_matplotlib_it_says_what_to_install(monkeypatch) -> None:
    release = curator().mean("income", epsilon=1)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    usual = builtins.__import__

    def missing(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.setattr(plots, "import_module", missing)
    with pytest.raises(mo.InvalidArgument, match=r"pip install matplotlib"):
        release.plot()


def test_nothing_of_matplotlib_is_imported_before_it_is_drawn() -> None:
    code = (
        "import modicum as mo, sys\n"
        "release = mo.mean([1.0] * 99, epsilon=1)\n"
        "str(release), release._repr_html_(), release.explain(), dir(release)\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_panels_need_something_to_draw() -> None:
    counts = curator().group_by("place", keys=PLACES).histogram("age", edges=[0, 9], epsilon=1)
    empty = type(counts)(
        counts.statistic, counts.column, counts.by, {}, counts.event, counts.unit, None,
        counts.engine, counts.account,
    )  # fmt: skip
    with pytest.raises(mo.InvalidArgument, match="nothing to draw"):
        empty.plot()
    assert list(itertools.islice(empty, 1)) == []
