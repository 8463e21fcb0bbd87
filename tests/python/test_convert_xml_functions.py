"""Functions of parameters in HistFactory's XML: the factors they make, and what is refused. That rates are
RooFit's: test_roofit_truth.py."""

import math

import pytest

from paritas import Model
from paritas.convert import ConversionError, histfactory_xml

numpy = pytest.importorskip("numpy")
uproot = pytest.importorskip("uproot")

CHANNEL = """<Channel Name="SR" InputFile="data.root"><Data HistoName="data"/>
<Sample Name="s" HistoName="rates"><NormFactor Name="f" Val="1" Low="0" High="5"/>{more}</Sample></Channel>"""
TOP = """<Combination OutputFilePrefix="x">
<Function Name="f" Expression="{expression}" Dependents="a[1,0,3], b[0,4]"/><Input>sr.xml</Input>
<Measurement Name="m" Lumi="1" LumiRelErr="0.1"><POI>a</POI></Measurement></Combination>"""
NORM = '<NormFactor Name="{}" Val="1" Low="0" High="5"/>'


@pytest.fixture()
def read(tmp_path):
    edges = numpy.array([0.0, 1.0, 2.0])
    with uproot.recreate(tmp_path / "data.root") as file:
        for name, contents in {
            "data": [52.0, 40.0],
            "rates": [50.0, 30.0],
            "up": [60.0, 33.0],
            "relative": [0.1, 0.2],
        }.items():
            file[name] = (numpy.array(contents), edges)

    def made(expression, more=""):
        (tmp_path / "top.xml").write_text(TOP.format(expression=expression))
        (tmp_path / "sr.xml").write_text(CHANNEL.format(more=more))
        return histfactory_xml.read(tmp_path / "top.xml", tmp_path)

    return made


@pytest.mark.parametrize(
    ("expression", "more", "value"),
    [
        ("a*b", "", lambda a, b: a * b),
        ("sqrt(a)*pow(a, 0.5)", "", lambda a, b: a),
        ("a^2*b/a", "", lambda a, b: a * b),
        ("@0 + 2*@1", "", lambda a, b: a + 2 * b),
        ("x[0] + 4/2*x[1]", "", lambda a, b: a + 2 * b),
        ("(1+0.5*a)*(2-b)", "", lambda a, b: (1 + 0.5 * a) * (2 - b)),
        ("1+0.5*b", NORM.format("a"), lambda a, b: a * (1 + 0.5 * b)),
        ("sqrt(a)", "", lambda a, b: a**0.5),
        ("a*b", NORM.format("a"), lambda a, b: a * a * b),
        ("exp(0.1*x[0])/(1. + b^2)", "", lambda a, b: math.exp(0.1 * a) / (1 + b * b)),
        ("log(1+a)*pow(b, 1.5)", "", lambda a, b: math.log(1 + a) * b**1.5),
    ],
)
def test_rates_are_those_of_the_function(read, expression, more, value):
    shape = '<HistoSys Name="shape" HistoNameHigh="up" HistoNameLow="rates"/>'
    model = Model.from_workspace(read(expression, more + shape).spec)
    for a, b, shape in ((1.0, 0.5, 0.0), (2.5, 1.5, 1.0)):
        point = {
            name: one
            for name, one in {"a": a, "b": b, "shape": shape}.items()
            if name in model.parameter_names
        }
        rates = model.expected_data({**point, "lumi": 1.0})[:2]
        expected = [value(a, b) * (50 + 10 * shape), value(a, b) * (30 + 3 * shape)]
        assert rates == pytest.approx(expected, rel=1e-13)


def test_terms_of_a_sum_share_errors_of_bins_of_the_same_width(read):
    errors = '<StatError Activate="True" HistoName="relative"/>'
    shape = '<ShapeSys Name="u" HistoName="relative" ConstraintType="Poisson"/>'
    model = Model.from_workspace(read("0.5*a*b + 1.5*a - 0.25", errors + shape).spec)
    widths = dict(zip(model.parameter_names, model.constraint_widths))
    assert [widths[f"{name}[{i}]"] for name in ("staterror_SR", "u") for i in (0, 1)] == pytest.approx(
        [0.1, 0.2, 0.1, 0.2], rel=1e-7
    )
    point = {"a": 0.7, "b": 1.3, "staterror_SR[0]": 1.1, "u[0]": 0.8, "u[1]": 1.2, "lumi": 1.0}
    factor = 0.5 * 0.7 * 1.3 + 1.5 * 0.7 - 0.25
    rates = model.expected_data({**point, "staterror_SR[1]": 1.0})[:2]
    assert rates == pytest.approx([50 * factor * 1.1 * 0.8, 30 * factor * 1.2], rel=1e-13)


def test_dependents_give_starts_and_bounds(read):
    answer = read("a*b")
    configs = {one["name"]: one for one in answer.spec["measurements"][0]["config"]["parameters"]}
    assert configs["a"] == {"name": "a", "inits": [1.0], "bounds": [[0.0, 3.0]]}
    assert configs["b"] == {"name": "b", "inits": [2.0], "bounds": [[0.0, 4.0]]}
    assert "f" not in configs


@pytest.mark.parametrize(
    ("expression", "more", "why"),
    [
        ("abs(a)", "", "the function 'abs\\(a\\)': only sums, products, powers, exp, log, sqrt, pow"),
        ("a +", "", "only sums, products and powers"),
        ("exp(1/2*a)", "", "an integer division: 1/2 is 0 in ROOT"),
        (
            "a - 2",
            '<StatError Activate="True"/>',
            "errors of bin 0, since the terms of its rate sum to -50",
        ),
    ],
)
def test_what_no_factors_say_is_refused(read, expression, more, why):
    with pytest.raises(ConversionError, match=why):
        read(expression, more)
