"""Pages of the documentation as programs: what their blocks are, and how they run.

Blocks in Python share one namespace a page; lines ``$ modicum ...`` of console blocks are run too.
"""

import contextlib
import doctest
import math
import re
import shlex
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

from modicum.api import answering, curator
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy, SystemEntropy

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
TOLERANCE = 0.1


def pages() -> list[str]:
    """Pages with code, by their paths without an ending."""
    found = [path.relative_to(DOCS) for path in sorted(DOCS.rglob("*.md"))]
    return [
        path.with_suffix("").as_posix()
        for path in found
        if "_build" not in path.parts
        and "project" not in path.parts
        and BLOCK.search((DOCS / path).read_text("utf-8"))
    ]


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text("utf-8")


class Hushed(SeededEntropy):
    """Repeats itself, and yet prints as a user sees it, without the warning of a test's release."""

    secret = True


class Checker(doctest.OutputChecker):
    """Compares words exactly, and numbers with a tolerance unless dots stand for some of them."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        words = [NUMBER.sub("#", text) for text in (want, got)]
        if not super().check_output(*words, optionflags):
            return False
        pairs = zip(numbers(want), numbers(got), strict=False)
        return "..." in want or all(math.isclose(a, b, rel_tol=TOLERANCE) for a, b in pairs)


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def command(line: str) -> None:
    assert main(shlex.split(line)[1:]) == 0


class Runner(doctest.DocTestRunner):
    """Keeps what each example printed, and whether that is what the page says."""

    def __init__(self) -> None:
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        super().__init__(Checker(), verbose=False, optionflags=options)
        self.printed: list[tuple[doctest.Example, str, bool]] = []

    def report_success(self, out, test, example, got) -> None:
        self.printed.append((example, got, True))

    def report_failure(self, out, test, example, got) -> None:
        self.printed.append((example, got, False))
        super().report_failure(out, test, example, got)


def _drawn(draw: Callable[..., object], *arguments: int) -> object:
    return draw(*arguments)


@contextlib.contextmanager
def seeded(page: str) -> Iterator[None]:
    """A page draws the same numbers wherever it lies."""
    seed = f"{Path(page).name}.md"
    with contextlib.ExitStack() as stack:
        for module in (answering, curator):
            stack.enter_context(mock.patch.object(module, "SYSTEM", Hushed(seed)))
        elsewhere = SeededEntropy(f"{seed}, elsewhere")  # clients and shufflers have no curator
        for method in ("word", "words"):
            drawn = partial(_drawn, getattr(elsewhere, method))
            stack.enter_context(mock.patch.object(SystemEntropy, method, drawn))
        yield


def run_page(page: str) -> Iterator[tuple[re.Match[str], Runner, str]]:
    """Each block with the runner of its examples, and the reports of those that failed."""
    namespace: dict = {"command": command}
    for block in BLOCK.finditer(text_of(page)):
        language, code = block.groups()
        if language == "console":
            code = re.sub(r"^\$ (.*)$", r">>> command('''\1''')", code, flags=re.MULTILINE)
        runner, report = Runner(), list[str]()
        if code.startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, {}, page, page, 0)
            test.globs = namespace
            runner.run(test, out=report.append, clear_globs=False)
        else:
            exec(compile(code, page, "exec"), namespace)
        yield block, runner, "".join(report)
