"""What ROOT 6.40 writes in its own way: free factors of width 0, several axes, unbinned counts, functions,
documents without likelihoods. Truth: rates written out. RooFit's: tests/roofit/root_models.py."""

import itertools

import math

import pytest

from paritas import Model
from paritas.convert import ConversionError, histfactory_xml, hs3

AXES = [{"name": "x", "min": 0.0, "max": 2.0, "nbins": 2}, {"name": "y", "bounds": [0.0, 1.0, 3.0, 6.0]}]
RATES = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]  # (x, y) row by row
#: as ROOT's ParamHistFunc lists them: the first axis runs fastest
GAMMAS = [f"gamma_u_bin_{i}_{j}" for j in range(3) for i in range(2)]
WIDTHS = {(i, j): 0.01 * (1 + 3 * i + j) for i, j in itertools.product(range(2), range(3))}


def shapesys(names, widths, kind="Gauss"):
    return {
        "name": "u",
        "type": "shapesys",
        "parameters": names,
        "constraint_type": kind,
        "data": {"vals": widths},
    }


def document(modifiers, axes=AXES, rates=RATES, **more):
    """One channel with one sample."""
    factor = {"name": "mu", "type": "normfactor", "parameter": "mu"}
    sample = {"name": "s", "data": {"contents": rates}, "modifiers": [factor, *modifiers]}
    channel = {"name": "model_SR", "type": "histfactory_dist", "axes": axes, "samples": [sample]}
    points = [
        {"name": name, "value": 1.0, "min": 0.0, "max": 10.0}
        for name in ("mu", "k", *(one for found in modifiers for one in found.get("parameters", ())))
    ]
    return {
        "metadata": {"hs3_version": "0.2", "packages": [{"name": "ROOT", "version": "6.40.00"}]},
        "distributions": [channel],
        "data": [{"name": "obsData_SR", "type": "binned", "axes": axes, "contents": rates}],
        "parameter_points": [{"name": "default_values", "parameters": points}],
        **more,
    }


def model_of(answer):
    return Model.from_workspace(answer.spec)


def test_bins_of_several_axes_are_joined_with_their_own_parameters():
    widths = [WIDTHS[tuple(map(int, name.split("_")[-2:]))] for name in GAMMAS]
    answer = hs3.to_pyhf(document([shapesys(GAMMAS, widths)]), shapesys_vals="relative")
    model = model_of(answer)
    found = dict(zip(model.parameter_names, model.constraint_widths))
    for (i, j), width in WIDTHS.items():
        name = answer.names[f"gamma_u_bin_{i}_{j}"]
        assert found[name] == pytest.approx(width, rel=1e-14)
        rates = model.expected_data({**dict.fromkeys(model.parameter_names, 1.0), name: 2.0})[:6]
        changed = [b for b, (one, rate) in enumerate(zip(rates, RATES)) if one != rate]
        assert changed == [3 * i + j] and rates[3 * i + j] == 2 * RATES[3 * i + j]


def test_errors_of_several_axes_belong_to_parameters_as_root_lists_them():
    """ROOT 6.40 divides errors by contents place by place, though contents and parameters have two orders."""
    given = document([{"name": "mcstat", "type": "staterror", "parameters": GAMMAS}])
    relative = [0.05 + 0.01 * place for place in range(6)]
    errors = [rate * width for rate, width in zip(RATES, relative)]
    given["distributions"][0]["samples"][0]["data"]["errors"] = errors
    answer = hs3.to_pyhf(given)
    model = model_of(answer)
    found = dict(zip(model.parameter_names, model.constraint_widths))
    assert [found[answer.names[name]] for name in GAMMAS] == pytest.approx(relative, rel=1e-14)


def test_parameters_that_do_not_say_their_bins_on_several_axes_are_refused():
    names = [f"g{i}" for i in range(6)]
    given = document([shapesys(names, [0.1] * 6)])
    with pytest.raises(ConversionError, match="'g0' does not say its bin on each axis"):
        hs3.to_pyhf(given, shapesys_vals="relative")
    given["metadata"]["packages"] = [{"name": "pyhs3"}]  # lists parameters like contents
    answer = hs3.to_pyhf(given, shapesys_vals="relative")
    assert [answer.names[name] for name in names] == [f"g[{i}]" for i in range(6)]
    gaps = [f"gamma_u_bin_{i}_{2 * j}" for j in range(3) for i in range(2)]
    with pytest.raises(ConversionError, match="the bins of 'gamma_u_bin_0_0' and the others are not these"):
        hs3.to_pyhf(document([shapesys(gaps, [0.1] * 6)]), shapesys_vals="relative")


