"""Every code block of the pages runs, in order, and prints what the page says.

Blocks in Python share one namespace a page; lines ``$ modicum ...`` of console blocks are run too.
Numbers may differ from the page by 10 %, since most of them are drawn.
"""

import doctest
import math
import re
import shlex
from pathlib import Path

import pytest

from modicum import answering, curator
from modicum.cli import main
from modicum.exact.entropy import SeededEntropy

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
TOLERANCE = 0.1
SLOW = {
    "howto-accuracy.md",
    "howto-monotone.md",
    "howto-people.md",
    "howto-quantiles.md",
    "howto-robust.md",
    "howto-spread.md",
    "howto-vectors.md",
}
NEEDS = {
    "howto-opendp.md": ("opendp", "pip install opendp (make test-opendp does)"),
    "howto-synthetic.md": ("mbi", "pip install mbi (make test-mbi does)"),
    "howto-regression.md": ("sklearn", "pip install scikit-learn (make test-sklearn does)"),
}
PAGES = [
    pytest.param(page.name, marks=[pytest.mark.slow] if page.name in SLOW else [])
    for page in sorted(DOCS.glob("*.md"))
    if BLOCK.search(page.read_text("utf-8"))
]


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


def run_examples(code: str, page: str, namespace: dict) -> None:
    test = doctest.DocTestParser().get_doctest(code, {}, page, page, 0)
    test.globs = namespace
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    report: list[str] = []
    runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=options)
    assert runner.run(test, out=report.append, clear_globs=False).failed == 0, "".join(report)


@pytest.mark.parametrize("page", PAGES)
def test_page(page, tmp_path, monkeypatch) -> None:
    if page in NEEDS:
        pytest.importorskip(NEEDS[page][0], reason=NEEDS[page][1])
    monkeypatch.chdir(tmp_path)
    for module in (answering, curator):
        monkeypatch.setattr(module, "SYSTEM", Hushed(page))
    namespace = {"command": command}
    for language, code in BLOCK.findall((DOCS / page).read_text("utf-8")):
        if language == "console":
            examples = re.sub(r"^\$ (.*)$", r">>> command('''\1''')", code, flags=re.MULTILINE)
            run_examples(examples, page, namespace)
        elif code.startswith(">>>"):
            run_examples(code, page, namespace)
        else:
            exec(compile(code, page, "exec"), namespace)


@pytest.mark.parametrize(
    ("got", "same"),
    [("mean: 1,050 ok", True), ("mean: 1,150 ok", False), ("mean: 1,050 not ok", False)],
)
def test_numbers_may_differ_a_little_and_words_not(got, same) -> None:
    assert Checker().check_output("mean: 1,000 ok\n", got + "\n", 0) == same
