"""Datacards become one: names, tables, lines that are carried over, and the likelihood of both."""

import json
import os
import shutil
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
CARDS = os.path.join(ROOT, "tests", "datacard")
COUNTING, SHAPES = (os.path.join(CARDS, name) for name in ("counting.txt", "shapes.txt"))

ONE = """imax 1
jmax 1
kmax *
bin here
observation 12
bin here here
process signal background
process 0 1
rate 3 10
{lines}
"""


def run(*arguments, **options):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options
    )


def text_of(path):
    with open(path) as file:
        return file.read()


def one(path, lines, text=ONE):
    path.write_text(text.format(lines=lines))
    return path


def rows(text):
    """Lines by their first word, without comments."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith(("#", "--")):
            found.setdefault(line.split()[0], []).append(line.split()[1:])
    return found


def nll(folder, path, values):
    point = folder / "point.json"
    point.write_text(json.dumps(values))
    return json.loads(run("nll", path, "--point", point, "--json").stdout)["twice_nll"]


def test_tables_and_lines_of_both(tmp_path):
    found = rows(run("combine", f"a={COUNTING}", f"b={SHAPES}").stdout)
    assert found["imax"] == [["4"]] and found["jmax"] == [["2"]] and found["kmax"] == [["*"]]
    assert found["bin"][0] == ["a_sr", "a_cr", "b_sr", "b_cr"]
    assert found["observation"] == [["11", "48", "41", "-1"]]
    assert found["process"][0] == ["signal", "top", "fakes", "top", "fakes"] * 2
    assert found["process"][1] == ["0", "1", "2", "1", "2"] * 2
    assert found["rate"] == ["3.0 4.0 2.5 30.0 12.0 6.0 -1 9.0 70 -1".split()]
    assert found["lumi"] == ["lnN 1.02 1.02 - 1.02 - 1.02 1.02 - 1.02 -".split()]
    assert found["xsec"] == ["lnN - 0.9/1.2 - 0.95/1.1 - - - - - -".split()]
    assert found["fakes"] == ["gmN 5 - - 0.5 - - - - - - -".split()]
    assert found["tilt"] == ["shape - - - - - - 1 0.5 1 -".split()]
    assert found["free"] == [["rateParam", "a_cr", "fakes", "1", "[0,5]"]]
    assert found["b_cr"] == [["autoMCStats", "0"]]
    assert found["shapes"][:2] == [["*", "a_sr", "FAKE"], ["*", "a_cr", "FAKE"]]
    assert found["shapes"][2][3:] == ["sr/$PROCESS", "sr/$PROCESS_$SYSTEMATIC"]


def test_the_likelihood_is_the_sum_of_both(tmp_path):
    out = tmp_path / "combined.txt"
    assert run("combine", f"a={COUNTING}", f"b={SHAPES}", "-o", out).returncode == 0
    first = {"r": 1.4, "lumi": 0.0, "xsec": -0.6, "fakes": 7.0, "free": 1.3}
    second = {"r": 1.4, "lumi": 0.0, "tilt": 0.4, "prop_bincr": [0.5, -1.0]}
    both = {**first, "tilt": 0.4, "prop_binb_cr": [0.5, -1.0]}
    both = {key: value for key, value in both.items() if key != "prop_bincr"}

    def spread(values):
        spread = {}
        for key, value in values.items():
            if isinstance(value, list):
                spread.update({f"{key}[{i}]": x for i, x in enumerate(value)})
            else:
                spread[key] = value
        return spread

    def known(path, values):
        names = [p["name"] for p in json.loads(run("nll", path, "--json").stdout)["parameters"]]
        return {key: value for key, value in spread(values).items() if key in names}

    shift = {
        path: nll(tmp_path, path, known(path, values)) - nll(tmp_path, path, {})
        for path, values in ((COUNTING, first), (SHAPES, second), (out, both))
    }
    # lumi, which both have, stays at 0, where its constraint does not count
    assert shift[out] == pytest.approx(shift[COUNTING] + shift[SHAPES], rel=1e-12)
    assert len(known(out, both)) == len(spread(both))


def test_labels(tmp_path):
    a, b = one(tmp_path / "a.txt", ""), one(tmp_path / "b.txt", "")
    names = [
        ([a, b], ["ch1", "ch2"]),
        ([f"x={a}", b], ["x", "ch2"]),
        ([f".={a}", f"y={b}"], ["here", "y"]),
        ([f".={COUNTING}", b], ["sr", "cr", "ch2"]),
    ]
    for operands, wanted in names:
        assert rows(run("combine", *operands).stdout)["bin"][0] == wanted
    strange = one(tmp_path / "e=1.txt", "")
    done = run("combine", "e=1.txt", "b.txt", cwd=tmp_path)
    assert rows(done.stdout)["bin"][0] == ["ch1", "ch2"], strange


def test_histograms_are_found_from_the_combined_card(tmp_path):
    folder, other = tmp_path / "cards", tmp_path / "combined" / "deep"
    folder.mkdir()
    other.mkdir(parents=True)
    for name in ("shapes.txt", "shapes.root"):
        shutil.copy(os.path.join(CARDS, name), folder)
    for out in (other / "c.txt", tmp_path / "c.txt", folder / "c.txt"):
        done = run("combine", "a=cards/shapes.txt", f"b={COUNTING}", "-o", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert run("nll", out, cwd="/").returncode == 0
    assert "shapes * a_sr ../../cards/shapes.root" in (other / "c.txt").read_text()
    assert "shapes * a_sr cards/shapes.root" in (tmp_path / "c.txt").read_text()
    assert "shapes * a_sr shapes.root" in (folder / "c.txt").read_text()
    done = run("combine", "a=shapes.txt", f"b={COUNTING}", cwd=folder)
    assert "shapes * a_sr shapes.root" in done.stdout


def test_lines_of_a_channel_hide_those_of_all(tmp_path):
    text = text_of(SHAPES).replace(
        "shapes *        *   shapes.root",
        "shapes top * other.root x\nshapes * sr own.root y\nshapes * * shapes.root",
    )
    card = tmp_path / "card.txt"
    card.write_text(text)
    found = rows(run("combine", "a=card.txt", f"b={COUNTING}", cwd=tmp_path).stdout)["shapes"]
    assert [line[:3] for line in found[:3]] == [
        ["*", "a_sr", "own.root"],
        ["top", "a_cr", "other.root"],
        ["*", "a_cr", "shapes.root"],
    ]


def test_lines_without_columns_are_carried_over(tmp_path):
    lines = """wide[nofloat] lnN 1.1 1.2
