"""Run the notebooks of docs/notebooks and store what they show: ``python -m tools.notebooks``.

``python -m tools.notebooks NAME ...`` runs some of them. A kernel draws from a seed, the name of
the notebook, so that what is stored changes only where the code, or the library, does. The cells
themselves say nothing of a seed: whoever runs them draws secret randomness.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"

# Runs before the first cell, leaves no name that cells could use, and is not stored. A picture
# names no version of matplotlib.
_BEFORE = """
def _prepared():
    import sys
    from matplotlib_inline.backend_inline import set_matplotlib_formats
    set_matplotlib_formats("retina", metadata={{"Software": None}})
    sys.path.insert(0, {root!r})
    from conftest import draws_of
    sys.path.pop(0)
    return draws_of({seed!r})

_seeded = _prepared()
_seeded.__enter__()
"""
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def names() -> list[str]:
    """Names of all notebooks."""
    return sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))


def stored(name: str) -> NotebookNode:
    """Read a notebook as it is stored."""
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def executed(name: str) -> NotebookNode:
    """Run a notebook in an empty folder, with a profile of its own, from its seed."""
    notebook = stored(name)
    before = nbformat.v4.new_code_cell(_BEFORE.format(root=str(ROOT), seed=f"{name}.ipynb"))
    notebook.cells.insert(0, before)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        client = NotebookClient(
            notebook,
            resources={"metadata": {"path": str(work)}},
            record_timing=False,
            coalesce_streams=True,
            timeout=600,
            config=Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}}),
        )
        kept = {key: value for key, value in os.environ.items() if key != "MPLBACKEND"}
        client.execute(env={**kept, "IPYTHONDIR": folder})
    del notebook.cells[0]
    for number, cell in enumerate((each for each in notebook.cells if each.cell_type == "code"), 1):
        for each in (cell, *cell.outputs):
            if "execution_count" in each:
                each.execution_count = number
    notebook.metadata = nbformat.from_dict(_METADATA)
    return notebook


def main(chosen: list[str]) -> None:
    for name in chosen or names():
        nbformat.write(executed(name), NOTEBOOKS / f"{name}.ipynb")
        print(f"docs/notebooks/{name}.ipynb")


if __name__ == "__main__":
    main(sys.argv[1:])
