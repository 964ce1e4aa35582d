"""Every code block of the pages runs, in order, and prints what the page says.

Numbers may differ from the page by 10 %, since most of them are drawn. ``python -m tests.docs``
writes anew what pages print.
"""

import pytest

from tests.docs.pages import Checker, pages, run_page, seeded

SLOW = {
    "operate/local",
    "operate/publish",
    "operate/question-files",
    "operate/shuffle",
    "start/accuracy",
    "start/epsilon",
    "start/notebook",
    "start/plan",
    "questions/components",
    "questions/crosstab",
    "questions/few-rows",
    "questions/groups",
    "questions/groups-of-persons",
    "questions/monotone",
    "questions/people",
    "questions/quantiles",
    "questions/robust",
    "questions/several-quantiles",
    "questions/small-groups",
    "questions/spread",
    "questions/vectors",
    "questions/weights",
    "questions/worked-flights",
    "questions/worked-survey",
    "questions/worked-table",
}
NEEDS = {
    "operate/opendp": ("opendp", "pip install opendp (make test-opendp does)"),
    "questions/synthetic": ("mbi", "pip install mbi (make test-mbi does)"),
    "questions/regression": ("sklearn", "pip install scikit-learn (make test-sklearn does)"),
}

PAGES = [pytest.param(page, marks=[pytest.mark.slow] if page in SLOW else []) for page in pages()]


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch) -> None:
    if page in NEEDS:
        pytest.importorskip(NEEDS[page][0], reason=NEEDS[page][1])
    monkeypatch.chdir(tmp_path)
    with seeded(page):
        for _, _, report in run_page(page):
            assert not report, report


@pytest.mark.parametrize(
    ("got", "same"),
    [("mean: 1,050 ok", True), ("mean: 1,150 ok", False), ("mean: 1,050 not ok", False)],
)
def test_numbers_may_differ_a_little_and_words_not(got, same) -> None:
    assert Checker().check_output("mean: 1,000 ok\n", got + "\n", 0) == same
