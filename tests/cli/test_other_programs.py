"""Options and commands of other programs: the program names its own."""

import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60)


def refusal(*arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    return done.stderr.splitlines()[0]


def table(name):
    """Rows of a table in the source: lists of texts, None for NULL."""
    with open(os.path.join(ROOT, "cli", "other_programs.c"), encoding="utf-8") as file:
        text = re.search(name + r"\[\] = \{(.*?)\n\};", file.read(), re.S)[1]
    rows = re.findall(r"^    \{(.*?)\},$", text, re.M | re.S)
    found = [re.findall(r'((?:"(?:[^"])*"\s*)+|NULL)', row) for row in rows]
    return [
        [None if part == "NULL" else "".join(re.findall(r'"([^"]*)"', part)) for part in row] for row in found
    ]


OVERVIEW = run("--help").stdout
COMMANDS = re.findall(r"^  ([a-z][a-z-]*(?: [a-z]+)?)(?:  +\S|$)", OVERVIEW, re.M)
OPTIONS = {
    name: set(re.findall(r"^  (?:-., )?(--[a-z-]+)", run(*name.split(), "--help").stdout, re.M))
    for name in COMMANDS
}
LETTERS = {name: set(re.findall(r"^  (-.),", run(*name.split(), "--help").stdout, re.M)) for name in COMMANDS}


@pytest.mark.parametrize(
    "arguments, answer",
    [
        ("hypotest-toys x --n-toys 3", "hypotest-toys has no option --n-toys; paritas says --ntoys N"),
        ("gof x --n-toys=3", "gof has no option --n-toys; paritas says --ntoys N"),
        ("fit --input x", "fit has no option --input: the file is an operand: paritas COMMAND FILE"),
        ("fit x --gpu cuda", "fit has no option --gpu; paritas says --device NAME, and `paritas devices`"),
        ("losscone fit x --fast", "losscone fit has no option --fast: no such choice is needed"),
        ("losscone fit x --parallel", "losscone fit has no option --parallel; paritas says --threads N"),
        ("limit x --alpha 0.1", "limit has no option --alpha; paritas says --level ALPHA"),
        ("hypotest x --test-poi 1", "hypotest has no option --test-poi; paritas says --mu MU"),
        ("hypotest x --calctype toybased", "`paritas hypotest-toys` by toys"),
        (
            "limit x --calctype toybased",
            "limit has no option --calctype; paritas says --calc asymptotic|toys",
        ),
        ("fit x -p patch.json", "fit has no option -p; paritas says --patch FILE"),
        ("limit x --rMax 5", "limit has no option --rMax; paritas says --range NAME=LO:HI"),
        ("contour x --cl 0.9", "contour has no option --cl; paritas says --confidence CL"),
        ("contour x --alpha 0.1", "contour has no option --alpha; paritas says --confidence CL, which is 1"),
        ("fit x -M FitDiagnostics", "fit has no option -M: -M FitDiagnostics is `paritas fit`, its --save"),
        ("limit x -M HybridNew", "limit has no option -M: -M HybridNew is `paritas limit --calc toys`"),
        ("fit x -M Others", "fit has no option -M: the command is the method"),
        ("-M Impacts x", "there is no command '-M': -M Impacts is `paritas ranking` here"),
        ("limit x -t -1", "limit has no option -t; paritas says --asimov MU --prefit"),
        ("fit x -t -1", "fit has no option -t; paritas says --asimov MU"),
        (
            "limit x --run blind",
            "limit has no option --run: observed and expected limits are in every answer",
        ),
        ("fit x --rMin 0", "fit has no option --rMin; paritas says --range NAME=LO:HI"),
        (
            "scan x --setParameterRanges r=0,1",
            "scan has no option --setParameterRanges; paritas says --range",
        ),
        ("fit x --toysFile x", "fit has no option --toysFile: the data are the workspace's observations"),
        ("toys x --saveToys", "`paritas generate` answers with the data of its toys"),
        (
            "gof x --fixedSignalStrength 0",
            "gof has no option --fixedSignalStrength; paritas says --fix NAME=V",
        ),
        ("ChannelCompatibilityCheck x", "it is `paritas compatibility` here"),
        ("fit x --freezeParameters a", "fit has no option --freezeParameters; paritas says --fix NAME[=V]"),
        ("fit x --freezeParameters allConstrainedNuisances", "`paritas ranking` has the statistical error"),
        ("fit x --dataset asimov", "fit has no option --dataset: the data are the workspace's observations"),
        ("fit x --cminDefaultMinimizerStrategy 0", "no choice is needed: derivatives are exact"),
        ("limit x --X-rtd A=1", "limit has no option --X-rtd: no choice is needed"),
        ("limit x --singlePoint 1", "`paritas hypotest --mu MU` tests one value"),
        ("hypotest x --singlePoint 1", "hypotest has no option --singlePoint; paritas says --mu MU"),
        ("fit x --runMinos all", "fit has no option --runMinos; paritas says --minos NAME|all"),
        ("limit x --noFitAsimov", "limit has no option --noFitAsimov; paritas says --prefit"),
        ("fit x --saveShapes", "`paritas predict` answers with yields"),
        ("ranking x --max_pars 5", "ranking has no option --max_pars; paritas says --top N"),
    ],
)
def test_an_option_of_another_program_is_answered_with_ours(arguments, answer):
    assert answer in refusal(*arguments.split())


@pytest.mark.parametrize(
    "arguments, answer",
    [
        ("fit x --covarance", "fit has no option --covarance; did you mean --covariance?"),
        ("toys x --notys 3", "toys has no option --notys; did you mean --ntoys?"),
        ("limits x", "there is no command 'limits'; did you mean `paritas limit`?"),
        ("moon tables", "there is no command 'moon'; it is `python -m paritas moon` here"),
        ("upper-limit x", "there is no command 'upper-limit'; it is `paritas limit` here"),
        ("FeldmanCousins x", "there is no command 'FeldmanCousins'; it is `paritas interval` here"),
        (
            "MultiDimFit x",
            "it is `paritas fit`, its --algo grid `paritas scan`, contour2d `paritas contour`, here",
        ),
        ("goodness x", "it is `paritas gof` here"),
        ("plotImpacts.py x", "it is `python -m paritas report` here"),
        ("combineTool.py x", "it is `paritas ranking` for Impacts"),
        ("r x", "there is no command 'r'; it is `paritas ranking` here"),
        ("wf x", "it is `paritas fit` here"),
        ("xml2json x", "there is no command 'xml2json'; it is `python -m paritas convert` here"),
    ],
)
def test_a_near_miss_names_the_nearest(arguments, answer):
    assert answer in refusal(*arguments.split())


def test_a_word_that_is_near_nothing_gets_no_guess():
    assert refusal("fit", "x", "--zzzzzz") == "paritas: fit has no option --zzzzzz"
    assert refusal("zzzzzz").startswith("paritas: there is no command 'zzzzzz'; `paritas --help`")


def test_every_row_of_options_answers_somewhere_and_names_what_exists():
    for theirs, ours, commands in table("other_options"):
        for name in re.findall(r"`paritas ([a-z-]+)", ours):
            assert name in COMMANDS, ours
        wanted = re.findall(r"--[a-z-]+", ours) if ours.startswith("--") else []
        fitting = [
            name
            for name in COMMANDS
            if (commands is None or name in commands.split("|")) and set(wanted[:1]) <= OPTIONS[name]
        ]
        assert fitting, (theirs, ours)
        for spelling in theirs.split("|"):
            free = [name for name in fitting if spelling not in OPTIONS[name] | LETTERS[name]]
            assert any(ours in refusal(*name.split(), "x", spelling) for name in free), (spelling, ours, free)


def test_every_row_of_commands_names_what_exists():
    for theirs, ours in table("other_commands"):
        words = re.findall(r"`paritas ([a-z-]+)", ours) if ours.startswith("`paritas") else [ours]
        assert set(words) <= set(COMMANDS) or ours.strip("`").startswith("python -m paritas "), ours
        assert not set(theirs.split("|")) & set(COMMANDS)
