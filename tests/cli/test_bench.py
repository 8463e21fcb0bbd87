"""bench/bench.py tells what it lacks before it measures anything."""

import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(os.environ["PARITAS_BIN"])))


def refused(*arguments):
    command = [sys.executable, os.path.join(ROOT, "bench", "bench.py"), *arguments]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 2 and not run.stdout
    return run.stderr


def test_what_is_missing_is_named():
    assert "no bench/analysis in /nosuch" in refused("--build", "/nosuch")
    assert "--pairs takes a number from 1, not 0" in refused("--pairs", "0")


@pytest.mark.skipif(
    not os.path.exists(os.path.join(BUILD, "bench", "analysis")), reason="the benchmarks are not built"
)
def test_a_workspace_is_a_path_or_a_known_name():
    assert "no workspace nosuch.json" in refused("--build", BUILD, "nosuch.json")
