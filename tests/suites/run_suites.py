#!/usr/bin/env python3
"""Runs the whole test suites of pyhf 0.7.6 and cabinetry 0.6.0 on paritas.pyhf, outside CI.

    git clone --branch v0.7.6 https://github.com/scikit-hep/pyhf
    git clone --branch v0.6.0 https://github.com/scikit-hep/cabinetry
    pip install 'pyhf[minuit,xmlio,contrib]==0.7.6' 'cabinetry[contrib]==0.6.0' 'numpy<2.4' \\
        'jsonpatch==1.33' 'setuptools<80' pytest pytest-mock pytest-mpl pytest-console-scripts \\
        pytest-timeout requests-mock scikit-hep-testdata
    tests/suites/run_suites.py --pyhf pyhf --cabinetry cabinetry

Each suite runs on pyhf, on Paritas (in python/, or installed), and on Paritas with minimisers="original":
SciPy and iminuit on our likelihood. Of the tests that pass on pyhf, each that fails on Paritas is told with
its cause, from causes.py. A test whose cause is a minimiser's stopping point must pass in the third run.

Exits with 1 if a failure has no cause there, a cause proves wrong, or too few tests pass in the third run.
Needs no network; tests that do are left out, since they fail on pyhf, too."""

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
ENGINE = ("-p", "paritas.pyhf.pytest_plugin")
ORIGINAL = (*ENGINE, "--minimisers", "original")
#: plugins, paths and options; the least share of tests that must pass
SUITES = {
    "pyhf": (
        ("-p", "absent_backends"),
        ("tests", "--ignore=tests/benchmarks", "--ignore=tests/test_notebooks.py"),
        820 / 860,
    ),
    "cabinetry": ((), ("tests", "--runslow"), 157 / 158),
}


def run(checkout, plugins, options, ours=()):
    """Outcomes of the tests: by name "passed", "skipped" or the beginning of the error."""
    paths = [str(HERE), str(checkout / "src")] if (checkout / "src" / "cabinetry").is_dir() else [str(HERE)]
    paths += [str(PACKAGE)] if ours else []
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": os.pathsep.join(paths)}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", *ours, *plugins, *options]
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


def compare(suite, checkout):
    """Whether the suite does as it must."""
    plugins, options, share = SUITES[suite]
    theirs, engine, original = (run(checkout, plugins, options, ours) for ours in ((), ENGINE, ORIGINAL))
    asked = sorted(test for test, found in theirs.items() if found == "passed")
    failing, failing_original = (
        [test for test in asked if ours.get(test) != "passed"] for ours in (engine, original)
    )
    print(f"\n{suite}: {len(asked)} tests pass on pyhf, {len(asked) - len(failing)} of them on Paritas")
    passing = len(asked) - len(failing_original)
    print(f'  with minimisers="original": {passing} ({share:.1%} asked)')
    good = passing >= share * len(asked)
    for test in sorted({*failing, *failing_original}):
        cause = cause_of(test)
        if cause is None:
            cause = f"NO CAUSE IS KNOWN: {engine.get(test)}, {original.get(test)}"
            good = False
        if test not in failing:
            cause += ". It fails with the original minimisers alone"
        elif test not in failing_original:
            cause += ". It passes with the original minimisers"
        elif cause == MINIMUM:
            cause += ". WRONG: it fails with the original minimisers, too"
            good = False
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
