"""Every page at two widths, light and dark: what the console says, what is drawn, what Tab reaches.

Screenshots of all of them are kept in ``tests/browser/seen``.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browser.browser import (
    SCHEMES,
    WIDTHS,
    chromium,
    looked_at,
    opened_browser,
    opened_page,
    tabbed_through,
)
from tests.browser.written import names, written

BUILT = Path(__file__).parents[2] / "docs" / "_build"
SEEN = Path(__file__).with_name("seen")
DOCUMENTS = sorted(
    path.relative_to(BUILT).as_posix()
    for path in BUILT.rglob("*.html")
    if not {"_static", "_sources", "_images"} & set(path.relative_to(BUILT).parts)
)
WRITTEN = names()
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright", reason="pip install playwright (make test-browser does)")
    if chromium() is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with opened_browser() as opened:
        yield opened


class Pages(NamedTuple):
    """Files that are written when they are first asked for."""

    folder: Path

    def __call__(self, name: str) -> Path:
        path = self.folder / f"{name}.html"
        if not path.exists() and written(self.folder, name) is None:
            pytest.skip("a record of this kind has no report")
        return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


def faults(browser: Any, name: str, path: Path) -> list[str]:
    """What is wrong with a page; a page in use changes its colours as the system does."""
    found = []
    SEEN.mkdir(exist_ok=True)
    shot = name.replace("/", "-").removesuffix(".html")
    for width in WIDTHS:
        problems: list[str] = []
        with opened_page(browser, path, problems, width=width) as page:
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                problems += [f"{scheme}: {each}" for each in looked_at(page)]
                path_of_shot = SEEN / f"{shot}-{width}-{scheme}.png"
                page.screenshot(path=path_of_shot, full_page=name in WRITTEN)
            problems += tabbed_through(page)
        found += [f"{width}: {each}" for each in problems]
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_page_of_the_documentation(browser: Any, name: str) -> None:
    found = faults(browser, name, BUILT / name)
    assert not found, "\n".join(found)


def test_the_documentation_is_built() -> None:
    assert DOCUMENTS, "make docs first"


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_that_is_written(browser: Any, pages: Pages, name: str) -> None:
    found = faults(browser, name, pages(name))
    assert not found, "\n".join(found)


def said(page: Any) -> dict[str, str]:
    parts = page.locator("[id^=said-], #python, #command").all()
    return {each.get_attribute("id"): each.inner_text() for each in parts}


@pytest.mark.parametrize("name", [each for each in WRITTEN if each.startswith("plan-")])
def test_a_plan_says_the_same_with_and_without_its_script(
    browser: Any, pages: Pages, name: str
) -> None:
    texts, drawn = [], []
    for scripts in (False, True):
        context = browser.new_context(java_script_enabled=scripts)
        page = context.new_page()
        page.goto(pages(name).as_uri())
        texts.append(said(page))
        paths = page.locator(".panels path").all()
        drawn.append([each.get_attribute("d").count("L") for each in paths])
        context.close()
    assert texts[0] == texts[1]
    assert drawn[0] == drawn[1]


def test_sliders_move_with_the_keyboard(browser: Any, pages: Pages) -> None:
    problems: list[str] = []
    with opened_page(browser, pages("plan-mean"), problems) as page:
        before = said(page)
        page.locator("#amount").focus()
        page.keyboard.press("ArrowRight")
        dearer = said(page)
        page.keyboard.press("Home")
        cheapest = said(page)
        page.locator("#rows").focus()
        page.keyboard.press("Home")
        fewest = said(page)
        assert page.locator("#amount").get_attribute("aria-valuetext") == "ε = 0.01"
        page.locator("button").first.click()
    assert before["said-cost"] == "ε = 1"
    assert float(dearer["said-error"]) < float(before["said-error"])
    assert 'epsilon="0.01"' in cheapest["python"]
    assert "--epsilon 0.01" in cheapest["command"]
    assert fewest["said-error"] == "–"
    assert "too few values" in fewest["said-status"]
    assert problems == []


def test_a_fault_is_noticed(browser: Any, tmp_path: Path) -> None:
    """The checks find what they look for."""
    path = tmp_path / "bad.html"
    path.write_text(
        """<!doctype html><html><body style="background:#fff"><h1>a</h1><h3>b</h3><h1>c</h1>
        <style>.night { color: #000; background: #fff }
        @media (prefers-color-scheme: dark) { .night { color: #eee } }</style>
        <p class="night">night</p><p style="color:#999">pale</p><img src="none.png">
        <div style="width:3000px">wide</div>
        <a href="#" style="outline:none">link</a><button></button>
        <button tabindex="2">second</button><script>console.error("loud"); nothing();</script>
        <link rel="stylesheet" href="https://fonts.example/x.css"></body></html>""",
        "utf-8",
    )
    problems: list[str] = []
    with opened_page(browser, path, problems) as page:
        problems += looked_at(page)
        by_day = len(problems)
        page.emulate_media(color_scheme="dark")
        problems += looked_at(page)
        problems += tabbed_through(page)
    assert not any("night" in each for each in problems[:by_day])
    text = "\n".join(problems)
    for each in (
        "console: loud",
        "script: nothing is not defined",
        "request failed",
        "another host: https://fonts.example",
        "contrast 2.85",
        'contrast 1.16 of <p> "night"',
        "2 headings h1",
        "h3 after h1",
        "no alternative text",
        "no name",
        "the page is",
        "no language",
        "focus is not seen",
        "Tab goes back",
    ):
        assert each in text
