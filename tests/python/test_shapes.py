"""A shape of a sample, a scale of a histosys, masks: beyond the schema. What they mean, who refuses them."""

import copy
import math

import pytest

from paritas import Error, Model
from paritas.convert import ConversionError, histfactory_xml, hs3

MORPH = {
    "name": "tilt",
    "type": "histosys",
    "data": {"hi_data": [6.0, 3.0], "lo_data": [4.0, 5.0], "interpcode": "code4p"},
}
PLAIN = {
    "channels": [
        {
            "name": "SR",
            "samples": [
                {
                    "name": "signal",
                    "data": [5.0, 4.0],
                    "modifiers": [{"name": "mu", "type": "normfactor", "data": None}, MORPH],
                }
            ],
        }
    ],
    "observations": [{"name": "SR", "data": [6, 4]}],
    "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
    "version": "1.0.0",
}


def spec(shape=None, **data):
    made = copy.deepcopy(PLAIN)
    sample = made["channels"][0]["samples"][0]
    if shape:
        sample["shape"] = shape
    sample["modifiers"][1]["data"].update(data)
    return made


TOTAL = {"minimum": 1e-9, "total": 9}


def test_a_total_normalises_and_a_scale_multiplies_the_parameter():
    plain, scaled = Model.from_workspace(spec()), Model.from_workspace(spec(TOTAL, scale=2.0))
    point = {"mu": 1.5, "tilt": 0.25}
    twice = {"mu": 1.5, "tilt": 0.5}

    def expected(model, values):
        return model.expected_data([values[name] for name in model.parameter_names])[: model.main_count]

    assert expected(scaled, point) == pytest.approx(expected(plain, twice), rel=1e-12)


LOGARITHMIC = {"minimum": 0, "logarithmic": True}


def asymmetric(up, down, x):
    """The exponent of a ratio that is `up` at 1 and `down` at -1."""
    s = math.copysign(1.0, x) if abs(x) >= 1 else x * (3 * x**4 - 10 * x**2 + 15) / 8
    return 0.5 * x * ((math.log(up) - math.log(down)) + s * (math.log(up) + math.log(down)))


@pytest.mark.parametrize("tilt", [0.0, 0.3, -0.8, 1.7, -2.5])
@pytest.mark.parametrize("total, minimum", [(None, 0.0), (12.0, 0.0), (12.0, 2.5), (None, 4.5)])
def test_a_logarithmic_shape_multiplies_ratios(tilt, total, minimum):
    shape = {**LOGARITHMIC, "minimum": minimum, **({} if total is None else {"total": total})}
    model = Model.from_workspace(spec(shape))
    values = {"mu": 1.5, "tilt": tilt}
    found = model.expected_data([values[name] for name in model.parameter_names])[: model.main_count]
    bases = [
        5.0 * math.exp(asymmetric(6.0 / 5.0, 4.0 / 5.0, tilt)),
        4.0 * math.exp(asymmetric(3.0 / 4.0, 5.0 / 4.0, tilt)),
    ]
    scale = 1.0 if total is None else total / sum(bases)
    assert found == pytest.approx([1.5 * max(base * scale, minimum) for base in bases], rel=1e-13)


def test_a_bin_without_a_nominal_rate_stays_empty_and_a_bad_ratio_counts_as_1():
    given = spec({**LOGARITHMIC, "total": 7}, hi_data=[6.0, 3.0], lo_data=[-4.0, 5.0])
    given["channels"][0]["samples"][0]["data"] = [5.0, -4.0]
    model = Model.from_workspace(given)
    at = [{"mu": 1.0, "tilt": -1.0}[name] for name in model.parameter_names]
    assert model.expected_data(at)[: model.main_count] == pytest.approx([7.0, 0.0], rel=1e-13)


@pytest.mark.parametrize(
    "changed, reason",
    [
        (spec({**LOGARITHMIC, "total": 9, "padding": 1}), r"shape\.padding: a logarithmic shape has none"),
        (spec({**LOGARITHMIC, "logarithmic": 1}), r"shape\.logarithmic: must be true or false"),
        (spec({**LOGARITHMIC, "total": -1}), r"shape\.total: must be greater than 0"),
        (spec({"minimum": -1}), r"samples\[0\]\.shape\.minimum: must not be negative"),
        (spec({"minimum": 1e-9, "total": 0}), r"shape\.total: must be greater than 0"),
        (spec({"minimum": 0, "total": 9}), r"shape\.total: must be greater than 0, as the minimum"),
        (spec({"minimum": 1e-9, "padding": 1}), r"shape\.padding: .* goes with a total"),
        (spec({"total": 9}), "minimum"),
        (spec(scale=0), r"data\.scale: must be greater than 0"),
        (spec(scale=2, interpcode="code0"), "goes with .*code4p"),
        (
            spec(TOTAL, interpcode="code5"),
            r"channels\[0\]\.samples\[0\]\.modifiers\[1\]: a histosys of code 1, 5 or 6 and a shape with a "
            "total cannot act in one channel",
        ),
    ],
)
def test_what_a_model_cannot_have_is_refused(changed, reason):
    with pytest.raises(Error, match=reason):
        Model.from_workspace(changed)


def masked():
    changed = spec()
    hidden = copy.deepcopy(changed["channels"][0]) | {"name": "CR", "masked": True}
    changed["channels"].append(hidden)
    changed["observations"].append({"name": "CR", "data": [6, 4]})
    return changed


@pytest.mark.parametrize(
    "changed, reason",
    [
        (spec(TOTAL), "/samples/0/shape"),
        (spec(LOGARITHMIC), "/samples/0/shape"),
        (spec(scale=2), "/data/scale"),
        (masked(), "/channels/1/masked"),
    ],
)
def test_other_formats_refuse_what_they_cannot_say(tmp_path, changed, reason):
    pytest.importorskip("uproot")
    for write in (hs3.from_pyhf, lambda given: histfactory_xml.write(given, tmp_path, tmp_path, "p")):
        with pytest.raises(ConversionError, match=reason):
            write(changed)


def test_pyhf_refuses_them():
    pyhf = pytest.importorskip("paritas.pyhf")
    for changed in (spec(TOTAL), spec(LOGARITHMIC), spec(scale=2), masked()):
        with pytest.raises(pyhf.exceptions.InvalidSpecification):
            pyhf.Workspace(changed)
