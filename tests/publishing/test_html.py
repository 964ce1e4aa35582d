"""What a notebook shows: real tables, everything escaped, no scripts, warnings kept."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import modicum as mo
from modicum.exact.entropy import SeededEntropy
from modicum.publishing.html import escaped, number

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


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_well_formed_and_escaped(name) -> None:
    text = shown(name)
    assert "\u202e" not in text
    if name not in {"plan", "curator", "difference", "crosstab", "publication", "description"}:
        assert "WARNING" in text
    if name in {"mean", "quantiles", "groups"}:
        assert NASTY in text
    if name in {"mean", "groups"}:
        assert "assumes tails of index" in text


def test_numbers_of_a_release_are_there() -> None:
    release = SHOWN["mean"](curator())
    text = release._repr_html_()
    assert number(release.value) in text
    assert number(release.interval().lower) in text
    assert release.interval().width == release.interval().upper - release.interval().lower
    several = SHOWN["quantiles"](curator())
    assert (several.interval().width == np.subtract(*several.interval()[::-1])).all()


def test_what_cannot_be_used_says_so() -> None:
    assert "no usable answer" in shown("too little")
    assert "few_records" in shown("too little")


def test_long_tables_say_what_is_left_out() -> None:
    assert "and 29 more" in shown("histogram")
    assert "simultaneous" in shown("histogram")


def test_text_that_could_mislead_is_replaced() -> None:
    assert escaped("a\u202eb<\x00>\"'") == "a�b&lt;�&gt;&quot;&#39;"
