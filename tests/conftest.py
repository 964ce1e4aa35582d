"""What all tests share.

Lines that tests want seen in the summary of a run: ``record_property("counted", text)``.
"""

from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from modicum.plan.solve import Task
from modicum.privacy.budget import Budget


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave (ε, δ) costs to the slow tests; skip the examples of an extra that is missing.

    Each buys the pure law: test_an_approximate_budget_is_spent_as_a_pure_one.
    """
    for item in items:
        case = getattr(item, "callspec", None)
        if case is not None and case.params.get("kind") == "approx":
            item.add_marker("slow")
    leave_some_to_the_slow_tests(items)
    if find_spec("opendp") is not None:
        return
    skip = pytest.mark.skip(reason="pip install opendp (make test-opendp does)")
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.path.match("interop/opendp.py"):
            item.add_marker(skip)


def leave_some_to_the_slow_tests(items: list[pytest.Item]) -> None:
    """Of a test marked ``one_in(n)``, keep about one case in n quick, spread over all of them.

    The multiples of the golden ratio are even in [0, 1) whatever the period of the parameters.
    """
    cases: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("one_in")
        if marker is None or item.get_closest_marker("slow"):
            continue
        test = item.nodeid.partition("[")[0]
        if cases[test] * 0.6180339887498949 % 1 >= 1 / marker.args[0]:
            item.add_marker("slow")
        cases[test] += 1


@pytest.fixture
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans from four synthetic releases, where their words are looked at and not their error."""
    found = Task.found

    def hasty(task: Task, cost: Budget, rows: int, runs: int, *late: Callable[[], bool]):
        return found(task, cost, rows, min(runs, 4), *late)

    monkeypatch.setattr(Task, "found", hasty)


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
