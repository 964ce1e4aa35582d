"""What a notebook shows: real tables, everything escaped, no scripts, warnings kept."""

import copy
import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.releases.publishing import text
from modicum.releases.publishing.html import escaped, number

NASTY = "<script>alert(1)</script>"
N = 6000
TABLE = pd.DataFrame(
    {
        NASTY: np.random.default_rng(1).lognormal(3, 1, N),
        "place": ["North", "a & b\u202e"] * (N // 2),
        "sex": ["f", "f", "m"] * (N // 3),
    }
)
PLACES = ["North", "a & b\u202e"]


def curator() -> mo.Curator:
    return mo.Curator(TABLE, budget=mo.approx(90, "1e-5"), entropy=SeededEntropy("html"))


SHOWN = {
    "curator": lambda c: c,
    "mean": lambda c: c.mean(NASTY, epsilon=1),
    "count": lambda c: c.where("sex == 'f'").count(epsilon=1),
    "quantiles": lambda c: c.quantiles(NASTY, q=[0.1, 0.5], epsilon=1),
    "histogram": lambda c: c.histogram(NASTY, edges=range(60), epsilon=1),
    "groups": lambda c: c.group_by("place", keys=PLACES).mean(NASTY, epsilon=1),
    "arrays": lambda c: c.group_by("place", keys=PLACES).quantiles(NASTY, q=[0.5], epsilon=1),
    "difference": lambda c: SHOWN["groups"](c).difference(*PLACES),
    "publication": lambda c: SHOWN["groups"](c).publish(suppress={"wider": 0.01}),
    "crosstab": lambda c: c.crosstab(
        "place", "sex", keys={"place": PLACES, "sex": ["f", "m"]}, epsilon=1
    ),
    "description": lambda c: c.describe(budget=mo.approx(2, "1e-6")),
    "plan": lambda _: mo.plan.mean(n=10_000, sd=1, epsilon=1),
    "curve": lambda _: mo.plan.count(epsilon=1).curve(epsilon=["0.1", 1]),
    "asked": lambda c: (c.where(f"col('{NASTY}') > 0").mean(NASTY, epsilon=1), c)[1],
    "explained": lambda c: c.mean(NASTY, epsilon=1).explain(),
    "explained groups": lambda c: SHOWN["groups"](c).explain(),
    "explained description": lambda c: c.describe(budget=mo.approx(2, "1e-6")).explain(),
    "together": lambda c: c.release(
        one=mo.query.mean(NASTY, epsilon=1), more=mo.query.quantiles(NASTY, q=[0.1, 0.9], epsilon=1)
    ),
    "too little": lambda c: c.where("place == 'nowhere'").mean(NASTY, epsilon="0.1"),
}


class Checked(HTMLParser):
    """Every tag is closed by its own; there are no scripts, styles or addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.widths: set[int] = set()
        self.cells = 0

    def handle_starttag(self, tag, attrs) -> None:
        tables = {"table", "thead", "tbody", "tr", "th", "td", "caption"}
        assert tag in {"div", "p", "strong", "details", "summary", *tables}
        assert {name for name, _ in attrs} <= {"style", "scope", "role", "aria-label"}
        self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text.append(data)


def shown(name: str) -> str:
    parser = Checked()
    parser.feed(SHOWN[name](curator())._repr_html_())
    parser.close()
    assert not parser.open
    return "\n".join(parser.text)


def test_the_interval_for_the_population_is_shown_beside_the_other() -> None:
    release = mo.mean(range(1000), within=(0, 1000), epsilon=1, population=True)
    lower, upper = release.confidence_interval()
    html = release._repr_html_()
    assert f"[{lower:,.6g}, {upper:,.6g}] (95 %, of a random sample)" in html
    assert "of a random sample" not in mo.mean(range(1000), epsilon=1)._repr_html_()


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_well_formed_and_escaped(name) -> None:
    text = shown(name)
    assert "\u202e" not in text
    if name in {"mean", "count", "quantiles", "histogram", "groups", "arrays", "explained"}:
        assert "WARNING" in text
    if name in {"mean", "quantiles", "groups", "asked", "explained", "together"}:
        assert NASTY in text
    if name in {"mean", "groups"}:
        assert "allows for rare far values" in text


def test_numbers_of_a_release_are_there() -> None:
    release = SHOWN["mean"](curator())
    text = release._repr_html_()
    assert number(release.value) in text
    assert number(release.interval().lower) in text
    assert release.interval().width == release.interval().upper - release.interval().lower
    several = SHOWN["quantiles"](curator())
    assert (several.interval().width == np.subtract(*several.interval()[::-1])).all()


def test_an_explanation_folds_the_mechanisms_and_prints_as_text() -> None:
    release = SHOWN["mean"](curator())
    story = release.explain()
    assert isinstance(story, str)
    assert repr(story) == str(story) == f"{story}"
    assert str(release) in story
    assert pickle.loads(pickle.dumps(story)) == copy.deepcopy(story) == story
    assert pickle.loads(pickle.dumps(release)) == copy.copy(release) == release
    together = SHOWN["together"](curator())
    assert pickle.loads(pickle.dumps(together)) == copy.copy(together) == together
    html = story._repr_html_()
    assert html.count("<details>") == len(release.transcript)
    assert html.index("<summary>") > html.index("<details>")
    for entry in release.transcript:
        assert entry.label in html
        assert f"<summary>{entry.mechanism}</summary>" in html
    groups = SHOWN["groups"](curator()).explain()._repr_html_()
    assert "<summary>place = North</summary>" in groups
    assert "<summary>place = a &amp; b�</summary>" in groups
    many = curator().group_by("place", keys=map(str, range(40))).count(epsilon=1).explain()
    assert "and 10 more: print() has all" in many._repr_html_()
    assert many.count("Every draw, in order") == 40


def test_a_curator_shows_what_was_asked_and_what_is_left() -> None:
    c = mo.Curator(TABLE, budget=mo.pure(4))
    assert "asked" not in c._repr_html_()
    c.count(epsilon=1)
    c.group_by("place", keys=PLACES).count(epsilon="0.5")
    html = c._repr_html_()
    assert "width:62.5%" in html
    assert "aria-label='62.5 % of the budget is left'" in html
    assert html.index(">count<") < html.index(">ε = 1<") < html.index(">count by place<")
    for _ in range(40):
        c.count(epsilon="0.01")
    assert "and 12 before: charges has all" in c._repr_html_()
    both = mo.Curator(TABLE, budget=mo.approx(9, "1e-5"))
    both.group_by("place", key_budget=mo.approx(1, "9e-6"))
    assert "width:10%" in both._repr_html_()  # of δ, which runs out first


def test_answers_together_are_one_table() -> None:
    found = SHOWN["together"](curator())
    html = found._repr_html_()
    assert found == {"one": found["one"], "more": found["more"]}
    for value in (found["one"].value, *found["more"]):
        assert number(value) in html
    assert "all answers together" in html
    assert "ε, δ) = (2, 0)" in html
    assert "simultaneous" not in html
    frame = found.frame()
    assert frame["name"].tolist() == ["one", "more", "more"]
    assert frame["value"].tolist() == [found["one"].value, *found["more"]]
    assert frame["lower"].tolist()[1:] == found["more"].interval().lower.tolist()
    assert str(found).splitlines()[0] == "2 answers:"
    assert repr(found).startswith("Releases(one=Release(mean of")
    groups = (
        curator()
        .group_by("place", keys=PLACES)
        .release(n=mo.query.count(epsilon=1), q=mo.query.quantiles(NASTY, q=[0.5], epsilon=1))
    )
    words = groups.frame()["answer"].tolist()
    assert words[0] == "count of rows, place = North"
    assert words[-1].endswith("q = 0.5")
    assert groups.usable
    assert groups.publish().frame()["name"].tolist() == ["n", "n", "q", "q"]


def test_notes_of_groups_within_several_answers_are_told_one_by_one(tmp_path) -> None:
    heavy = np.random.default_rng(0).pareto(1, 3009)
    rows = pd.DataFrame({"place": PLACES[:1] * 3000 + PLACES[1:] * 9, "x": heavy})
    found = (
        mo.Curator(rows, budget=mo.pure(9))
        .group_by("place", keys=PLACES)
        .release(one=mo.query.mean("x", epsilon="0.1"), two=mo.query.mean("x", epsilon=2))
    )
    notes = {each.status for groups in found.values() for each in groups.values()} - {"ok"}
    assert len(notes) > 1
    html = found._repr_html_()
    assert "[&#39;" not in html
    page = found.report(tmp_path / "page.html").read_text("utf-8")
    for note in notes:
        assert escaped(note) in html
        assert escaped(note[1:]) in page


def test_a_release_is_text_a_number_and_a_row() -> None:
    release = SHOWN["mean"](curator())
    assert f"{release:,.1f}" == f"{release.value:,.1f}"
    assert round(release, 1) == round(release.value, 1)
    lower, upper = release.interval()
    assert release.interval().half_width == pytest.approx((upper - lower) / 2)
    assert release.summary() == str(release)
    assert "50 % interval" in release.summary(0.5)
    assert "assumes tails" not in release.summary(0.5, None)
    assert release.frame()["upper"].tolist() == [upper]
    difference = SHOWN["difference"](curator())
    assert f"{difference:.2f}" == f"{difference.value:.2f}"
    assert round(difference, 2) == round(difference.value, 2)
    several = SHOWN["quantiles"](curator()).interval()
    np.testing.assert_allclose(several.half_width, several.width / 2)


def test_what_cannot_be_used_says_so() -> None:
    assert "no usable answer" in shown("too little")
    assert "few_records" in shown("too little")


def test_long_tables_say_what_is_left_out() -> None:
    assert "and 29 more" in shown("histogram")
    assert "simultaneous" in shown("histogram")


def test_text_that_could_mislead_is_replaced() -> None:
    assert escaped("a\u202eb<\x00>\"'") == "a�b&lt;�&gt;&quot;&#39;"


def test_a_card_says_where_values_were_clipped() -> None:
    release = mo.mean(np.random.default_rng(1).lognormal(10, 0.5, 30_000), epsilon=1)
    ends = " to ".join(map(text.amount, release.error_model.clip))
    assert f"{ends}, found privately: others count as these" in release._repr_html_()
    assert f"{ends}, found privately: others count as these" in str(release)
