"""How the site is built: `make docs`."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "rgboost"
author = "The rgboost developers"
copyright = author
version = release = version_of("rgboost")

extensions = [
    "plain_docstrings",  # before numpydoc, which reads what it leaves
    "mathml",
    "links",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
templates_path = ["_templates"]
toc_object_entries_show_parents = "hide"
nitpicky = False  # types in docstrings are plain words
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_default_options = {"members": True}
autodoc_typehints = "none"  # the sections of the docstrings have them
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # a table that loads scripts from elsewhere
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_signature": False,
}
copybutton_prompt_text = ">>> "

html_theme = "pydata_sphinx_theme"
html_title = "rgboost"
html_static_path = ["_static"]
html_css_files = ["rgboost.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_extra_path = ["llms.txt"]
html_theme_options = {
    "logo": {"text": "rgboost"},
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"index": [], "**": ["page-toc"]},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": [], "theory": []}
