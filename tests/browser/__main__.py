"""Take the pictures of a plan's page that the documentation shows: ``python -m tests.browser``."""

import tempfile
from pathlib import Path

import modicum as mo
from tests.browser.browser import opened_browser, opened_page

STATIC = Path(__file__).parents[2] / "docs" / "_static"


def main() -> None:
    plan = mo.plan.mean(sd=2e4, n=100_000, epsilon=1)
    with tempfile.TemporaryDirectory() as folder, opened_browser() as browser:
        path = plan.report(Path(folder) / "plan.html")
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            with opened_page(browser, path, [], width=780, scheme=scheme) as page:
                page.screenshot(path=STATIC / f"plan-page{ending}.png")


if __name__ == "__main__":
    main()
