"""What all tests share.

Lines that tests want seen in the summary of a run: ``record_property("counted", text)``.
"""

from importlib.util import find_spec

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave (ε, δ) prices to the slow tests; skip the examples of an extra that is missing.

    Each buys the pure law: test_an_approximate_budget_is_spent_as_a_pure_one.
    """
    for item in items:
        case = getattr(item, "callspec", None)
        if case is not None and case.params.get("kind") == "approx":
            item.add_marker("slow")
    if find_spec("opendp") is not None:
        return
    skip = pytest.mark.skip(reason="pip install opendp (make test-opendp does)")
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.path.match("interop/opendp.py"):
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
