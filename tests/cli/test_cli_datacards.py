"""Datacards: what they become, how commands take them, and what is refused: place, reason, what to do."""

import json
import math
import os
import shutil
import subprocess

import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
CARDS = os.path.join(ROOT, "tests", "datacard")


def card_text(name):
    with open(os.path.join(CARDS, name)) as file:
        return file.read()


def run(*arguments, **options):
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options
    )


def convert(folder, text, *arguments):
    """The workspace of a card, or the message."""
    path = os.path.join(folder, "card.txt")
    with open(path, "w") as file:
        file.write(text)
    if not os.path.exists(os.path.join(folder, "shapes.root")):
        shutil.copy(os.path.join(CARDS, "shapes.root"), folder)
    done = run("convert", path, *arguments)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.replace(str(folder) + os.sep, "")


def changed(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


# what is wrong, card, text in it, text in its place, LINE:COLUMN, beginning of the message
with open(os.path.join(CARDS, "bad_cards.json")) as file:
    BAD = json.load(file)


@pytest.mark.parametrize("what, card, old, new, place, message", BAD, ids=[one[0] for one in BAD])
def test_a_bad_card_is_refused_with_its_place(tmp_path, what, card, old, new, place, message):
    found = convert(tmp_path, changed(card_text(card), old, new))
    assert isinstance(found, str), "it was read"
    assert found.startswith(f"paritas: card.txt:{place}: {message}"), found


def test_every_bad_card_has_a_message_of_its_own():
    assert len(BAD) > 100
    assert len({(one[4], one[5]) for one in BAD}) > 90


@pytest.mark.parametrize("command", ["fit", "limit", "significance", "nll", "inspect", "ranking", "sort"])
def test_commands_take_a_card_as_they_take_its_workspace(tmp_path, command):
    card, workspace = os.path.join(CARDS, "shapes.txt"), tmp_path / "workspace.json"
    assert run("convert", card, "-o", workspace).returncode == 0
    direct, converted = run(command, card, "--json"), run(command, workspace, "--json")
    assert direct.returncode == 0, direct.stderr
    assert direct.stdout == converted.stdout


def test_a_card_comes_through_a_pipe():
    done = run("nll", "-", "--json", input=card_text("counting.txt"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == run("nll", os.path.join(CARDS, "counting.txt"), "--json").stdout


def test_names_of_bins_stand_beside_the_workspace(tmp_path):
    out = tmp_path / "out.json"
    assert run("convert", os.path.join(CARDS, "shapes.txt"), "-o", out).returncode == 0
    names = json.loads((tmp_path / "out.json.map").read_text())
    assert names["prop_bincr_bin0"] == {"name": "prop_bincr[0]", "offset": 0.0, "scale": 1.0}
    assert run("convert", os.path.join(CARDS, "counting.txt"), "-o", tmp_path / "c.json").returncode == 0
    assert json.loads((tmp_path / "c.json.map").read_text()) == {}


def test_the_mass_is_filled_in(tmp_path):
    text = changed(card_text("shapes.txt"), "signal  top", "m125    top").replace("$PROCESS", "$MASS", 1)
    assert "sr/90.5" in convert(tmp_path, text, "--mass", "90.5")
    assert 'sr/125"' in convert(tmp_path, text, "-m", "125.0")
    assert 'sr/120"' in convert(tmp_path, text)


def test_bins_of_few_events_have_a_parameter_for_each_process(tmp_path):
    """fakes has 4 +- 2 events in bin 0, a count of 4; with top there are 100 / 4.25 = 24 effective events."""
    found = convert(tmp_path, card_text("shapes.txt") + "sr autoMCStats 30\n")
    samples = {one["name"]: one for one in found["channels"][0]["samples"]}
    counts = [one for one in samples["fakes"]["modifiers"] if one["type"] == "shapesys"]
    assert counts == [{"name": "prop_binsr_fakes", "type": "shapesys", "data": [2.0, 0.0, 0.0]}]
    shifts = [one["name"] for one in samples["top (errors)"]["modifiers"] if one["type"] == "histosys"]
    assert "prop_binsr_bin0_top" in shifts  # 6 +- 0.5 are 144 events, more than 30


def test_an_empty_histogram_leaves_its_process_out(tmp_path):
    text = changed(card_text("shapes.txt"), "signal  top   fakes", "signal  top   empty")
    text = changed(changed(text, "2      1     2", "2      1     3"), "9.0    70 ", "-1     70 ")
    text += "lonely lnN - - 1.1 - -\n"
    found = convert(tmp_path, text)
    names = [[sample["name"] for sample in channel["samples"]] for channel in found["channels"]]
    assert names == [["signal", "top"], ["top", "fakes", "without_effect"]]
    kept = found["channels"][1]["samples"][2]["modifiers"]
    assert [one["name"] for one in kept] == ["lonely"]  # as Combine keeps its parameter


def test_the_last_line_of_a_channel_decides_about_its_errors(tmp_path):
    found = convert(tmp_path, card_text("shapes.txt") + "* autoMCStats -1\n")
    assert not any("prop_bin" in one["name"] for one in found["channels"][1]["samples"][0]["modifiers"])


def sample_of(workspace, channel, sample):
    found = next(one for one in workspace["channels"] if one["name"] == channel)
    return next(one for one in found["samples"] if one["name"] == sample)


def both(folder, text):
    """The workspace with Combine's roundings, and the exact one."""
    return convert(folder, text), convert(folder, text, "--exact")


def test_an_exact_card_keeps_all_digits_of_rates_and_laws(tmp_path):
    text = changed(card_text("counting.txt"), "12.0", "20.123456789")
    text = changed(text, "0.95/1.1", "0.909093/1.1")
    text = changed(text, "free   rateParam cr fakes 1 [0,5]", "wide   gmM -  0.3  - - -")
    rounded, exact = both(tmp_path, text)
    assert sample_of(rounded, "cr", "fakes")["data"] == [20.1235]
    assert sample_of(exact, "cr", "fakes")["data"] == [20.123456789]
    lows = [
        next(one["data"]["lo"] for one in sample_of(made, "cr", "top")["modifiers"] if one["name"] == "xsec")
        for made in (rounded, exact)
    ]
    assert lows == [1 / 1.1, 0.909093]
    laws = [
        next(one for one in made["measurements"][0]["config"]["parameters"] if one["name"] == "wide")
        for made in (rounded, exact)
    ]
    assert [law["auxdata"] for law in laws] == [[10.1111], [1 / (0.3 * 0.3) - 1]]
    assert [law["factors"] for law in laws] == [[1 / 0.09], [1 / (0.3 * 0.3)]]


def test_an_exact_card_keeps_double_precision_norms_and_narrow_channels(tmp_path):
    rounded, exact = both(tmp_path, changed(card_text("shapes.txt"), "cr autoMCStats 0", ""))
    norms = [
        next(
            one["data"]["hi"]
            for one in sample_of(made, "sr", "top")["modifiers"]
            if one["name"] == "tilt" and one["type"] == "normsys"
        )
        for made in (rounded, exact)
    ]
    assert norms == [1.055556, 19 / 18]
    targets = [
        next(
            one["data"]["hi_data"][0]
            for one in sample_of(made, "sr", "fakes")["modifiers"]
            if one["name"] == "tilt"
        )
        for made in (rounded, exact)
    ]
    assert targets[0] != targets[1] and targets[0] == pytest.approx(targets[1], rel=6e-8)
    sums = [sum(sample_of(made, "cr", "fakes")["data"]) for made in (rounded, exact)]
    assert 31 - sums[0] == pytest.approx(31e-9, rel=1e-6)  # padded by a bin
    assert sums[1] == pytest.approx(31, rel=1e-15)


def test_rules_hold_in_an_exact_card(tmp_path):
    _, exact = both(tmp_path, card_text("shapes.txt"))
    fakes = sample_of(exact, "sr", "fakes")
    assert [one["type"] for one in fakes["modifiers"] if one["name"] == "tilt"] == ["histosys"]  # no norm
    assert fakes["shape"]["minimum"] == 1e-9


@pytest.mark.parametrize("name", ["counting.txt", "shapes.txt"])
def test_an_exact_card_gives_nearly_the_same_answers(name):
    answers = [
        json.loads(run("limit", os.path.join(CARDS, name), "--json", *more).stdout)["limit_obs"]
        for more in ([], ["--exact"])
    ]
    assert answers[0] == pytest.approx(answers[1], rel=1e-5)


@pytest.mark.parametrize(
    "text, arguments, told",
    [
        ("<?xml version='1.0'?>\n<Combination/>", [], "is XML, not JSON; `python -m paritas convert FILE`"),
        ('{"distributions": [], "metadata": {}}', [], "is HS3, which Python reads; run `python -m paritas "),
        ('{"a": 1}', [], "is neither a datacard nor a workspace"),
        (card_text("counting.txt"), ["--to", "hs3"], "convert given --to hs3 -o FILE`"),
        (card_text("counting.txt"), ["--to", "xml"], "convert given --to xml -o FOLDER`"),
        (card_text("counting.txt"), ["--to", "datacard"], "convert given --to datacard -o FILE`"),
    ],
)
def test_what_python_converts_is_said_in_a_line(tmp_path, text, arguments, told):
    (tmp_path / "given").write_text(text)
    done = run("convert", "given", *arguments, cwd=tmp_path)
    assert done.returncode == 3 and told in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""


def test_a_workspace_is_written_again():
    example = os.path.join(ROOT, "examples", "two_bins.json")
    done = run("convert", example, "--to", "pyhf")
    with open(example) as file:
        assert json.loads(done.stdout) == json.load(file)
    assert list(json.loads(done.stdout)) == sorted(json.loads(done.stdout))


def samples_of(found, channel=0):
    return {one["name"]: one for one in found["channels"][channel]["samples"]}


def factors_of(sample, kind="normsys"):
    """Names of the modifiers of a kind, with their data."""
    return {one["name"]: one["data"] for one in sample["modifiers"] if one["type"] == kind}


def parameters_of(found):
    return {one["name"]: one for one in found["measurements"][0]["config"]["parameters"]}


@pytest.mark.parametrize(
    "old, new",
    [
        ("xsec   lnN", "lonely\n======\nxsec   lnN"),
        ("-     luminosity", "-     1.1 1.2"),
        ("-     luminosity", "-#luminosity"),
        ("kmax *", "kmax 3"),
        ("process      signal", "Process names and Rates are below\nprocess      signal"),
        ("free   rateParam", "all group =\nfree   rateParam"),
        ("[0,5]", "[0,5]\nfree rateParam sr top 3"),  # the first value holds
        ("[0,5]", "[0,5]\nother rateParam cr signal 1"),  # of a process that cr lacks
        ("[0,5]", "[0,5]\nx* autoMCStats 10"),
        ("[0,5]", "[0,5]\nnuisance edit drop * * lumy"),
        ("[0,5]", "[0,5]\nnuisance edit drop tip cr lumi ifexists"),
        ("[0,5]", "[0,5]\nnuisance edit changepdf lumy lnU"),
        ("[0,5]", "[0,5]\nnuisance edit add tip * lumi lnN 1.1"),
        ("[0,5]", "[0,5]\nnuisance edit add top sr lumi lnN 1"),
    ],
)
def test_what_combine_skips_is_skipped(tmp_path, old, new):
    found = convert(tmp_path, changed(card_text("counting.txt"), old, new))
    plain = convert(tmp_path, card_text("counting.txt"))
    if "sr top 3" in new:
        assert samples_of(found)["top"]["modifiers"].pop()["name"] == "free"
    assert found == plain


def test_edits_act_in_the_order_of_lines_and_end_the_count(tmp_path):
    text = changed(card_text("counting.txt"), "kmax *", "kmax 7")
    text = changed(text, "xsec   lnN", "nuisance edit drop top .* lumi\nxsec   lnN")
    found = convert(tmp_path, text + "lumi lnN - 1.5 - - -\n")
    assert factors_of(samples_of(found)["top"])["lumi"]["hi"] == 1.5  # a line below the edit stays


def edited(folder, *edits, card="counting.txt"):
    return convert(folder, card_text(card) + "".join(f"nuisance edit {edit}\n" for edit in edits))


def test_values_add_in_quadrature(tmp_path):
    found = edited(tmp_path, "add top sr lumi lnN 1.03 addq", "merge * sr lumi xsec")
    data = factors_of(samples_of(found)["top"])["lumi"]
    root = np.hypot(np.log(1.02), np.log(1.03))
    assert data["hi"] == pytest.approx(np.exp(np.hypot(root, np.log(1.2))), rel=1e-14)
    assert data["lo"] == pytest.approx(np.exp(-np.hypot(root, np.log(0.9))), rel=1e-14)
    assert "xsec" not in factors_of(samples_of(found)["top"])
    assert "xsec" in factors_of(samples_of(found, 1)["top"])


def test_a_value_is_split_and_flipped(tmp_path):
    found = edited(tmp_path, "split * cr lumi one two 1.1 0.9", "flip top sr xsec p2n")
    assert {name: data["hi"] for name, data in factors_of(samples_of(found, 1)["top"]).items()} == {
        "xsec": 1.1,
        "one": 1.1,
        "two": 0.9,
    }
    assert factors_of(samples_of(found)["top"])["xsec"]["hi"] == 1 / 1.2
    assert factors_of(samples_of(found)["signal"])["lumi"]["hi"] == 1.02


def test_a_pattern_drops_and_freezes(tmp_path):
    found = edited(tmp_path, "drop * * lu.*", "freeze (xsec|free)")
    assert "lumi" not in parameters_of(found)
    assert parameters_of(found)["xsec"]["fixed"] and parameters_of(found)["free"]["fixed"]


@pytest.mark.parametrize("edit", ["rename tilt bend", "rename * * tilt bend", "rename top s. tilt bend"])
def test_a_new_name_of_a_shape_keeps_its_histograms(tmp_path, edit):
    found, plain = edited(tmp_path, edit, card="shapes.txt"), convert(tmp_path, card_text("shapes.txt"))
    new, old = samples_of(found)["top"], samples_of(plain)["top"]
    assert factors_of(new, "histosys")["bend"] == factors_of(old, "histosys")["tilt"]
    assert factors_of(new)["bend"] == factors_of(old)["tilt"]
    assert ("tilt" in factors_of(samples_of(found, 1)["top"], "histosys")) == (edit.startswith("rename top"))


def test_a_param_beside_a_rate_param_measures_it(tmp_path):
    text = card_text("counting.txt") + "free param 2.5 0.25\ntwice rateParam sr fakes 2*@0 free\n"
    found = convert(tmp_path, text)
    free = parameters_of(found)["free"]
    assert free["inits"] == [2.5] and free["auxdata"] == [2.5] and free["sigmas"] == [0.25]
    assert free["bounds"] == [[1.5, 3.5]] and free["constraint"] == {"type": "gaussian"}
    assert "free" in factors_of(samples_of(found, 1)["fakes"], "normfactor")
    assert run("fit", tmp_path / "card.txt").returncode == 0


def test_an_ext_arg_is_free_or_constant(tmp_path):
    text = card_text("counting.txt") + "f rateParam sr fakes @0*@1 a,b\na extArg 2 [const]\nb extArg 3\n"
    parameters = parameters_of(convert(tmp_path, text))
    assert parameters["a"]["fixed"] and parameters["a"]["inits"] == [2.0]
    assert "fixed" not in parameters["b"]


def test_variants_of_shape_differ_in_range_and_share_a_name(tmp_path):
    text = changed(card_text("shapes.txt"), "tilt   shape -       1     0.5    1     -", "{}")
    found = convert(tmp_path, text.format("tilt shape2 - 1 0.5 1 -"))
    assert parameters_of(found)["tilt"]["bounds"] == [[-7.0, 7.0]]
    plain = convert(tmp_path, card_text("shapes.txt"))
    assert found["channels"] == plain["channels"]
    both = convert(tmp_path, text.format("tilt shape - 1 0.5 - -\ntilt shape? - - - 1 -"))
    assert both == plain


def test_counts_and_histograms_may_be_below_0(tmp_path):
    found = convert(tmp_path, changed(card_text("counting.txt"), "30.0  12.0", "30.0  -2.5"))
    assert samples_of(found, 1)["fakes"]["data"] == [-2.5]
    text = changed(
        card_text("shapes.txt"), "signal  top   fakes  top   fakes", "signal  top   negative top   fakes"
    )
    text = changed(changed(text, "2      1     2\n", "2      1     3\n"), "9.0    70 ", "-1     70 ")
    found = convert(tmp_path, changed(text, "1     0.5    1     -", "1     -      1     -"))
    rates = samples_of(found)["negative"]["data"]  # clipped: all is in the bin above 0
    assert rates[2] == pytest.approx(-2.5, rel=1e-8) and -1e-7 < rates[0] == rates[1] < 0


@pytest.mark.parametrize(
    "rate, line",
    [("0", "gmN 1 - - 0.5"), ("0.3", "gmN 1 - - 0.35"), ("0.4", "gmN 2 - - 0.15")],
)
def test_the_rate_of_a_control_count_is_checked_loosely(tmp_path, rate, line):
    text = changed(card_text("counting.txt"), "4.0   2.5", f"4.0   {rate}")
    found = convert(tmp_path, changed(text, "gmN 5 -       -     0.5", line))
    assert samples_of(found)["fakes"]["data"] == [float(line.split()[-1])]


def test_processes_may_have_numbers_for_names(tmp_path):
    text = changed(
        card_text("counting.txt"), "signal  top   fakes  top   fakes", "4top    1     2      1     2"
    )
    text = changed(text, "cr fakes", "cr 2")
    assert list(samples_of(convert(tmp_path, text)))[:3] == ["4top", "1", "2"]


def test_a_missing_histogram_of_a_mass_names_the_option(tmp_path):
    text = changed(card_text("shapes.txt"), "$CHANNEL/$PROCESS $CHANNEL", "$CHANNEL/h$MASS $CHANNEL")
    assert convert(tmp_path, text).endswith("; $MASS is 120 here: -m MASS gives another\n")
    text = changed(card_text("shapes.txt"), "shapes.root", "shapes$MASS.root")
    assert convert(tmp_path, text, "-m", "7").endswith(
        '"shapes7.root", here or beside the card: put it there, '
        "or mend the name; -m MASS gives another $MASS\n"
    )
    shutil.copy(os.path.join(CARDS, "shapes.root"), tmp_path / "shapes120.root")
    assert isinstance(convert(tmp_path, text), dict)
    text = changed(text, "rate         6.0", "rate         9.0")
    assert convert(tmp_path, text).endswith("or write -1; -m MASS gives another histogram\n")


def test_masked_channels_keep_their_rates(tmp_path):
    card = os.path.join(CARDS, "counting.txt")
    path = tmp_path / "workspace.json"
    path.write_text(run("convert", card).stdout)
    whole = json.loads(run("nll", path, "--expected", "--json").stdout)
    for given in (card, path):
        masked = json.loads(run("nll", given, "--expected", "--json", "--mask", "cr").stdout)
        assert masked["expected_main"] == whole["expected_main"]
        assert masked["twice_nll"] < whole["twice_nll"]
        rates = json.loads(run("predict", given, "--json", "--mask", "cr").stdout)
        assert [one["name"] for one in rates["channels"]] == ["cr", "sr"]
    assert 'there is no channel "xr"' in run("fit", path, "--mask", "xr").stderr
    message = run("fit", card, "--mask", "cr", "--mask", "sr").stderr
    assert "channels: all are masked, so nothing is left to fit: mask fewer" in message


# ---- parameters of interest by maps ----


def factors(workspace, channel):
    """Names of the free factors of a channel's samples."""
    found = next(one for one in workspace["channels"] if one["name"] == channel)
    return {
        sample["name"]: [m["name"] for m in sample["modifiers"] if m["type"] == "normfactor"]
        for sample in found["samples"]
    }


def mapped(folder, *maps):
    return convert(folder, card_text("counting.txt"), *[word for one in maps for word in ("--map", one)])


def test_a_map_of_all_signals_is_the_model_without_maps(tmp_path):
    assert mapped(tmp_path, ".*/signal:r[1,0,20]") == mapped(tmp_path)


def test_maps_say_what_scales_which_process(tmp_path):
    found = mapped(tmp_path, "sr/(signal|top):mu[2,0,9]", ".*/top:t[0.5,4]", "cr/top:mu", ".*/fa:1")
    assert factors(found, "sr") == {"signal": ["mu"], "top": ["t"], "fakes": ["fakes"]}
    assert factors(found, "cr") == {"top": ["mu"], "fakes": ["free"]}
    config = found["measurements"][0]["config"]
    assert (config["poi"], config["pois"]) == ("mu", ["mu", "t"])
    ranges = {one["name"]: (one["inits"], one["bounds"]) for one in config["parameters"] if "bounds" in one}
    assert ranges["mu"] == ([2], [[0, 9]]) and ranges["t"] == ([2.25], [[0.5, 4]])


def test_patterns_match_a_beginning_unless_they_name_the_end(tmp_path):
    assert factors(mapped(tmp_path, "s:a[1,0,2]"), "sr") == {
        "signal": ["a"],
        "top": ["a"],
        "fakes": ["a", "fakes"],
    }
    assert "no CHANNEL/PROCESS" in mapped(tmp_path, "sr/sig$:a[1,0,2]")
    assert factors(mapped(tmp_path, "sr/signal$:a[1,0,2]"), "sr")["signal"] == ["a"]
    both = factors(mapped(tmp_path, "sr/signal,cr/top:a[1,0,2]"), "cr")
    assert both["top"] == ["a"]


def test_a_process_that_is_turned_off_keeps_its_parameters(tmp_path):
    found = mapped(tmp_path, ".*/signal:r[1,0,20]", "sr/fakes:0")
    assert factors(found, "sr").keys() == {"signal", "top"}
    assert "fakes" in json.dumps(found["measurements"])
    assert "fakes" in [one for names in factors(found, "cr").values() for one in names]


def test_without_a_map_a_signal_counts_once(tmp_path):
    found = mapped(tmp_path, "cr/top:t[1,0,2]")
    assert factors(found, "sr")["signal"] == []
    fixed = mapped(tmp_path, ".*/signal:r[3]")["measurements"][0]["config"]["parameters"]
    assert next(one for one in fixed if one["name"] == "r")["fixed"] is True


BAD_MAPS = [
    ("sr", "a map is PATTERN:NAME[VALUE,LOW,HIGH]"),
    ("sr:r", "the first map of a parameter of interest gives its range"),
    ("sr:2", "the first map of a parameter of interest gives its range"),
    ("sr:r[1,5,0]", "the range must go from LOW to a larger HIGH"),
    ("sr:r[9,0,5]", "the range must go from LOW to a larger HIGH, with the value inside"),
    ("sr:r[1,0,5", "a parameter of interest is NAME[VALUE,LOW,HIGH]"),
    ("sr:r[1,0,5,6]", "a parameter of interest is NAME[VALUE,LOW,HIGH]"),
    ("sr:r[a]", "a parameter of interest is NAME[VALUE,LOW,HIGH]"),
    ("sr:2r[1,0,5]", "a parameter of interest is NAME[VALUE,LOW,HIGH]"),
    ("xr:r[1,0,5]", "it matches no CHANNEL/PROCESS of the card: mend the pattern"),
    ("(:r[1,0,5]", "the pattern is not read as a regular expression"),
    (":r[1,0,5]", "the pattern is not read as a regular expression"),
    ("sr:k=r*r", "functions of parameters of interest are not read"),
]


@pytest.mark.parametrize("wrong, message", BAD_MAPS)
def test_a_bad_map_is_refused(tmp_path, wrong, message):
    assert mapped(tmp_path, wrong).startswith(f'paritas: map "{wrong}": {message}')


def test_maps_of_other_programs_and_documents(tmp_path):
    card = os.path.join(CARDS, "counting.txt")
    assert "--map 'PATTERN:NAME" in run("fit", card, "--PO", "map=.*:r[1,0,2]").stderr
    path = tmp_path / "workspace.json"
    path.write_text(run("convert", card).stdout)
    assert "maps are for datacards" in run("fit", path, "--map", ".*:r[1,0,2]").stderr
    done = run(
        "fit", card, "--map", "sr/signal:mu[1,0,5]", "--map", "cr/top:t[1,0.2,4]", "--poi", "all", "--json"
    )
    assert {"mu", "t"} < {one["name"] for one in json.loads(done.stdout)["parameters"]}


# ---- edits that join and split ----


def factors_after(folder, lines, edit, column="top"):
    """High and low factor of each lognormal of a process in the signal region, after an edit."""
    text = changed(card_text("counting.txt"), "free   rateParam", f"{lines}\nfree   rateParam")
    found = convert(folder, f"{text}\nnuisance edit {edit}\n")
    channel = next(one for one in found["channels"] if one["name"] == "sr")
    sample = next(one for one in channel["samples"] if one["name"] == column)
    return {
        m["name"]: (m["data"]["hi"], m["data"]["lo"]) for m in sample["modifiers"] if m["type"] == "normsys"
    }


def squares(*factors):
    size = math.exp(math.hypot(*(math.log(one) for one in factors)))
    return size if factors[0] > 1 else 1 / size


@pytest.mark.parametrize(
    "more, high, low",
    [
        ("1.1", squares(1.02, 1.1), 1 / squares(1.02, 1.1)),
        ("0.9/1.2", squares(1.02, 1.2), squares(1 / 1.02, 0.9)),
        ("-", 1.02, 1 / 1.02),
    ],
)
def test_merged_lognormals_add_in_quadrature(tmp_path, more, high, low):
    found = factors_after(tmp_path, f"other lnN - {more} - 1.3 -", "merge top .r lumi other")
    assert found["lumi"] == pytest.approx((high, low), rel=1e-14)
    assert "other" not in found


def test_merged_values_of_two_numbers(tmp_path):
    found = factors_after(tmp_path, "other lnN - 0.8/1.3 - - -", "merge * * xsec other")
    assert found["xsec"] == pytest.approx((squares(1.2, 1.3), squares(0.9, 0.8)), rel=1e-14)
    found = factors_after(tmp_path, "other lnN - 1.3 - - -", "merge * * xsec other")
    assert found["xsec"] == pytest.approx((squares(1.2, 1.3), squares(0.9, 1 / 1.3)), rel=1e-14)
    found = factors_after(tmp_path, "other lnN - 1.3 - - -", "merge * * brand_new other")
    assert found["brand_new"] == pytest.approx((1.3, 1 / 1.3), rel=1e-14)


def test_a_split_has_two_names_where_the_old_one_acts(tmp_path):
    found = factors_after(tmp_path, "", "split * sr xsec one two 1.1 0.8/1.05")
    assert found["one"] == pytest.approx((1.1, 1 / 1.1)) and found["two"] == pytest.approx((1.05, 0.8))
    assert "xsec" not in found
    assert factors_after(tmp_path, "", "split * sr xsec one two 1.1 1.2", "signal").keys() == {"lumi"}
    assert factors_after(tmp_path, "", "split * sr none one two 1.1 1.2 ifexists").keys() == {"lumi", "xsec"}


SHAPES = os.path.join(ROOT, "examples", "shapes.txt")


def test_a_fit_begins_with_the_parameter_of_interest_and_its_errors():
    fit = json.loads(run("fit", SHAPES, "--minos", "r", "--json").stdout)
    r = next(one for one in fit["parameters"] if one["name"] == "r")
    plain, minos = (run("fit", SHAPES, *more).stdout.splitlines()[2] for more in ([], ["--minos", "r"]))
    assert plain == f"Parameter of interest: r = {r['value']:.5f} +- {r['error']:.5f}"
    assert minos == f"{plain}, MINOS {r['minos_down']:.5f} {r['minos_up']:+.5f}"


def test_a_bound_before_a_minos_error_is_said_with_the_option_that_moves_it():
    said = "\n\nNo MINOS error where a bound comes first: r. --range NAME=LO:HI"
    text = run("fit", SHAPES, "--minos", "r", "--range", "r=1:20").stdout
    assert said in text and ", MINOS +0.7" in text.splitlines()[2]
    assert said not in run("fit", SHAPES, "--minos", "r").stdout
    assert said not in run("fit", SHAPES, "--range", "r=1:20").stdout


def test_a_ranking_ends_with_the_error_and_its_parts():
    fit = json.loads(run("fit", SHAPES, "--json").stdout)
    r = next(one for one in fit["parameters"] if one["name"] == "r")
    alone = run("ranking", SHAPES).stdout.splitlines()
    assert alone[-1].startswith(f"r = {r['value']:.6g} +- {r['error']:.4g}, of that statistical ")
    assert alone[-1] in run("ranking", SHAPES, "--groups", "mc=prop_*").stdout.splitlines()
    bounded = run("ranking", SHAPES, "--range", "r=2:20", "--init", "r=3").stdout
    assert "\nAll impacts are 0: r stays at its bound\n" in bounded
    assert bounded.splitlines()[-1].startswith("r = 2 has no error to break down: at_lower_bound, ")


def groups_of(folder, lines, *more):
    path = folder / "card.txt"
    path.write_text(card_text("counting.txt") + lines)
    return run("ranking", path, "--groups", path, "--json", *more)


def test_a_card_brings_its_groups(tmp_path):
    lines = "idle lnN - - - - -\na group = lumi idle\na group += xsec\nrates group = free\n"
    done = groups_of(tmp_path, lines)
    groups = json.loads(done.stdout)["breakdown"]["groups"]
    assert [(one["name"], one["held"]) for one in groups] == [("a", 2), ("rates", 1)]
    path = tmp_path / "card.txt"
    by_names = json.loads(run("ranking", path, "--groups", "a=lumi,xsec", "--json").stdout)["breakdown"]
    assert by_names["groups"][0] == groups[0]


@pytest.mark.parametrize(
    "lines, message",
    [
        ("a group = lumy\n", 'card.txt:18:11: no nuisance is "lumy": mend the name'),
        ("a group += lumi\n", 'card.txt:18:9: the group "a" has no line above: write = here'),
        ("a group = lumi\na group = xsec\n", 'card.txt:19:9: the group "a" has a line above: write += here'),
        ("", "card.txt: there is no group"),
    ],
)
def test_groups_are_refused_with_their_place(tmp_path, lines, message):
    done = groups_of(tmp_path, lines)
    assert done.returncode == 3 and message in done.stderr


def test_python_has_the_groups_of_a_card():
    paritas = pytest.importorskip("paritas")
    groups = paritas.convert.datacard.groups(SHAPES)
    assert groups == {"theory": ["top_pt", "fakerate"]}
    found = paritas.Model.from_workspace(SHAPES).breakdown(groups)
    assert found.groups["theory"] > 0.1
