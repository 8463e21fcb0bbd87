"""HTML. Text is escaped; `Markup` is not."""

from __future__ import annotations

import math
import platform
import shlex
from datetime import datetime, timezone
from html import escape
from typing import Any, Sequence
from urllib.parse import quote

import numpy as np

from .._engine import VERSION
from ..files import PathLike, write_text
from ..plot.style import matplotlib_found
from ..plot.tables import html_table

#: readable on paper; fetches nothing
STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: #1b1f24; background: #fff;
  max-width: 84rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0.6rem 0 0.2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.4rem 0 0.6rem; padding-bottom: 0.2rem; border-bottom: 1px solid #d0d7de; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 0.4rem; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; padding: 0; margin: 0.8rem 0; list-style: none; \
font-size: 0.92rem; }
a { color: #0b57a4; }
.verdict { border-left: 0.4rem solid #1a7f37; background: #f2faf4; padding: 0.6rem 1rem; margin: 1rem 0; }
.verdict.bad { border-color: #b42318; background: #fdf3f2; }
.verdict p { margin: 0.2rem 0; font-size: 1.1rem; }
.warnings { border-left: 0.4rem solid #b7791f; background: #fdf8ec; padding: 0.5rem 1rem; margin: 1rem 0; }
.warnings ul { margin: 0.2rem 0; padding-left: 1.2rem; overflow-wrap: anywhere; }
.missing { border-left: 0.4rem solid #8c959f; background: #f6f8fa; padding: 0.5rem 1rem; \
overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.88rem; margin: 0.6rem 0 1.2rem; \
font-variant-numeric: tabular-nums; }
caption { text-align: left; white-space: nowrap; color: #57606a; padding: 0.2rem 0; }
th, td { padding: 0.18rem 0.7rem 0.18rem 0; border-bottom: 1px solid #e4e8ec; \
text-align: right; white-space: nowrap; }
th:first-child, td:first-child, td.text, th.text { text-align: left; }
td.text, th[scope=row] { white-space: normal; overflow-wrap: anywhere; min-width: 7rem; font-weight: normal; }
th[scope=row] { min-width: 11rem; }
thead th { white-space: normal; border-bottom: 2px solid #8c959f; vertical-align: bottom; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; align-items: flex-start; }
figure { margin: 0.4rem 0; max-width: 100%; }
figure img { max-width: 100%; height: auto; display: block; }
figcaption { font-size: 0.88rem; color: #57606a; }
pre { background: #f6f8fa; padding: 0.6rem 0.8rem; white-space: pre-wrap; \
overflow-wrap: anywhere; font-size: 0.88rem; }
.failed { color: #b42318; font-weight: 600; }
@media print {
  body { font-size: 10.5pt; max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  .figures { display: block; }
  figure img { max-height: 23cm; width: auto; }
  table { font-size: 8pt; }
  figure, .verdict, .warnings, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""
#: an inch; two figures fit side by side
PIXELS = 86


class Markup(str):
    """Text that is HTML already."""


class HtmlPage:
    """A page that writes and shows itself."""

    html: str

    @property
    def converged(self) -> bool:
        """The results behind the page can be used."""
        raise NotImplementedError

    def write(self, path: PathLike) -> None:
        """Writes a file, whole or not at all. Raises OSError."""
        write_text(self.html, path)

    def _repr_html_(self) -> str:
        return self.html


def text(value: Any) -> str:
    """Short numbers, NaN as a dash, escaped text."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, float):
        return f"{value:.5g}" if math.isfinite(value) else "&ndash;"
    return escape(str(value))


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    """Scrollable; words are left-aligned."""
    wordy = [any(isinstance(cell, str) for cell in column) for column in zip(*rows)]
    cells = ([text(cell) for cell in row] for row in rows)
    return wide(Markup(html_table(caption, head, cells, wordy)), caption)


def wide(content: Markup, called: str) -> Markup:
    return Markup(
        f'<div class="wide" role="region" aria-label="{escape(called)}" tabindex="0">{content}</div>\n'
    )


def missing(reason: str) -> Markup:
    return Markup(f'<p class="missing">Not shown: {escape(reason)}</p>\n')


def picture(svg: str, alt: str, caption: str, width: float) -> Markup:
    """An image, which runs no script and fetches nothing. width: inches."""
    address = "data:image/svg+xml," + quote(svg, safe=" !$'()*+,-./:;=?@[]_~&")
    image = f'<img src="{escape(address)}" alt="{escape(alt)}" width="{PIXELS * width:.0f}">'
    wide = f'style="width: {PIXELS * width:.0f}px"'  # a long caption does not widen the figure
    return Markup(f"<figure {wide}>{image}<figcaption>{escape(caption)}</figcaption></figure>\n")


def verdict(good: bool, words: str, warnings: Sequence[str]) -> Markup:
    """The first lines of a page, and its warnings."""
    lines = "".join(f"<li>{text(line)}</li>" for line in warnings)
    listed = lines and f'<div class="warnings" role="note"><h3>Warnings</h3>\n<ul>{lines}</ul></div>\n'
    return Markup(f'<div class="{"verdict" if good else "verdict bad"}"><p>{text(words)}</p></div>\n{listed}')


def circumstances() -> list[list[str]]:
    """Rows of a table: versions, system, time."""
    matplotlib = matplotlib_found()
    return [
        [
            "Versions",
            f"paritas {VERSION}, Python {platform.python_version()}, NumPy {np.__version__}, "
            f"matplotlib {matplotlib.__version__}",
        ],
        ["System", platform.platform()],
        ["Made", datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")],
    ]


def again(command: Sequence[str] | None, function: str) -> tuple[str, str, Markup]:
    """The last section: the command line, or the function that made the page."""
    made = (
        f"<p>Made from Python by <code>{escape(function)}</code>.</p>\n"
        if command is None
        else f"<pre>{text(shlex.join(command))}</pre>\n"
    )
    return ("again", "How to make this page again", Markup(made))


def beside(*pieces: Markup) -> Markup:
    return Markup(f'<div class="figures">{"".join(pieces)}</div>\n')


def page(title: str, sections: Sequence[tuple[str, str, Markup]]) -> str:
    """Sections: (anchor, heading, content). Its security policy forbids scripts and fetches, whatever names
    hold."""
    links = "".join(f'<li><a href="#{name}">{escape(heading)}</a></li>' for name, heading, _ in sections)
    parts = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title">\n'
        f'<h2 id="{name}-title">{escape(heading)}</h2>\n{content}</section>\n'
        for name, heading, content in sections
    )
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
<nav aria-label="Sections"><ul>{links}</ul></nav>
</header>
<main>
{parts}</main>
</body>
</html>
"""
