"""Sphinx's settings for the site: `make docs` builds it of all pages, `-b doctest` runs their examples.

The start page is README's first part above docs/index.md. The tables of docs/index.md give the groups of the
sidebar. The page for the browser becomes the folder web of the site, if `make web` has made it."""

import re
import shutil
import sys
from pathlib import Path

from sphinx.util import inspect

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

project = "Paritas"
copyright = "the authors of Paritas"  # noqa: A001 (Sphinx's name)
header = (ROOT / "include" / "paritas_context.h").read_text(encoding="utf-8")
release = version = ".".join(
    re.search(rf"PARITAS_VERSION_{part}\s+(\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")
)

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.doctest"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["site"]
myst_heading_anchors = 3
myst_enable_extensions = ["html_image"]
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
    "fixed_sidebar": True,
    "page_width": "56rem",  # narrower screens have no sidebar
    "font_family": "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    "head_font_family": "inherit",
    "code_font_family": "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
    "code_font_size": "0.85em",
    "font_size": "16px",
}
html_title = f"Paritas {version}"
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
templates_path = ["site"]
html_static_path = ["site/site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for files on the disk

README = ROOT / "README.md"
END_OF_START = "<!-- the site's start page ends here"
BROWSER = ROOT / "build" / "web"  # made by `make web`


def start_of_readme():
    """README's first part as it stands on the site: links from docs/, its example of Python run, and what
    only the site can show."""
    text = README.read_text(encoding="utf-8").split(END_OF_START)[0]
    text = re.sub(r"(\]\(|src=\")docs/", r"\1", text)
    text = text.replace("```python\n>>>", "```{doctest}\n>>>")
    only_here = r"\1" if (BROWSER / "index.html").exists() else ""
    return re.sub(r"<!-- site:\n(.*?)\n-->", only_here, text, flags=re.S)


def groups_of(text):
    """For each heading with a table: a toctree of the pages that the table links."""
    for section in text.split("\n## ")[1:]:
        pages = re.findall(r"\]\(([^)#:]+)\.md[^)]*\)", section)
        if "\n|---" in section:
            caption = section.split("\n")[0]
            yield "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```"])


def make_start_page(app, name, source):
    if name == "index":
        app.env.note_dependency(README)
        pages = source[0].split("\n## ", 1)[1]
        source[0] = "\n\n".join([f"{start_of_readme()}\n## {pages}", *groups_of(source[0])])


def add_browser_page(app, exception):
    if app.builder.name == "html" and (BROWSER / "index.html").exists():
        shutil.copytree(BROWSER, Path(app.outdir) / "web", dirs_exist_ok=True)


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
    app.connect("source-read", make_start_page)
    app.connect("build-finished", add_browser_page)
