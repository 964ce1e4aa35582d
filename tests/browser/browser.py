"""An installed Chromium without a network, and what a page does in it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECKS = Path(__file__).with_name("checks.js").read_text("utf-8")
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NOT_REACHED = "Tab does not reach"
_ROUNDS, _MORE = 4, 30
_LOCAL = ("file:", "data:", "blob:", "about:")


def chromium() -> str | None:
    """Where Chromium is."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def opened_browser() -> Iterator[Any]:
    """Start it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")


@contextmanager
def opened_page(
    browser: Any, path: Path, problems: list[str], *, width: int = 1280, scheme: str = "light"
) -> Iterator[Any]:
    """Open a file, and list what goes wrong: in the console, in a request, to another host."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
        offline=True,
    )
    try:
        page = context.new_page()
        page.on("console", lambda each: _told(each, problems))
        page.on("pageerror", lambda each: problems.append(f"script: {each}"))
        page.on("requestfailed", lambda each: problems.append(f"request failed: {each.url}"))
        page.on("request", lambda each: _asked(each, problems))
        page.goto(path.as_uri(), wait_until="load")
        yield page
    finally:
        context.close()


def _told(message: Any, problems: list[str]) -> None:
    if message.type in {"error", "warning"}:
        problems.append(f"console: {message.text}")


def _asked(request: Any, problems: list[str]) -> None:
    if not request.url.startswith(_LOCAL):
        problems.append(f"another host: {request.url}")


def looked_at(page: Any) -> list[str]:
    """What a reader cannot see or use on the page as it is drawn."""
    found: list[str] = page.evaluate(f"({CHECKS})().looks()")
    return found


def tabbed_through(page: Any) -> list[str]:
    """What does not work for someone who has a keyboard alone.

    Tab has to reach whatever can be used, in the order of the page, and show where it is. It also
    stops at what scrolls, so that more steps may be needed than there are parts to use.
    """
    steps = page.evaluate(f"(window.checks = ({CHECKS})()).watch()") + 3
    for _ in range(_ROUNDS):
        for _ in range(steps):
            page.keyboard.press("Tab")
        found: list[str] = page.evaluate("window.checks.reached()")
        if not any(each.startswith(NOT_REACHED) for each in found):
            break
        steps = _MORE
    return found
