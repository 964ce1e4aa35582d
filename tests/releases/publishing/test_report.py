"""Pages: well-formed, escaped, with no network and no scripts, and everything that is promised."""

import json
import math
import re
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.mechanisms.additive import LaplaceNoise
from modicum.releases.publishable import Publishable
from modicum.releases.publishing import page, picture, report
from modicum.releases.publishing.rounding import written
from modicum.releases.publishing.table import shown

NASTY = "</script><b onclick='x'>\u202e"
LONG = "a very long label " * 40
N = 9000
RNG = np.random.default_rng(1)
TABLE = pd.DataFrame(
    {
        "x": RNG.lognormal(3, 1, N),
        NASTY: RNG.normal(50, 9, N),
        "place": ["North", NASTY, LONG] * (N // 3),
        "sex": ["f", "m"] * (N // 2),
        "code": np.arange(N) % 3000,
    }
)
PLACES = ["North", NASTY, LONG]
BOTH = {"place": PLACES, "sex": ["f", "m"]}
KINDS = {
    "mean": lambda c: c.mean(NASTY, epsilon=1),
    "count": lambda c: c.where("sex == 'f'").count(epsilon=1),
    "sum": lambda c: c.sum("x", epsilon=1),
    "median": lambda c: c.median("x", epsilon=1),
    "population": lambda c: c.mean("x", population=True, epsilon=1),
    "quantiles": lambda c: c.quantiles("x", q=[0.1, 0.5], epsilon=1),
    "histogram": lambda c: c.histogram("x", edges=range(0, 200, 20), epsilon=1),
    "many bins": lambda c: c.histogram("x", edges=range(300), epsilon=1),
    "cdf": lambda c: c.cdf("x", points=range(0, 300, 2), epsilon=1),
    "vector": lambda c: c.mean_vector(["x", "code"], epsilon=1),
    "regression": lambda c: c.linear_regression(["x"], target="code", epsilon=1),
    "groups": lambda c: c.group_by("place", keys=PLACES).mean("x", epsilon=1),
    "drawn": lambda c: c.group_by("place", key_budget=mo.approx(1, "1e-6")).count(epsilon=1),
    "arrays": lambda c: c.group_by("sex", keys=["f", "m"]).quantiles("x", q=[0.5], epsilon=1),
    "many": lambda c: c.group_by("code", keys=list(range(2000))).count(epsilon=1),
    "crosstab": lambda c: c.crosstab("place", "sex", keys=BOTH, epsilon=1),
    "value counts": lambda c: c.value_counts("place", keys=PLACES, epsilon=1),
    "description": lambda c: c.describe(budget=mo.approx(4, "1e-6")),
    "nothing": lambda c: c.where("sex == 'x'").mean("x", epsilon="0.1"),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    curator = mo.Curator(TABLE, budget=mo.approx(90, "1e-4"))
    releases = {name: make(curator) for name, make in KINDS.items()}
    return {
        name: (each, each.report(folder / f"{name}.html").read_text("utf-8"))
        for name, each in releases.items()
    }


VOID = {"meta", "link"}
NAMES = {
    "http-equiv",
    "class",
    "style",
    "scope",
    "role",
    "tabindex",
    "lang",
    "charset",
    "name",
    "content",
    "id",
}
SHAPES = {"viewbox", "preserveaspectratio", "aria-hidden", "aria-label", "x", "y", "x1", "x2", "y1"}
SHAPES |= {"y2", "width", "height", "fill", "fill-opacity", "stroke", "stroke-width", "d", "points"}
SHAPES |= {"stroke-linecap", "rel", "href", "type"}


class Checked(HTMLParser):
    """Every tag is closed by its own; nothing is run, and nothing is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.tags: list[str] = []
        self.said: list[str] = []
        self.data = ""

    def handle_starttag(self, tag, attrs) -> None:
        found = dict(attrs)
        assert found.keys() <= NAMES | SHAPES, attrs
        assert "url(" not in str(found.get("style"))
        if tag == "script":
            assert found == {"type": "application/json", "id": "record"}
        if tag == "link":
            assert found["href"] == "data:,"
        else:
            assert "href" not in found
        if found.get("role") == "img":
            assert len(found["aria-label"]) > 20
            self.said.append(found["aria-label"])
        if tag == "svg":
            assert found["aria-hidden"] == "true"
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data) -> None:
        if self.open[-1:] == ["script"]:
            self.data += data
        elif self.open[-1:] == ["style"]:
            assert "@import" not in data
            assert "url(" not in data
        else:
            self.text.append(data)


def parsed(text: str) -> Checked:
    parser = Checked()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_whole(pages, kind) -> None:
    release, text = pages[kind]
    found = parsed(text)
    assert found.tags.count("h1") == 1
    assert "\u202e" not in text
    assert "default-src 'none'" in text
    assert "://" not in text.partition('<script type="application/json"')[0]
    assert Publishable.from_json(found.data) == release
    words = "\n".join(found.text)
    for part in (
        "Released with differential privacy",
        "What the interval assumes",
        "What is promised, and to whom",
        "What it costs, and what is left",
        "What the numbers do not say",
        "Who and when",
        "How to cite it",
        "How it was made",
        "How to check it",
        "signature",
        str(release.total_event.amounts["epsilon"]),
        "present or absent",
    ):
        assert part in words
    assert release.usable != ("cannot be used" in text.partition("<figure>")[0])


def test_a_number_is_said_as_it_is_published(pages) -> None:
    release, text = pages["mean"]
    (number,) = release.publish().numbers
    words = "\n".join(parsed(text).text)
    assert f"\n{shown(number.value)}\n" in words
    assert f"is between {shown(number.lower)} and {shown(number.upper)}." in words
    assert "times more or less likely" in words
    assert "So large a factor" not in words


def test_test_randomness_is_said(tmp_path) -> None:
    curator = mo.Curator([1.0, 2.0] * 900, budget=mo.pure(20), entropy=SeededEntropy("page"))
    text = curator.count(epsilon=12).report(tmp_path / "p.html").read_text("utf-8")
    assert "protects nobody" in text
    assert "So large a factor promises little" in text


def test_what_cannot_be_used_says_so_first(pages) -> None:
    release, text = pages["nothing"]
    words = "\n".join(parsed(text).text)
    first = words.index("The answer cannot be used")
    assert first < words.index("What the interval assumes")
    assert "No number is shown" in words
    assert release.code in words
    assert "<figure>" not in text


def test_a_long_table_is_cut_and_the_record_is_whole(pages) -> None:
    _, text = pages["many"]
    found = parsed(text)
    assert found.tags.count("tr") == 501
    assert "And 1,500 more" in "\n".join(found.text)
    assert len(json.loads(found.data)["groups"]) == 2000


def test_labels_are_escaped_and_in_the_picture(pages) -> None:
    _, text = pages["groups"]
    found = parsed(text)
    assert NASTY.replace("\u202e", "�") in found.text
    assert any("North: " in said for said in found.said)


def test_a_vector_of_several_units_has_no_picture_of_one_scale(pages) -> None:
    assert "The released numbers" not in pages["description"][1]
    assert "The released numbers, and" in pages["histogram"][1]
    assert "in their order" in pages["many bins"][1]
    assert "How far the noise moves" in pages["mean"][1]
    assert "How far the noise moves" in pages["sum"][1]
    assert "with a confidence of 95 %." in pages["median"][1]


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_scales(tmp_path, scale) -> None:
    """Whatever the size of the values, numbers are short and the picture is there."""
    data = scale * RNG.random(4000)
    for name, release in {
        "mean": mo.mean(data, epsilon=1),
        "median": mo.median(data, epsilon=1),
        "quantiles": mo.quantiles(data, q=[0.2, 0.5, 0.7], epsilon=1),
    }.items():
        page_text = release.report(tmp_path / f"{name}.html").read_text("utf-8")
        words = parsed(page_text).text
        assert not [each for each in words if re.search(r"0{40}", each)]
        assert "nan" not in " ".join(words).lower().split()


def test_an_interval_without_end(tmp_path) -> None:
    data = RNG.standard_cauchy(2000) * 1e300
    text = mo.mean(data, epsilon=1).report(tmp_path / "p.html", level=0.999).read_text("utf-8")
    parsed(text)
    bins = mo.histogram([1.0] * 900, edges=[0, 2, math.inf], epsilon=1)
    assert "∞" in bins.report(tmp_path / "bins.html").read_text("utf-8")


def test_arguments_are_those_of_publish(tmp_path) -> None:
    release = mo.mean(RNG.normal(1000, 10, 4000), population=True, epsilon=1)
    path = release.report(
        tmp_path / "p.html",
        author="The <Office>",
        title="Income",
        citation="Cite me",
        rights="All",
        digits=-2,
        level=0.5,
        population=True,
    )
    words = "\n".join(parsed(path.read_text("utf-8")).text)
    for part in ("The <Office>", "Income", "Cite me", "All", "1,000", "With 50 % confidence"):
        assert part in words
    assert "population the rows are a sample of" in words
    hidden = release.report(tmp_path / "q.html", suppress={"below": 1e6}).read_text("utf-8")
    assert "smaller than a rule" in hidden


def test_files(tmp_path) -> None:
    release = mo.count([1.0] * 99, epsilon=1)
    path = release.report(tmp_path / "p.html")
    assert [each.name for each in tmp_path.iterdir()] == ["p.html"]
    with pytest.raises(mo.InvalidArgument, match="is there already"):
        release.report(path)
    release.report(path, overwrite=True)
    with pytest.raises(mo.InvalidArgument, match="there is no folder"):
        release.report(tmp_path / "none" / "p.html")
    with pytest.raises(mo.InvalidArgument, match="author must be text"):
        release.report(tmp_path / "q.html", author=3)  # type: ignore[arg-type]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("place", [0, 1])
def test_contrast_of_the_colours(place) -> None:
    """4.5 for text (WCAG AA), on light and on dark paper."""
    text = page.page("", [], record={})
    found = {
        name: colours[place]
        for name in ("ink", "soft", "main", "warn", "paper", "tint", "warned")
        if (colours := re.findall(rf"--{name}:(#\w+)", text))
    }
    full = {
        name: each if len(each) == 7 else "#" + "".join(2 * letter for letter in each[1:])
        for name, each in found.items()
    }
    for ink in ("ink", "soft", "main"):
        for paper in ("paper", "tint"):
            assert contrast(full[ink], full[paper]) >= 4.5
    for ink in ("ink", "warn"):
        assert contrast(full[ink], full["warned"]) >= 4.5


def test_the_curve_is_the_law_of_the_noise() -> None:
    """Of a count it falls off like Laplace noise; one that is 30 % too wide would not."""
    noise = LaplaceNoise(Fraction(50))
    ends = [
        (level, 1000 - noise.tail_bound(1 - level), 1000 + noise.tail_bound(1 - level))
        for level in picture.CURVE
    ]
    points = picture.curve_of(1000.0, ends)
    assert points is not None
    right = [(x - 1000, height) for x, height in points if x > 1000]
    heights = np.interp([25, 75, 150], *zip(*right, strict=True))
    exact = np.exp(-np.array([25, 75, 150]) / 50) / 100
    assert heights == pytest.approx(exact, rel=0.08)
    wider = np.exp(-np.array([25, 75, 150]) / 65) / 130
    assert heights != pytest.approx(wider, rel=0.08)
    whole = sum((b - a) * (h + k) / 2 for (a, h), (b, k) in pairwise(points))
    assert whole == pytest.approx(1, abs=0.03)


def test_intervals_of_one_level_make_no_curve() -> None:
    assert picture.curve_of(0.0, [(level, -1.0, 1.0) for level in picture.CURVE]) is None


def test_ticks_are_round_and_inside() -> None:
    for low, high in ((0.1, 0.7), (-3e-9, 5e-8), (1e299, 2e299), (-7.0, 1e4)):
        found = picture.ticks(low, high, 6)
        assert 2 <= len(found) <= 6
        assert all(low <= each <= high for each in found)


def test_zero_is_short() -> None:
    assert written(Decimal("0E-301")) == "0"
    assert shown(Decimal("0E-301")) == "0"
    assert written(Decimal("0.00")) == "0.00"


def test_what_is_used_with_care_says_so(tmp_path) -> None:
    release = mo.mean(RNG.pareto(1.1, 20_000), within=(0, 1e9), epsilon=1)
    text = release.report(tmp_path / "p.html").read_text("utf-8")
    first = text.partition("<figure>")[0]
    assert release.code != "ok"
    assert release.usable
    assert f"To be used with care ({release.code})" in first


def test_the_noise_of_a_release_is_that_of_its_draw() -> None:
    for epsilon in ("0.1", "1"):
        release = mo.count([1.0] * 5000, epsilon=epsilon)
        ((_, lower, upper),) = release.noise_ends([0.95])
        assert (lower, upper) == release.interval(0.95)
    total = mo.sum(RNG.random(5000), within=(0, 1), epsilon=1)
    mean = mo.mean(RNG.random(20_000), within=(0, 1e6), epsilon=1)
    for each in (total, mean):
        (narrow, wide) = each.noise_ends([0.5, 0.95])
        lower, upper = each.interval(0.95, None)
        assert lower <= wide[1] < narrow[1] < each.value < narrow[2] < wide[2] <= upper
        assert wide[2] - wide[1] > 0.5 * (upper - lower)
    assert mo.median(RNG.random(5000), epsilon=1).noise_ends([0.5]) == []


def test_what_intervals_assume_stands_once_for_all_groups(tmp_path) -> None:
    """Three wards with tails of their own: one paragraph, numbers from the least to the largest."""
    wards = pd.DataFrame(
        {
            "cost": RNG.pareto(1.9, 3 * N) * 1000,
            "ward": np.repeat(["A", "B", "C"], [N // 4, N, 7 * N // 4]),
        }
    )
    curator = mo.Curator(wards, budget=mo.pure(9), entropy=SeededEntropy("wards"))
    groups = curator.group_by("ward", keys=["A", "B", "C"])
    found = groups.mean("cost", within=(0, 1e6), clusters="keep", epsilon=1)
    words = "\n".join(parsed(found.report(tmp_path / "w.html").read_text("utf-8")).text)
    words = words.partition("How to check it")[0]
    assert words.count("Values beyond the clipping bounds are cut before noise is added") == 1
    assert re.search(r"About \d+ to [\d,]+ records are near the lower bound", words)
    assert "so that no single row shows. The interval also allows for what was cut" in words
    assert "index" not in words


def test_sentences_that_hold_for_some_groups_say_so() -> None:
    texts = ["So far 3. Seen: 12.", "So far 3e4. Nothing seen.", "So far 1,200."]
    terms = {"interval_assumption": texts}
    words = parsed("".join(report._assumptions(terms))).text
    assert [each for each in words if each.strip()] == [
        "So far 3 to 3e4.",
        "Of some of these numbers: Seen: 12.",
        "Of some of these numbers: Nothing seen.",
    ]


def test_every_summary_fits_on_a_screen(pages) -> None:
    """Tables are as wide as their labels."""
    plan = mo.plan.mean(n=900, sd=5, epsilon="0.1", unit=mo.unit_of("p", max_rows=9))
    short = (release for release, _ in pages.values() if LONG not in str(release))
    for each in (*short, plan, plan.curve(n=[100, 1000])):
        assert max(map(len, str(each).splitlines())) <= 79, each
