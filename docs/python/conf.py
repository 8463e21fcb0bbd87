"""Sphinx's settings for the pages of the Python package: `make docs` builds them together with the library's,
`-b doctest` runs their examples."""

import re
import sys
from pathlib import Path

from sphinx.util import inspect

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

project = "Paritas"
copyright = "the authors of Paritas"  # noqa: A001 (Sphinx's name)
header = (ROOT / "include" / "paritas_context.h").read_text(encoding="utf-8")
release = version = ".".join(
    re.search(rf"PARITAS_VERSION_{part}\s+(\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")
)

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest"]
source_suffix = {".md": "markdown"}
root_doc = "python/index"  # sources are all of docs/, so that pages of the library are there to be linked
myst_heading_anchors = 3
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_preserve_defaults = False  # signatures are made by `takes`, not by the source
autodoc_type_aliases = {
    name: name
    for name in (
        "ArrayLike",
        "Bounds",
        "DocumentLike",
        "Fixed",
        "Floats",
        "Function",
        "Path",
        "Progress",
        "ProgressFunction",
        "Values",
    )
}
if hasattr(inspect, "TypeAliasForwardRef"):  # newer Sphinx would show this word around each
    inspect.TypeAliasForwardRef.__repr__ = lambda alias: alias.name
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True

# examples run in the tree's root, on the workspaces that it has
doctest_global_setup = f"import os\nos.chdir({str(ROOT)!r})"
trim_doctest_flags = True

html_theme = "alabaster"
html_theme_options = {
    "description": "Likelihoods fitted one at a time or by the million, with the same bits on every device",
    "page_width": "1100px",
}
html_show_copyright = False
html_copy_source = False


def marked_up(text):
    """Plain text as reStructuredText: what stands in backquotes is code, and no other character means
    anything."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"([*|_\\])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"\\ ``{part}``\\ " for part in parts[1::2]]
    return "".join(parts)


def mark_up_docstring(app, what, name, thing, options, lines):
    """Docstrings here are plain text: paragraphs, items ("name: ...") that hang over into indented lines,
    code that is indented as a whole, examples."""
    out = []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        rows = paragraph.splitlines()
        if all(row.startswith("    ") for row in rows):
            out += ["::", "", *rows, ""]
        elif rows[0].startswith(">>> "):
            out += [*rows, ""]
        else:
            hanging = any(row.startswith(" ") for row in rows)
            for row in marked_up(paragraph).splitlines():
                out += [""] * (hanging and not row.startswith(" "))  # an item is a paragraph
                out.append(row.lstrip())
            out.append("")
    lines[:] = out


def setup(app):
    app.connect("autodoc-process-docstring", mark_up_docstring)
