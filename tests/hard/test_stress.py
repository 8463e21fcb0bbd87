"""The tool that runs all commands: it finds what it looks for, and nothing on small files."""

import os
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
WORKSPACE = os.path.join(ROOT, "examples", "two_bins.json")
CARD = os.path.join(ROOT, "tests", "datacard", "counting.txt")

sys.path.insert(0, HERE)

import stress  # noqa: E402


def run(program, *arguments):
    line = [sys.executable, os.path.join(HERE, "stress.py"), program, *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=600)


def test_no_command_fails_on_one_toy():
    done = run(PROGRAM, WORKSPACE, CARD, "--seeds", "2", "--no-options", "--seconds", "60")
    assert done.returncode == 0, done.stdout
    assert ", 0 finds" in done.stdout


@pytest.mark.parametrize("command", ["hypotest-toys", "limit"])
def test_options_at_their_ends_are_answered_or_refused(command):
    done = run(PROGRAM, WORKSPACE, "--only-options", "--commands", command)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("body", "find"),
    [
        ("kill -SEGV $$", "signal SIGSEGV"),
        ("sleep 5", "not done after"),
        ("echo '{\"a\": NaN}'", "no JSON: NaN"),
        ("exit 1", "exit code 1 without a word"),
        ("exit 9", "exit code 9"),
        ("echo 'converged\\x0aNo error'", "a line break"),
    ],
)
def test_what_is_wrong_is_found(tmp_path, body, find):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    finds = stress.Program(str(program), 1.0, 32.0, str(tmp_path)).run(
        ["fit", WORKSPACE, "--json"], [WORKSPACE]
    )
    assert any(find in one for one in finds), finds
