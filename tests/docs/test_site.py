"""What pages promise beyond their code: names, pictures, lengths, and tests that they name."""

import ast
import inspect
import re
import sys

import pytest

import modicum as mo
from modicum.cli.tasks import TASKS
from modicum.errors import ModicumError
from tests.docs.pages import DOCS

ROOT = DOCS.parent
PACKAGE = ROOT / "src" / "modicum"
FIGURES = DOCS / "figures"
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text("utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if not {"_build", "generated"} & set(path.parts)
}
MODULES = {name for name in mo.__all__ if inspect.ismodule(getattr(mo, name))}
NAMES = sorted({*mo.__all__} - MODULES - {"__version__"})
BLOCK = re.compile(r"^(```+|:::+).*?^\1$", re.MULTILINE | re.DOTALL)
MOST_WORDS, MOST_WITH_CODE = 1200, 1300


def explained() -> dict[str, str]:
    sys.path.insert(0, str(DOCS / "_sphinx"))
    try:
        from explained import EXPLAINED  # noqa: PLC0415
    finally:
        sys.path.pop(0)
    return EXPLAINED


def listed() -> list[str]:
    """Names of ``modicum`` that have a page of the reference, as often as they are listed."""
    blocks = re.findall(r"\.\. autosummary::\n(.*?)\n\n(.*?)(?=\n\n|\n```)", "".join(
        text for page, text in PAGES.items() if page.startswith("reference/")
    ), re.DOTALL)  # fmt: skip
    return [name for _, names in blocks for name in names.split()]


def test_every_public_name_has_one_page_of_the_reference() -> None:
    assert sorted(listed()) == NAMES


def test_every_public_module_is_on_a_page_of_the_reference() -> None:
    text = "".join(text for page, text in PAGES.items() if page.startswith("reference/"))
    modules = {getattr(mo, name).__name__ for name in MODULES}
    assert {name for name in modules if f".. automodule:: {name}\n" not in text} == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_public_module_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(mo, name)) or "")


def test_every_public_name_is_explained_on_a_page_that_mentions_it() -> None:
    assert set(explained()) == {*mo.__all__}
    missing = {page for page in explained().values() if page not in PAGES}
    assert missing == set()
    returned = {
        # What functions of these pages return: a reader meets the object, not its name.
        "ArrayRelease", "Budget", "CountsFile", "Crosstab", "Description", "Difference", "Filter",
        "GroupBy", "GroupedArrayRelease", "GroupedRelease", "Interval", "Intervals", "Ledger",
        "PublishedTable", "Release", "Unit", "ValueCounts", "__version__", "parallel",
        "pure_to_approx", "pure_to_zcdp", "query", "questions", "theory",
    }  # fmt: skip
    silent = {
        name
        for name, page in explained().items()
        if not re.search(rf"\b{name.replace('_', '[_-]')}\b", PAGES[page])
    }
    assert silent <= returned


def test_every_error_says_what_to_do() -> None:
    errors = {name for name in NAMES if isinstance(getattr(mo, name), type)} & {
        name for name in NAMES if issubclass_(getattr(mo, name), ModicumError)
    }
    rows = re.findall(r"^\| \{class\}`~modicum\.(\w+)`", PAGES["reference/errors"], re.MULTILINE)
    assert {*rows, "ModicumError"} == errors


def issubclass_(thing: object, base: type) -> bool:
    return isinstance(thing, type) and issubclass(thing, base)


def test_every_task_of_the_command_line_is_shown() -> None:
    shown = re.findall(r"\{command-help\} (.*)", PAGES["reference/command-line"])
    assert shown == [*TASKS]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.split("/")[0] in {"start", "questions"}]
)
def test_pages_for_beginners_are_short(page: str) -> None:
    """Words of prose and tables, without code and what it prints, and with them."""
    assert len(BLOCK.sub("", PAGES[page]).split()) <= MOST_WORDS
    assert len(PAGES[page].split()) <= MOST_WITH_CODE


FIRST = re.compile(r"(After this page|This page|These pages|Each of these pages|With modicum)\b")


@pytest.mark.parametrize("page", [page for page in PAGES if not page.startswith("project/")])
def test_a_page_says_first_what_a_reader_gets(page: str) -> None:
    paragraphs = [each for each in PAGES[page].split("\n\n") if not each.startswith(("#", "<!--"))]
    assert FIRST.match(paragraphs[0].strip())


