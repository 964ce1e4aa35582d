"""What the pages need beyond MyST: pictures for light and dark, help of the command, and formulas.

``picture`` shows ``figures/NAME.svg`` on light pages and ``figures/NAME-dark.svg`` on dark ones.
``command-help`` shows what the command line says of all verbs of a task. Formulas become MathML,
which browsers draw themselves: pages load no script from elsewhere. A notebook offers itself.
"""

import contextlib
import io
import json
import os
from pathlib import Path
from typing import ClassVar
from unittest import mock

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from modicum.cli import main
from modicum.cli.tasks import TASKS


class Picture(SphinxDirective):
    required_arguments = 1
    option_spec: ClassVar = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        if not self.options.get("alt"):
            raise self.error("a picture needs an alternative text: :alt:")
        shades = (("", "only-light"), ("-dark", "only-dark"))
        return [
            nodes.image(
                uri=f"/figures/{self.arguments[0]}{ending}.svg",
                alt=self.options["alt"],
                classes=["picture", shade],
            )
            for ending, shade in shades
        ]


def helped(verb: str) -> str:
    shown = io.StringIO()
    narrow = mock.patch.dict(os.environ, {"COLUMNS": "88", "NO_COLOR": "1"})
    with narrow, contextlib.redirect_stdout(shown):
        main(["help", verb])
    return shown.getvalue()


class CommandHelp(Directive):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for verb, purpose in TASKS[self.arguments[0]].items():
            section = nodes.section(ids=[nodes.make_id(f"modicum {verb}")], names=[verb])
            section += nodes.title(verb, verb)
            section += nodes.paragraph(purpose, f"{purpose[0].upper()}{purpose[1:]}.")
            section += nodes.literal_block(helped(verb), helped(verb), language="text")
            found.append(section)
        return found


class Fields(SphinxDirective):
    """A table of the fields of one part of the schema of releases."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir) / "reference/schema/release.schema.json"
        self.env.note_dependency(str(path))
        part = json.loads(path.read_text("utf-8"))["$defs"][self.arguments[0]]
        lines = ["| field | meaning |", "|---|---|"]
        for name, field in part["properties"].items():
            if "description" in field:
                lines.append(f"| `{name}` | {field['description']} |")
        return self.parse_text_to_nodes("\n".join(lines))


def inline_formula(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def formula(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def offer_notebook(app: Sphinx, doctree: nodes.document) -> None:
    """Link to the file of a notebook, below the title of its page."""
    path = Path(app.env.doc2path(app.env.docname))
    if path.suffix == ".ipynb":
        link = addnodes.download_reference("", "", reftarget=path.name, refdoc=app.env.docname)
        link += nodes.Text("Download this notebook")
        title = next(doctree.findall(nodes.title))
        title.parent.insert(title.parent.index(title) + 1, nodes.paragraph("", "", link))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("picture", Picture)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("fields", Fields)
    app.connect("doctree-read", offer_notebook, priority=100)  # before files are collected
    app.add_html_math_renderer("mathml", (inline_formula, None), (formula, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
