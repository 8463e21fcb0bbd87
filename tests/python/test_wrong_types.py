"""Arguments of a wrong kind are refused in our words, by name, never as a TypeError of another library."""

import pytest
from package_support import TWO

import paritas

CASES = {
    "level 'a': limit": (lambda m: m.upper_limit(level="a"), "level: numbers"),
    "level 'a': interval": (lambda m: m.interval_toys(level="a"), "level: numbers"),
    "level of several": (lambda m: m.interval_toys(level=[0.1, 0.2]), "level: one number"),
    "rtol": (lambda m: m.upper_limit_toys(10, rtol="a"), "rtol: numbers"),
    "mu of toys": (lambda m: m.hypotest_toys("a", 10), "mu: numbers"),
    "mu of Asimov data": (lambda m: m.asimov_data("a"), "mu: numbers"),
    "mu of a test": (lambda m: m.hypotest("a"), "mu: numbers"),
    "statistic": (lambda m: m.upper_limit(test_stat=3), "test statistic 3: there are"),
    "points": (lambda m: m.contour("uncorr_bkguncrt[0]", points="a"), "points 'a': a whole number from 4"),
    "top": (lambda m: m.ranking(top="a"), "top 'a': a whole number"),
    "patterns": (lambda m: m.breakdown({"g": [3]}), "group g: texts are wanted, not 3"),
    "no pattern": (lambda m: m.global_impacts({"g": 3}), "group g: texts are wanted, not 3"),
    "MINOS": (lambda m: m.minos(1, data=m.asimov_data(1.0)), "parameters: texts are wanted, not 1"),
    "complex data": (lambda m: m.fit(data=m.data + 1j), "data: numbers are wanted"),
    "rows of complex data": (lambda m: m.fit_batch([m.data + 1j]), "an array of complex numbers"),
    "upcrossed": (lambda m: paritas.look_elsewhere(m, [m], 5, upcrossed="a"), "upcrossed: numbers"),
}


PLACES = {
    "a time beyond the formula": (lambda moon: moon.subsolar_point(1e300), r"time 1e\+300: Unix seconds"),
    "an infinite time": (lambda moon: moon.solar_position(float("inf"), 0.0, 0.0), "time inf: Unix seconds"),
    "a latitude": (
        lambda moon: moon.solar_position(1e9, 0.0, 500.0),
        "latitude 500: a number from -90 to 90",
    ),
    "a latitude of a cell": (
        lambda moon: moon.EqualAreaGrid.of(5.0).cell(0.0, -91.0),
        "latitude -91: a number",
    ),
    "a size": (lambda moon: moon.EqualAreaGrid.of("a"), "degrees: numbers"),
    "lengths": (lambda moon: moon.solar_position([1e9, 2e9], [0.0] * 3, 1.0), "arrays of shapes"),
}


@pytest.mark.parametrize("case", PLACES)
def test_a_place_that_is_none_is_refused(case):
    call, message = PLACES[case]
    with pytest.raises(paritas.InvalidArgument, match=message):
        call(pytest.importorskip("paritas.losscone"))


def test_an_unknown_place_stays_unknown():
    losscone = pytest.importorskip("paritas.losscone")
    assert losscone.EqualAreaGrid.of(5.0).cell(0.0, float("nan")) == -1
    angle, hour = losscone.solar_position([1e9, float("nan")], [0.0, 1.0], [3.0, 4.0])
    assert angle[0] == angle[0] and angle[1] != angle[1] and hour[1] != hour[1]


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_kind_is_refused_by_name(case):
    call, message = CASES[case]
    model = paritas.Model.from_workspace(TWO)
    with pytest.raises(paritas.InvalidArgument, match=message):
        call(model)


@pytest.mark.parametrize("options, name", [({"population": 9}, "population"), ({"seed": 3}, "seed")])
def test_options_of_an_evolution_without_one_are_refused(options, name):
    model = paritas.Model.from_workspace(TWO)
    with pytest.raises(paritas.InvalidArgument, match=f"{name} has no effect on newton"):
        model.fit(**options)
    assert model.fit(minimizer="de", **options).status == "converged"
