"""A fit, its statistics and its figures as one HTML page: `python -m paritas report WORKSPACE -o report.html`."""