def test_formulas_are_formulas() -> None:
    """No proof shows one as code."""
    proofs = {page: text for page, text in PAGES.items() if page.startswith("research/proofs/")}
    shown = {page: re.findall(r"^ {4,}\S.*", text, re.MULTILINE) for page, text in proofs.items()}
    assert {page: lines for page, lines in shown.items() if lines} == {}


def test_every_page_is_reached_from_the_left_column() -> None:
    reached = {"index"}
    for page, text in PAGES.items():
        folder = page.rpartition("/")[0]
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            entries = [line for line in tree.split() if not line.startswith(":")]
            if "*" in entries:
                reached |= {each for each in PAGES if each.startswith(f"{folder}/")}
            reached |= {f"{folder}/{entry}".lstrip("/") for entry in entries}
    assert {*PAGES} - reached == set()


def test_scripts_and_pictures_agree_and_are_used() -> None:
    photos = {path.stem for path in FIGURES.glob("*.png")}  # of pages, which a browser draws
    scripts = {path.stem for path in FIGURES.glob("*.py")} - {"drawing"} - photos
    for ending in ("", "-dark"):
        assert {name for name in scripts if not (FIGURES / f"{name}{ending}.svg").exists()} == set()
    drawn = {path.stem.removesuffix("-dark") for path in FIGURES.glob("*.svg")}
    assert drawn == scripts
    used = re.findall(r"\{picture\} (\w+)\n:alt: (\".{40,}\")\n```", "".join(PAGES.values()))
    assert {name for name, _ in used} == scripts
    shown = "".join(PAGES.values()).count("{picture}")
    assert len(used) == shown


def test_pictures_name_no_place_of_the_machine() -> None:
    assert [path for path in FIGURES.glob("*.svg") if "/tmp" in path.read_text("utf-8")] == []


def test_files_that_are_named_exist() -> None:
    """On pages, in sources and in READMEs, by their paths below one of these folders."""
    folders = [ROOT, ROOT / "src", PACKAGE, PACKAGE / "statistics", ROOT / "tests", DOCS]
    readers = {f"docs/{name}.md": text for name, text in PAGES.items()}
    for path in (ROOT / "CONTRIBUTING.md", *PACKAGE.rglob("*.py"), *PACKAGE.rglob("README.md")):
        readers[path.relative_to(ROOT).as_posix()] = path.read_text("utf-8")
    missing = {
        (reader, named)
        for reader, text in readers.items()
        for named in re.findall(r"(?<![\w/.])((?:\w+/)+\w+\.(?:py|md|jsonl))\b", text)
        if "NAME" not in named and not any((folder / named).exists() for folder in folders)
    }
    assert missing == set()


def named_tests() -> list[tuple[str, str]]:
    text = PAGES["operate/nist"]
    found = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(found) == text.count("tests/") - text.count("pytest tests/")
    return found


@pytest.mark.parametrize(("file", "name"), named_tests())
def test_a_test_that_answers_a_hazard_exists(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def snippets() -> list[tuple[str, str]]:
    """Code inside of sentences that calls modicum, on pages for beginners."""
    return [
        (page, code)
        for page, text in PAGES.items()
        if page.split("/")[0] in {"start", "questions", "index"}
        for code in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", BLOCK.sub("", text))
        if re.match(r"(mo|modicum|curator)\.\w+.*\(", code)
    ]


def wrong_calls(code: str) -> list[str]:
    """Names that are not there, and keywords that are not taken, of calls that can be looked up."""
    roots = {"mo": mo, "modicum": mo, "curator": mo.Curator}
    wrong = []
    for call in ast.walk(ast.parse(code.replace(", ...)", ")"), mode="eval")):
        if not isinstance(call, ast.Call):
            continue
        names, node = [], call.func
        while isinstance(node, ast.Attribute):
            names, node = [node.attr, *names], node.value
        if not isinstance(node, ast.Name) or node.id not in roots:
            continue  # a method of what a call returns
        called: object = roots[node.id]
        for name in names:
            called = getattr(called, name, None)
        if called is None:
            wrong.append(".".join(names))
        elif takes := {*inspect.signature(called).parameters}:  # type: ignore[arg-type]
            wrong += [each.arg for each in call.keywords if each.arg and each.arg not in takes]
    return wrong


def test_calls_in_sentences_are_those_of_the_library() -> None:
    found = snippets()
    assert len(found) > 30
    assert {(page, code) for page, code in found if wrong_calls(code)} == set()
    assert wrong_calls("mo.mean(x, bounds=(0, 1))") == ["bounds"]
