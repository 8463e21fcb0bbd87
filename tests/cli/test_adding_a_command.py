"""The page says that a command is one file and one line: the program is built with the page's example."""

import glob
import json
import os
import re
import shlex
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLI = os.path.join(ROOT, "cli")
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(PROGRAM)))
TARGET = os.path.join(BUILD, "CMakeFiles", "paritas_program.dir")
TWO = os.path.join(ROOT, "examples", "two_bins.json")
LINE = "    COMMAND(fit) "


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=BUILD)


def flags():
    """The compiler and what it is told for the program's files, without file names."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    (line,) = [one["command"] for one in commands if one["file"] == os.path.join(CLI, "commands.c")]
    words = shlex.split(line)
    return words[: words.index("-o")]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    (example,) = re.findall(r"^```c\n(/\* bins\.c.*?)^```", text(ROOT, "docs", "development.md"), re.M | re.S)
    commands = text(CLI, "commands.h")
    assert commands.count(LINE) == 1
    (folder / "bins.c").write_text(example)
    (folder / "commands.h").write_text(commands.replace(LINE, "    COMMAND(bins) \\\n" + LINE))
    (folder / "commands.c").write_text(text(CLI, "commands.c"))
    objects = []
    for name in ("bins", "commands"):
        objects.append(str(folder / f"{name}.o"))
        done = run(*flags(), "-I" + CLI, "-Werror", "-c", str(folder / f"{name}.c"), "-o", objects[-1])
        assert done.returncode == 0, done.stderr
    link = shlex.split(text(TARGET, "link.txt"))
    own = os.path.join("CMakeFiles", "paritas_program.dir", "cli", "commands.c.o")
    made = str(folder / "paritas")
    link[link.index(own) : link.index(own) + 1] = objects
    link[link.index("-o") + 1] = made
    done = run(*link)
    assert done.returncode == 0, done.stderr
    return made


def test_a_command_is_one_file_and_one_line(program):
    assert run(program, "bins", TWO).stdout == "2 bins\n"
    assert json.loads(run(program, "bins", TWO, "--json").stdout)["bins"] == 2
    assert run(program, "bins", TWO, "-l", "3").returncode == 1
    assert run(program, "bins", TWO, "--least", "0").returncode == 2


def test_help_and_overview_follow_from_them(program):
    assert "\n  bins                 how many bins a model has\n" in run(program, "--help").stdout
    help_text = run(program, "bins", "--help").stdout
    assert help_text.startswith("usage: paritas bins WORKSPACE [options]\n\nhow many bins a model has\n")
    assert "\n  -l, --least N                 exit code 1 where there are fewer; default: 1\n" in help_text


def test_every_command_has_a_file_of_its_name():
    listed = re.findall(r"^    COMMAND\((\w+)\)", text(CLI, "commands.h"), re.M)
    described = {}
    for file in glob.glob(os.path.join(CLI, "commands", "*", "*.c")):
        found = re.search(
            r'^const struct command command_(\w+) = {\n    .name = "([^"]*)",', text(file), re.M
        )
        if found:
            assert os.path.basename(file) == f"{found[1]}.c"
            described[found[1]] = re.sub("[ -]", "_", found[2])
    assert described == {name: name for name in listed}


def test_messages_of_the_library_name_options(tmp_path):
    store = str(tmp_path / "toys.db")
    line = [PROGRAM, "toys", TWO, "--ntoys", "10", "--store", store]
    assert run(*line).returncode == 0
    refused = run(*line)
    assert refused.returncode == 3
    assert refused.stderr == f"paritas: {store}: exists already; --resume goes on with it\n"
