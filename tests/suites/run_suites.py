#!/usr/bin/env python3
"""Runs the whole test suites of pyhf 0.7.6 and cabinetry 0.6.0 on paritas.pyhf, outside CI.

    git clone --branch v0.7.6 https://github.com/scikit-hep/pyhf
    git clone --branch v0.6.0 https://github.com/scikit-hep/cabinetry
    pip install 'pyhf[minuit,xmlio,contrib]==0.7.6' 'cabinetry[contrib]==0.6.0' 'numpy<2.4' \\
        'jsonpatch==1.33' 'setuptools<80' pytest pytest-mock pytest-mpl pytest-console-scripts \\
        pytest-timeout requests-mock scikit-hep-testdata
    tests/suites/run_suites.py --pyhf pyhf --cabinetry cabinetry

Each suite runs on pyhf, then on Paritas (in python/, or installed). Of the tests that pass on pyhf, each that
fails on Paritas is told with its cause, from causes.py. Tests of that table that compare minima run a third
time, with pyhf's minimisers on our likelihood, and must pass.

Exits with 1 if a failure has no cause there, a cause proves wrong, or too few tests pass, the third run
included. Needs no network; tests that do are left out, since they fail on pyhf, too."""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

from causes import MINIMUM, cause_of

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "python"
OURS = ("-p", "paritas.pyhf.pytest_plugin")
#: plugins, paths and options; the least share of tests that must pass
SUITES = {
    "pyhf": (
        ("-p", "absent_backends"),
        ("tests", "--ignore=tests/benchmarks", "--ignore=tests/test_notebooks.py"),
        820 / 860,
    ),
    "cabinetry": ((), ("tests", "--runslow"), 157 / 158),
}


def run(checkout, plugins, options, on_paritas):
    """Outcomes of the tests: by name "passed", "skipped" or the beginning of the error."""
    paths = [str(HERE), str(checkout / "src")] if (checkout / "src" / "cabinetry").is_dir() else [str(HERE)]
    paths += [str(PACKAGE)] if on_paritas else []
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": os.pathsep.join(paths)}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", *(OURS if on_paritas else ()), *plugins, *options]
        command += ["-o", "addopts=", "-o", "log_cli=false", "-q", "--continue-on-collection-errors"]
        command += ["--timeout=300", f"--junitxml={report}"]
        subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
        if not report.exists():
            sys.exit(f"pytest made no report in {checkout}: {' '.join(command)}")
        return {
            f"{one.get('classname')}::{one.get('name')}": outcome(one)
            for one in ET.parse(report).iter("testcase")
        }


def outcome(case):
    for child in case:
        if child.tag in ("failure", "error"):
            return (child.get("message") or child.tag).split("\n")[0][:100]
        if child.tag == "skipped":
            return "skipped"
    return "passed"


def minima_agree(checkout, suite, tests):
    """Which of the tests pass with pyhf's minimisers on our likelihood."""
    plugins, options, _ = SUITES[suite]
    functions = " or ".join(sorted({test.split("::")[1].split("[")[0] for test in tests}))
    again = run(checkout, (*plugins, "-p", "their_minimisers"), (*options, "-k", functions), True)
    return {test for test in tests if again.get(test) == "passed"}


def compare(suite, checkout):
    """Whether the suite does as it must."""
    plugins, options, share = SUITES[suite]
    theirs, ours = (run(checkout, plugins, options, on_paritas) for on_paritas in (False, True))
    asked = sorted(test for test, found in theirs.items() if found == "passed")
    failing = [test for test in asked if ours.get(test) != "passed"]
    passing = len(asked) - len(failing)
    causes = {test: cause_of(test) for test in failing}
    stopping = [test for test in failing if causes[test] == MINIMUM]
    checked = minima_agree(checkout, suite, stopping) if stopping else set()
    with_theirs = passing + len(checked)
    print(f"\n{suite}: {len(asked)} tests pass on pyhf, {passing} of them on Paritas")
    print(f"  with pyhf's minimisers where minima are compared: {with_theirs} ({share:.1%} asked)")
    good = with_theirs >= share * len(asked)
    for test in failing:
        cause = causes[test] or f"NO CAUSE IS KNOWN: {ours.get(test, 'not run')}"
        if cause == MINIMUM:
            cause += (
                ", and it passes with theirs" if test in checked else ". WRONG: it fails with theirs, too"
            )
        good = good and causes[test] is not None and (test in checked or test not in stopping)
        print(f"  {test}\n      {cause}")
    return good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for suite in SUITES:
        parser.add_argument(f"--{suite}", type=Path, metavar="CHECKOUT")
    given = {suite: checkout for suite, checkout in vars(parser.parse_args()).items() if checkout is not None}
    if not given:
        parser.error("give --pyhf, --cabinetry or both")
    results = [compare(suite, checkout.resolve()) for suite, checkout in given.items()]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
