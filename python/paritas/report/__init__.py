"""A fit with its statistics and figures as one self-contained HTML page: `python -m paritas report WORKSPACE
-o report.html`, or

    from paritas.report import report

    page = report("workspace.json", patches=["signal.json"])
    page.write("report.html")

`python -m paritas moon TABLES -o moon.html`, or `moon_report("TABLES")`: the same of tables of loss cones."""

from .analysis import Analysis, Source, analyse
from .command import main
from .document import Page, page_of, report
from .moon import MoonPage, moon_report

__all__ = ["Analysis", "MoonPage", "Page", "Source", "analyse", "main", "moon_report", "page_of", "report"]