norm rateParam * back* 1 [0,9]
scale rateParam here signal (2*@0) eff
eff param 0.9 0.1
flat flatParam
two group = wide
two group += eff
"""
    a, b = (
        one(tmp_path / "a.txt", lines + "nuisance edit add * * more lnN 1.3\n"),
        one(tmp_path / "b.txt", lines + "nuisance edit freeze wide\nnuisance edit drop back.* he.e wide\n"),
    )
    text = run("combine", f"a={a}", f"b={b}").stdout
    found = rows(text)
    assert found["wide[nofloat]"] == [["lnN", "1.1", "1.2", "1.1", "1.2"]]
    assert found["norm"] == [["rateParam", c, "back*", "1", "[0,9]"] for c in "ab"]
    assert found["scale"] == [["rateParam", c, "signal", "(2*@0)", "eff"] for c in "ab"]
    assert found["eff"] == [["param", "0.9", "0.1"]] and found["flat"] == [["flatParam"]]
    assert [line[1] for line in found["two"]] == ["=", "+=", "+=", "+="]
    assert found["nuisance"] == [
        ["edit", "add", "*", "(a)", "more", "lnN", "1.3"],
        ["edit", "freeze", "wide"],
        ["edit", "drop", "back.*", "(b)", "wide"],
    ]


def test_edits_keep_to_their_card(tmp_path):
    edited = tmp_path / "edited.txt"
    edited.write_text(
        text_of(COUNTING) + "nuisance edit drop top * xsec\nnuisance edit add * s. xsec lnN 1.4 overwrite\n"
    )
    out = tmp_path / "c.txt"
    assert run("combine", f"a={edited}", f"b={COUNTING}", "-o", out).returncode == 0
    assert "nuisance edit drop top (a_sr|a_cr) xsec" in out.read_text()
    values = {"xsec": 0.7}
    single = [nll(tmp_path, path, values) - nll(tmp_path, path, {}) for path in (edited, COUNTING)]
    shared = 0.7**2
    assert nll(tmp_path, out, values) - nll(tmp_path, out, {}) == pytest.approx(
        sum(single) - shared, rel=1e-12
    )


def test_lognormals_and_shapes_of_one_name(tmp_path):
    text = text_of(COUNTING).replace("xsec   lnN ", "tilt   lnN ")
    card = tmp_path / "card.txt"
    card.write_text(text)
    found = rows(run("combine", f"a={card}", f"b={SHAPES}").stdout)
    assert found["tilt"] == ["shape? - 0.9/1.2 - 0.95/1.1 - - 1 0.5 1 -".split()]


def test_a_second_line_of_one_name_stays_another_line(tmp_path):
    a = one(tmp_path / "a.txt", "k lnN 1.1 -\nk lnN 1.2 -")
    b = one(tmp_path / "b.txt", "k lnN - 1.3")
    found = rows(run("combine", f"a={a}", f"b={b}").stdout)
    assert found["k"] == [["lnN", "1.1", "-", "-", "1.3"], ["lnN", "1.2", "-", "-", "-"]]


def test_cards_without_observations_take_those_of_their_histograms(tmp_path):
    shutil.copy(os.path.join(CARDS, "shapes.root"), tmp_path)
    card = tmp_path / "card.txt"
    card.write_text(
        "".join(line for line in text_of(SHAPES).splitlines(True) if not line.startswith("observation"))
    )
    found = rows(run("combine", f"a={card}", f"b={COUNTING}").stdout)
    assert found["observation"] == [["-1", "-1", "11", "48"]]


def test_refusals(tmp_path):
    a = one(tmp_path / "a.txt", "k lnN 1.1 -\ng gmN 5 - 2")
    cases = [
        ([f"x={a}", f"x={a}"], 'both would have the channel "x": give labels'),
        ([f"x={a}", f"y={one(tmp_path / 'b.txt', 'k trG 0.1 -')}"], '"k" is `trG` here, but otherwise in'),
        ([f"x={a}", f"y={one(tmp_path / 'c.txt', 'g gmN 6 - 2')}"], '"g" is `gmN` here, but otherwise in'),
        (
            [
                f"x={a}",
                f"y={one(tmp_path / 'd.txt', '', ONE.replace('signal background', 'background signal'))}",
            ],
            "is a signal in one card and a background in another",
        ),
        ([f"x y={a}", a], 'the label "x y" has blanks'),
        ([a, os.path.join(ROOT, "examples", "two_bins.json")], "workspaces or datacards, not both"),
        ([a, f"y={one(tmp_path / 'e.txt', 'k lnN 1.1')}"], "e.txt:10"),
        ([a, "missing.txt"], "missing.txt"),
        (
            [one(tmp_path / "f.txt", "p param 1 0.1"), one(tmp_path / "g.txt", "p param 1 0.2")],
            '"p" is written otherwise in',
        ),
    ]
    for operands, message in cases:
        done = run("combine", *operands)
        assert done.returncode != 0 and message in done.stderr, (operands, done.stderr)
    workspace = os.path.join(ROOT, "examples", "two_bins.json")
    assert "combine takes two workspaces" in run("combine", workspace, workspace, workspace).stderr
