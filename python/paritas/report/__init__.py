"""A fit with its statistics and figures as one self-contained HTML page: `python -m paritas report WORKSPACE
-o report.html`, or

    from paritas.report import report

    page = report("workspace.json", patches=["signal.json"])
    page.write("report.html")"""

from __future__ import annotations

from .analysis import Analysis, Source, analyse
from .command import main
from .document import Page, page_of, report

__all__ = ["Analysis", "Page", "Source", "analyse", "main", "page_of", "report"]
