"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from chmcnn import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "chmcnn"
author = "The chmcnn developers"
copyright = author  # noqa: A001 -- the name that Sphinx reads
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "reference",
]
exclude_patterns = ["_extensions"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "py:obj"
autodoc_typehints = "none"  # signatures with all types are longer than their description
autodoc_member_order = "bysource"
autosummary_generate = False  # _extensions/reference.py writes the pages
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_attr_annotations = False
toc_object_entries_show_parents = "hide"
nitpicky = True
# Names in docstrings are links where they are public names of this package, and code otherwise. Types of other packages
# would need their inventories from the network.
nitpick_ignore_regex = [("py:.*", r".*")]

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"chmcnn {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"index": [], "start": [], "how_it_works": []}  # pages without others below them
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
