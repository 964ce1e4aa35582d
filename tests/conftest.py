"""What all tests share.

Lines that tests want seen in the summary of a run: ``record_property("counted", text)``.
"""

from importlib.util import find_spec

import pytest

EXTRAS = {"opendp": "test-opendp", "sklearn": "test-sklearn"}


def pytest_ignore_collect(collection_path) -> bool | None:
    """Leave out the module that cannot be imported without its extra."""
    module = collection_path.match("src/modicum/interop/sklearn.py")
    return True if module and find_spec("sklearn") is None else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the examples of an extra that is missing."""
    for extra, target in EXTRAS.items():
        if find_spec(extra) is not None:
            continue
        skip = pytest.mark.skip(reason=f"pip install modicum[{extra}] (make {target} does)")
        for item in items:
            if isinstance(item, pytest.DoctestItem) and item.path.match(f"interop/{extra}.py"):
                item.add_marker(skip)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [each for group in terminalreporter.stats.values() for each in group]
    lines = [
        text
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, text in report.user_properties
        if name == "counted"
    ]
    if lines:
        terminalreporter.section("counted")
        for line in lines:
            terminalreporter.write_line(line)