def test_unbinned_data_count_in_the_bins_of_their_channel():
    given = document([])
    entries = [[0.5, 1.5], [6.0, 0.0], [1.0, 1.0], [2.9, 1.99]]  # y, x
    given["data"] = [
        {
            "name": "obsData_SR",
            "type": "unbinned",
            "axes": AXES[::-1],
            "entries": entries,
            "weights": [1.0, 2.0, 4.0, 8.0],
        }
    ]
    given["likelihoods"] = [{"name": "L", "distributions": ["model_SR"], "data": ["obsData_SR"]}]
    answer = hs3.to_pyhf(given)
    assert answer.spec["observations"] == [{"name": "SR", "data": [0.0, 0.0, 2.0, 1.0, 12.0, 0.0]}]
    del given["data"][0]["weights"]
    assert hs3.to_pyhf(given).spec["observations"][0]["data"] == [0.0, 0.0, 1.0, 1.0, 2.0, 0.0]
    entries[1][0] = 6.5
    with pytest.raises(ConversionError, match="/data/0/entries/1: y = 6.5 is outside"):
        hs3.to_pyhf(given)
    for wrong, why in (
        ({"name": "y", "min": 0.0, "max": 6.0, "nbins": 0}, "must have bins between min and max"),
        ({"name": "y", "bounds": [0.0, 6.0, 3.0]}, "must be two rising numbers"),
    ):
        given["distributions"][0]["axes"] = [AXES[0], wrong]
        with pytest.raises(ConversionError, match=why):
            hs3.to_pyhf(given)


def test_channels_and_data_without_likelihoods_are_joined_by_their_axes():
    given = document([])
    answer = hs3.to_pyhf(given)
    assert answer.spec["observations"] == [{"name": "SR", "data": RATES}]
    assert answer.notes[0] == "/likelihoods: there is none; each channel was joined with the data of its axes"
    given["data"].append({**given["data"][0], "name": "asimovData_SR"})
    with pytest.raises(ConversionError, match="2 data have the axes of 'model_SR'"):
        hs3.to_pyhf(given)


@pytest.mark.parametrize(
    ("channel", "data", "place", "why"),
    [
        (
            [{**AXES[0], "max": 3.0}, AXES[1]],
            AXES,
            "/data/0/axes/0",
            "are not those of the channel's axis 'x'",
        ),
        ([AXES[0], {**AXES[1], "name": "x"}], AXES, "/distributions/0/axes/0", "a second axis is called 'x'"),
        (AXES, AXES[::-1], "/data/0/axes", "must be in the order of the channel: x, y"),
        ([{**AXES[0], "min": 3.0}, AXES[1]], AXES, "/distributions/0/axes/0", "bins between min and max"),
        (
            [AXES[0], {"name": "y", "edges": [0, 1, 1, 3]}],
            AXES,
            "/distributions/0/axes/1/edges",
            "must be two rising numbers",
        ),
    ],
)
def test_binned_data_have_the_bins_of_their_channel(channel, data, place, why):
    given = document([])
    given["likelihoods"] = [{"name": "L", "distributions": ["model_SR"], "data": ["obsData_SR"]}]
    given["distributions"][0]["axes"], given["data"][0]["axes"] = channel, data
    with pytest.raises(ConversionError, match=f"{place}: .*{why}"):
        hs3.to_pyhf(given)


def free(widths, kind, constant):
    axes = [{"name": "x", "min": 0.0, "max": 2.0, "nbins": 2}]
    names = ["gamma_u_bin_0", "gamma_u_bin_1"]
    given = document([shapesys(names, widths, kind)], axes, [10.0, 20.0])
    for one in given["parameter_points"][0]["parameters"]:
        one["const"] = one["name"] in constant
    return given


@pytest.mark.parametrize("kind", ["Gauss", "Poisson"])
def test_factors_of_width_0_are_free_unless_constant(kind):
    answer = hs3.to_pyhf(free([0.0, 0.0], kind, ()))
    (factor,) = [one for one in answer.spec["channels"][0]["samples"][0]["modifiers"] if one["name"] != "mu"]
    assert (factor["type"], factor["data"]) == ("shapefactor", None)
    constant = hs3.to_pyhf(free([0.0, 0.0], kind, ("gamma_u_bin_0", "gamma_u_bin_1")))
    assert all(model_of(constant).suggested_fixed[1:])
    mixed = hs3.to_pyhf(free([0.0, 0.1], kind, ("gamma_u_bin_0",)), shapesys_vals="relative")
    assert list(model_of(mixed).suggested_fixed) == [False, True, False]
    with pytest.raises(
        ConversionError, match="'gamma_u_bin_0' has the width 0, so no constraint, and is not"
    ):
        hs3.to_pyhf(free([0.0, 0.1], kind, ()), shapesys_vals="relative")


