"""Notebooks are whole, and store what their code shows; ``python -m tools.notebooks`` does it anew.

As on pages, words are compared exactly and numbers may differ by 10 %; pictures have to be there.
"""

import ast
import base64
import json
import re

import pytest

from tests.docs.pages import DOCS, Checker

FOLDER = DOCS / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
MOST_CELLS = 35
MACHINE = re.compile(r"/(tmp|home|root|work|usr|Users)\b|[A-Z]:\\|seed", re.IGNORECASE)
MARKUP = re.compile(r"<style.*?</style>|<[^>]+>", re.DOTALL)


def code_cells(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def shown(output: dict) -> dict[str, str]:
    """What one output of a cell shows, by its type."""
    if output["output_type"] == "stream":
        return {output["name"]: joined(output["text"])}
    return {kind: joined(data) for kind, data in output.get("data", {}).items()}


def texts(cell: dict) -> list[str]:
    """All text that a cell shows, tables without their markup; for a picture, that there is one."""
    found = []
    for output in cell["outputs"]:
        for kind, text in sorted(shown(output).items()):
            picture = kind.startswith("image/")
            found.append(kind if picture else f"{kind}\n{MARKUP.sub(' ', text)}\n")
    return found


def differing(stored: dict, now: dict) -> list[tuple[str, str]]:
    """Texts of cells, stored and of today, where they disagree."""
    pairs = [
        ("".join(texts(was)), "".join(texts(is_)))
        for was, is_ in zip(code_cells(stored), code_cells(now), strict=True)
    ]
    return [pair for pair in pairs if not Checker().check_output(*pair, 0)]


@pytest.fixture(params=NAMES)
def name(request) -> str:
    return request.param


@pytest.fixture
def stored(name) -> dict:
    return json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))


def test_a_notebook_is_valid(name) -> None:
    nbformat = pytest.importorskip("nbformat", reason="pip install nbformat")
    nbformat.validate(nbformat.read(FOLDER / f"{name}.ipynb", as_version=4))


def test_a_notebook_was_run_in_order_and_whole(stored) -> None:
    assert len(stored["cells"]) <= MOST_CELLS
    assert stored["cells"][0]["cell_type"] == "markdown"
    assert joined(stored["cells"][0]["source"]).startswith("# ")
    cells = code_cells(stored)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    for cell in cells:
        source = joined(cell["source"])
        kinds = {kind for output in cell["outputs"] for kind in shown(output)}
        assert {output["output_type"] for output in cell["outputs"]} <= {
            "stream", "execute_result", "display_data",
        }  # fmt: skip
        assert "stderr" not in kinds
        plotted = ".plot(" in source
        assert ("image/png" in kinds) == plotted
        if "print(" in source:
            assert "stdout" in kinds
        elif isinstance(ast.parse(source).body[-1], ast.Expr):
            assert "text/plain" in kinds
            assert plotted or "text/html" in kinds or ".name" in source


def test_a_notebook_shows_tables_and_pictures(stored) -> None:
    kinds = [
        kind for cell in code_cells(stored) for each in cell["outputs"] for kind in shown(each)
    ]
    assert kinds.count("text/html") >= 5
    assert kinds.count("image/png") >= 3


def test_every_picture_has_an_alternative_text(stored) -> None:
    for cell in code_cells(stored):
        words = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        pictures = [output for output in cell["outputs"] if "image/png" in shown(output)]
        assert (len(words) > 40) == (len(pictures) == 1)


def test_a_notebook_tells_nothing_of_the_machine_that_ran_it(stored) -> None:
    assert stored["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in stored["cells"]:
        assert {*cell["metadata"]} <= {"mystnb"}
        assert not MACHINE.search(joined(cell["source"]))
    for cell in code_cells(stored):
        for output in cell["outputs"]:
            assert {*output.get("metadata", {})} <= {"image/png"}
            for kind, data in shown(output).items():
                if kind == "image/png":
                    assert b"tEXt" not in base64.b64decode(data)
                else:
                    assert not MACHINE.search(data)


def test_links_lead_to_pages_and_the_index_has_all() -> None:
    index = (FOLDER / "index.md").read_text("utf-8")
    for name in NAMES:
        assert f"{{doc}}`{name}`" in index
        assert f"<{name}.ipynb>" in index
        assert f"\n{name}\n" in index
        text = (FOLDER / f"{name}.ipynb").read_text("utf-8")
        links = re.findall(r"\]\(([^)]+)\)", text)
        assert links
        assert [link for link in links if not (FOLDER / link).exists()] == []


def test_what_no_longer_comes_from_the_code_is_noticed() -> None:
    def notebook(text: str, **more: str) -> dict:
        data = {"text/html": f"<p style='color:red'>{text}</p>", "text/plain": text, **more}
        return {
            "cells": [
                {"cell_type": "code", "outputs": [{"output_type": "execute_result", "data": data}]}
            ]
        }

    was = notebook("mean: 1,000 ok")
    assert not differing(was, notebook("mean: 1,050 ok"))
    assert differing(was, notebook("mean: 1,150 ok"))
    assert differing(was, notebook("mean: 1,000 no"))
    assert differing(was, notebook("mean: 1,000 ok", **{"image/png": "abc"}))


@pytest.mark.slow
def test_a_notebook_stores_what_its_code_shows(name, stored) -> None:
    pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
    from tools.notebooks import executed  # noqa: PLC0415

    assert differing(stored, executed(name)) == []
