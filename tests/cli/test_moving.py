"""docs/moving.md: what it tells users of Combine to type is taken, with a datacard, and answers."""

import json
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
CARD = os.path.join(ROOT, "examples", "datacard.txt")

with open(os.path.join(ROOT, "docs", "moving.md"), encoding="utf-8") as _file:
    SECTION = re.search(r"^## From combine$(.*?)^## ", _file.read(), re.M | re.S).group(1)
#: commands of the tables; others there are parts of one
COMMANDS = sorted(
    command
    for command in set(re.findall(r"`paritas ([a-z-]+ WS[^`]*)`", SECTION))
    if not command.startswith(("combine", "look-elsewhere"))
)
#: options of ours in the right column, with words that a command takes
OPTIONS = {
    "--test-stat qtilde": "hypotest",
    "--data FILE": "fit",
    "--toy N": "fit --data FILE",
    "--init a=1": "fit",
    "--fix a": "fit",
    "--fix a=V": "fit",
    "--fix r=V": "fit",
    "--range a=LO:HI": "limit",
    "--poi a --poi b": "scan",
    "--level 0.05": "limit",
    "--minos all": "fit",
    "--mask CHANNEL": "fit",
    "--asimov MU --prefit": "fit",
    "--asimov MU": "significance",
    "-m MASS": "fit",
}
WORDS = {
    "WS": CARD,
    "MU": "0.5",
    "LO:HI:N": "0.5:1.5:2",
    "LO:LO:1": "0.5:0.5:1",
    "a=LO:HI": "lumi=-3:3",
    "a=1": "lumi=1",
    "a=V": "lumi=0.5",
    "r=V": "r=0.5",
    "CHANNEL": "control",
    "MASS": "125",
    "NAME=PATTERN": "others=l*",
}


def words_of(command, folder):
    """The words of a shown command, with a card, parameters and files."""
    names = iter(("r", "lumi"))
    toys = os.path.join(folder, "toys.json")
    found = []
    for word in command.split():
        for old, new in WORDS.items():
            word = word.replace(old, new) if old != "WS" else new if word == "WS" else word
        word = re.sub("NAME", lambda _: next(names), word)
        word = {"FILE": toys, "a": "lumi", "b": "jes", "N": "1"}.get(word, word)
        found.append(word)
    takes_toys = "toys" in command or "--calc" in command or "interval" in command
    if takes_toys and "asymptotic" not in command:
        found += ["--ntoys", "60"] if "--ntoys" not in found else []
    return found


def run(folder, command):
    with open(os.path.join(folder, "toys.json"), "w") as file:
        subprocess.run([PROGRAM, "generate", CARD, "--ntoys", "2"], stdout=file, check=True)
    words = words_of(command, folder)
    if "--point" in words:
        with open(os.path.join(folder, "toys.json"), "w") as file:
            json.dump({"r": 0.5}, file)
    if "-o" in words:
        words[words.index("-o") + 1] = os.path.join(folder, "out.json")
    done = subprocess.run(
        [PROGRAM, *words, "--quiet"], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    #: few toys leave a limit without its precision
    assert done.returncode in (0, 1 if "--calc" in words else 0), (words, done.stderr)
    return done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_tables_answers(tmp_path, command):
    run(str(tmp_path), command)


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_the_tables_answers(tmp_path, option):
    assert f"`{option}`" in SECTION
    command, *others = OPTIONS[option].split()
    run(str(tmp_path), " ".join([command, "WS", *others, option]))


def test_a_fit_is_a_point_for_other_commands(tmp_path):
    fit = tmp_path / "fit.json"
    subprocess.run([PROGRAM, "fit", CARD, "--json", "-o", fit], check=True)
    done = subprocess.run([PROGRAM, "generate", CARD, "--point", fit, "--expected"], capture_output=True)
    best = {one["name"]: one["value"] for one in json.loads(fit.read_text())["parameters"]}
    assert json.loads(done.stdout)["parameters"] == best


def test_cards_are_combined(tmp_path):
    with open(CARD, encoding="utf-8") as file:
        text = file.read()
    for name in ("one", "two"):
        renamed = text.replace("signal  signal  signal  control", f"{name} {name} {name} control{name}")
        renamed = renamed.replace("bin          signal  control", f"bin {name} control{name}")
        (tmp_path / f"{name}.txt").write_text(renamed)
    cards = [tmp_path / "one.txt", tmp_path / "two.txt"]
    both = tmp_path / "both.txt"
    subprocess.run([PROGRAM, "combine", *cards, "-o", both], check=True)
    done = subprocess.run([PROGRAM, "convert", both], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["channels"]) == 4