def function(expression, *more):
    given = document([{"name": "f", "type": "custom"}, *more])
    given["functions"] = [
        {"name": "f", "type": "product", "factors": ["g", 2.0]},
        {"name": "g", "type": "generic_function", "expression": expression},
    ]
    return given


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.5*k + 0.25", 1.75),
        ("k*k", 9.0),
        ("mu + 0.1*k - 0.2", 0.6),
        ("mu*k", 1.5),
        ("exp(k/10.)/(1. + mu)", math.exp(0.3) / 1.5),
    ],
)
def test_functions_of_parameters_scale_samples(expression, value):
    model = model_of(hs3.to_pyhf(function(expression)))
    rates = model.expected_data({"mu": 0.5, "k": 3.0})[:6]
    assert rates == pytest.approx([0.5 * 2 * value * rate for rate in RATES], rel=1e-13)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (
            "max(k, 1)",
            "a pyhf workspace cannot express the function 'max\\(k, 1\\)': only sums, products, powers",
        ),
        ("1/2*k", "an integer division: 1/2 is 0 in ROOT, 0.5 elsewhere; write 1./2"),
        ("g", "/functions/1/expression: the function 'g' is made from itself: g > g"),
        ("f*k", "/functions/1/expression: the function 'f' is made from itself: f > g > f"),
        ("k-k", "/distributions/0/samples/0: its functions are 0"),
        ("x*k", "'x' is neither a function nor in the parameter point"),
    ],
)
def test_functions_that_factors_cannot_say_are_refused(expression, why):
    with pytest.raises(ConversionError, match=why):
        hs3.to_pyhf(function(expression))


def test_a_staterror_without_errors_has_roots_of_the_contents():
    axes = [{"name": "x", "min": 0.0, "max": 2.0, "nbins": 2}]
    answer = hs3.to_pyhf(document([{"name": "mcstat", "type": "staterror"}], axes, [10.0, 20.0]))
    model = model_of(answer)
    assert list(model.constraint_widths[1:]) == pytest.approx([10.0**-0.5, 20.0**-0.5], rel=1e-14)
    assert any("roots of the contents were taken, as in ROOT" in note for note in answer.notes)


def histosys(low, high):
    sides = {"lo": {"contents": low}, "hi": {"contents": high}}
    return {"name": "shape", "type": "histosys", "parameter": "alpha_shape", "data": sides}


XML = {
    "top.xml": """<Combination OutputFilePrefix="x"><Input>sr.xml</Input>
<Measurement Name="m" Lumi="1" LumiRelErr="0.1"><POI>mu</POI></Measurement></Combination>""",
    "sr.xml": """<Channel Name="SR" InputFile="data.root"><Data HistoName="data"/>
<Sample Name="s" HistoName="rates"><NormFactor Name="mu" Val="1" Low="0" High="5"/>
<ShapeSys Name="u" HistoName="relative"/>
<HistoSys Name="alpha_shape" HistoNameHigh="high" HistoNameLow="low"/></Sample></Channel>""",
}


def from_xml(folder, contents):
    numpy, uproot = pytest.importorskip("numpy"), pytest.importorskip("uproot")
    for name, text in XML.items():
        (folder / name).write_text(text)
    with uproot.recreate(folder / "data.root") as file:
        for name, values in contents.items():
            file[name] = (numpy.array(values), numpy.array([0.0, 1.0, 2.0, 3.0]))
    return histfactory_xml.read(folder / "top.xml", folder)


@pytest.mark.parametrize("form", ["XML", "HS3"])
def test_factors_of_empty_bins_act_on_variations(form, tmp_path):
    rates, low, high, widths = [10.0, 0.0, 0.0], [9.0, 0.5, 0.0], [12.0, 2.0, 0.0], [0.1, 0.2, 0.3]
    if form == "XML":
        contents = {"data": [9.0, 1.0, 0.0], "rates": rates, "relative": widths, "low": low, "high": high}
        answer, name = from_xml(tmp_path, contents), "u[{}]"
    else:
        axes = [{"name": "x", "min": 0.0, "max": 3.0, "nbins": 3}]
        gammas = [f"gamma_u_bin_{i}" for i in range(3)]
        given = document([shapesys(gammas, widths), histosys(low, high)], axes, rates)
        answer, name = hs3.to_pyhf(given, shapesys_vals="relative"), "gamma_u_bin[{}]"
    model = model_of(answer)
    found = dict(zip(model.parameter_names, zip(model.constraint_widths, model.suggested_fixed)))
    assert [found[name.format(i)][0] for i in (0, 1)] == pytest.approx(widths[:2], rel=1e-14)
    assert [found[name.format(i)][1] for i in range(3)] == [False, False, True]
    point = {name.format(0): 1.1, name.format(1): 0.7, "alpha_shape": 2.0, "mu": 0.5, "lumi": 1.0}
    rates = model.expected_data({one: point[one] for one in point if one in model.parameter_names})[:3]
    assert rates == pytest.approx([0.5 * 1.1 * 14.0, 0.5 * 0.7 * 4.0, 0.0], rel=1e-14)


def test_a_parameter_of_interest_is_listed_once():
    given = function("k")
    given["likelihoods"] = [{"name": "L", "distributions": ["model_SR"], "data": ["obsData_SR"]}]
    given["analyses"] = [{"name": "a", "likelihood": "L", "parameters_of_interest": ["mu", "k", "mu"]}]
    with pytest.raises(ConversionError, match="/parameters_of_interest/2: 'mu' is there a second time"):
        hs3.to_pyhf(given)
