"""No command's help lists an option that the command refuses. Most files are missing on purpose: what words
are allowed is decided before they are read, so no command works for long."""

import re
import subprocess

import pytest

from test_cli import PROGRAM, run

#: by the placeholder of help; of several words the first is taken
VALUES = {
    "C": "2",
    "CHANNEL": "x",
    "CL": "0.5",
    "CM^2": "0.02",
    "COUNTS/S": "0.1",
    "DEGREES": "10",
    "DIR": ".",
    "EV": "20",
    "FILE": "none",
    "FILE|DIR": "none",
    "FILE|NAME=PATTERN": "g=mu",
    "I/N": "1/2",
    "LO:HI": "1:2",
    "M": "125",
    "M/S": "3e6",
    "MM": "5",
    "DD": "5",
    "MU": "1",
    "N": "2",
    "NAME": "x",
    "NAME,...": "x",
    "NAME=KIND:A,B": "mu=uniform:0,1",
    "NAME=LO:HI": "mu=0:1",
    "NAME=PATTERN": "g=*",
    "NAME=V": "mu=1",
    "NAME[=LO:HI:N]": "mu",
    "NAME[=V]": "mu=1",
    "OLD": "a",
    "P": "0.5",
    "PART": "0.5",
    "PATTERN": "x",
    "PATTERN:NAME[VALUE,LOW,HIGH]": "x/y:r[1,0,2]",
    "RATE": "1",
    "S": "2",
    "T": "1",
    "V": "2",
    "W": "1",
    "X": "0.5",
    "YYYY": "1998",
    "YYYY-MM-DD": "1998-01-16",
    # files that are written
    "--output": "new",
    "--output-file": "new",
    "--predictive": "new.npz",
    "--save": "new.npz",
    "--store": "new",
}
#: what a command needs in any case
NEEDED = {
    "contour": ["none", "--par", "x", "--par", "y"],
    "look-elsewhere": ["none", "--patchset", "none"],
    "merge": ["none", "-o", "all"],
    "bench": ["none"],
    "patchset": ["apply", "none", "none", "--name", "x"],
    "losscone fit": ["none", "-o", "out"],
    "losscone profile": ["none", "--spectrum", "1"],
    "losscone synthesize": ["-o", "out", "--days", "1", "--sweeps", "2"],
    "losscone inject": ["--sweeps", "1"],
    "kappa fit": ["none", "-o", "out"],
}


def commands():
    listed = run("--help").stdout.split("Commands:")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+(?: \S+)?)  ", listed, re.M)


def words_of(option, placeholder):
    if not placeholder:
        return [option]
    value = VALUES.get(option) or VALUES.get(placeholder) or placeholder.partition("|")[0]
    assert "|" in placeholder or placeholder in VALUES, f"{option} {placeholder}: no value for it in VALUES"
    return [option, value, "b"] if placeholder == "OLD" else [option, value]


def tried(command, words, placeholders, folder):
    """The command line with what its options need: "--calc toys", "--store FILE", "--toys or --ntoys N"."""
    for _ in range(4):
        line = [PROGRAM, *command.split(), *words]
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, cwd=folder)
        if "takes one patch of a patch set" in done.stderr:
            words = [*words, "--patch-name", "x"]
            continue
        needs = re.match(r"paritas: --\S+(?: \w+)? needs (--[\w-]+)(?: (?!or\b)([a-z]+))?", done.stderr)
        if done.returncode != 2 or not needs:
            return done
        words += [needs[1], needs[2]] if needs[2] else words_of(needs[1], placeholders[needs[1]])
    return done


@pytest.mark.parametrize("command", commands())
def test_help_lists_what_the_command_takes(command, tmp_path):
    text = run(*command.split(), "--help").stdout
    operands = re.sub(r"\[[^]]*\]", "", text.splitlines()[0].partition(command)[2]).split()
    needed = NEEDED.get(command, ["none"] * len(operands))
    placeholders = dict(re.findall(r"^  (?:-\w, )?(--[\w-]+)(?: (\S+))?", text, re.M))
    assert "--help" in placeholders
    for option, placeholder in placeholders.items():
        done = tried(command, [*needed, *words_of(option, placeholder)], placeholders, tmp_path)
        of_the_value = re.match(f"paritas: {option} takes ", done.stderr)
        assert done.returncode != 2 or of_the_value, f"{option}: {done.stderr}"
