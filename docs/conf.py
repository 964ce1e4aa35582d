"""Sphinx configuration."""

import sys
from pathlib import Path

from modicum import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_sphinx"))

from explained import EXPLAINED  # noqa: E402

project = "modicum"
author = "The modicum maintainers"
release = version = __version__

extensions = [
    "myst_nb",
    "numpydoc",
    "directives",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_sphinx", "_templates", "jupyter_execute"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
nb_execution_mode = "off"

autodoc_member_order = "bysource"
autodoc_mock_imports = ["sklearn"]
autodoc_typehints = "none"
autosummary_context = {"explained": EXPLAINED}
autosummary_ignore_module_all = False
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = f"modicum {__version__}"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_nav_level": 1,
    "show_toc_level": 2,
}
