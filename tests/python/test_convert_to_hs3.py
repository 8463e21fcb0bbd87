"""pyhf workspaces to HS3 and back. Truth: likelihoods that stay the same on the way."""

from __future__ import annotations

import copy
import json
import os

import pytest
from convert_support import DELETED, SHARED, TREE, every_modifier, random_points, set_at, twice_nll

from paritas.convert import ConversionError, hs3


def odd_workspace():
    """What the writer must take apart: several staterrors in a channel, one that spans channels, a shared
    shapefactor, measurements that differ, auxiliary data away from 0."""

    def sample(name, data, *modifiers):
        return {
            "name": name,
            "data": data,
            "modifiers": [{"name": n, "type": t, "data": d} for n, t, d in modifiers],
        }

    return {
        "channels": [
            {
                "name": "A",
                "samples": [
                    sample(
                        "s",
                        [5.0, 6.0],
                        ("mu", "normfactor", None),
                        ("lumi", "lumi", None),
                        ("st_s", "staterror", [0.5, 0.6]),
                        ("xs", "normsys", {"hi": 1.1, "lo": 0.95}),
                    ),
                    sample(
                        "b",
                        [50.0, 60.0],
                        ("st_b", "staterror", [2.0, 0.0]),
                        ("shape", "histosys", {"hi_data": [55.0, 61.0], "lo_data": [48.0, 57.0]}),
                    ),
                ],
            },
            {
                "name": "B",
                "samples": [
                    sample(
                        "b",
                        [30.0, 20.0, 10.0],
                        ("span", "staterror", [1.0, 2.0, 1.5]),
                        ("free", "shapefactor", None),
                    ),
                    sample(
                        "c",
                        [3.0, 0.0, 1.0],
                        ("span", "staterror", [0.3, 0.1, 0.2]),
                        ("sys", "shapesys", [1.0, 0.5, 0.0]),
                    ),
                ],
            },
            {
                "name": "C",
                "samples": [
                    sample("b", [9.0], ("span", "staterror", [1.1]), ("free", "shapefactor", None)),
                    sample("c", [1.0], ("span", "staterror", [0.2])),
                ],
            },
        ],
        "observations": [
            {"name": "A", "data": [60, 66]},
            {"name": "B", "data": [34.0, 19.0, 12.0]},
            {"name": "C", "data": [8]},
        ],
        "measurements": [
            {
                "name": "one",
                "config": {
                    "poi": "mu",
                    "parameters": [
                        {
                            "name": "lumi",
                            "inits": [1.0],
                            "bounds": [[0.9, 1.1]],
                            "auxdata": [1.0],
                            "sigmas": [0.017],
                        },
                        {"name": "xs", "auxdata": [0.25]},
                        {
                            "name": "span",
                            "inits": [1.0, 1.1, 1.2, 0.9],
                            "bounds": [[0.5, 2.0], [0.5, 2.0], [0.5, 2.0], [0.4, 1.6]],
                        },
                    ],
                },
            },
            {
                "name": "two",
                "config": {
                    "poi": "",
                    "parameters": [
                        {
                            "name": "lumi",
                            "inits": [1.0],
                            "bounds": [[0.9, 1.1]],
                            "auxdata": [1.0],
                            "sigmas": [0.017],
                            "fixed": True,
                        },
                        {"name": "xs", "auxdata": [0.25]},
                        {"name": "mu", "inits": [0.0], "bounds": [[-5.0, 5.0]], "fixed": True},
                    ],
                },
            },
        ],
        "version": "1.0.0",
    }


def same_likelihood(spec, settings=None):
    """pyhf -> HS3 -> pyhf: the likelihood is the same at random points, whichever names."""
    codes = settings or {}
    forth = hs3.from_pyhf(spec, **codes)
    document = json.loads(json.dumps(forth.spec))
    points = random_points(document)
    before = copy.copy(forth)
    before.spec = spec
    for names in ("keep", "pyhf"):
        back = hs3.to_pyhf(document, names=names)
        assert back.modifier_settings == forth.modifier_settings
        assert [m["name"] for m in back.spec["measurements"]] == [m["name"] for m in spec["measurements"]]
        for measurement in (m["name"] for m in spec["measurements"]):
            expected = twice_nll(
                before,
                [{forth.names[name]: value for name, value in point.items()} for point in points],
                measurement,
            )
            found = twice_nll(
                back,
                [{back.names[name]: value for name, value in point.items()} for point in points],
                measurement,
            )
            assert found == pytest.approx(expected, rel=1e-12)
    return back


def test_a_workspace_with_oddities_has_the_same_likelihood_after_a_round_trip():
    back = same_likelihood(odd_workspace())
    one, two = ({p["name"]: p for p in m["config"]["parameters"]} for m in back.spec["measurements"])
    assert one["span_B"]["inits"] + one["span_C"]["inits"] == [1.0, 1.1, 1.2, 0.9]
    assert two["mu"] == {"name": "mu", "inits": [0.0], "bounds": [[-5.0, 5.0]], "fixed": True}
    assert two["lumi"]["fixed"] and "fixed" not in one["lumi"]


def test_other_interpolation_survives_a_round_trip():
    same_likelihood(odd_workspace(), {"normsys_code": "code1", "histosys_code": "code0"})
    assert any(
        "ROOT up to 6.40 reads all with its code 4" in note
        for note in hs3.from_pyhf(odd_workspace(), histosys_code="code0").notes
    )
    with pytest.raises(ConversionError, match="readers do not have pyhf's code2 for histosys"):
        hs3.from_pyhf(odd_workspace(), histosys_code="code2")


def test_asimov_data_are_the_prediction_at_the_start():
    data = {item["name"]: item["contents"] for item in hs3.from_pyhf(odd_workspace()).spec["data"]}
    assert data["asimovData_A"] == [55.0, 66.0]
    assert data["asimovData_B"] == pytest.approx([33.0, 22.0, 13.2])
    assert data["asimovData_C"] == pytest.approx([9.0])


@pytest.mark.parametrize("key", ["slope", "offset"])
def test_the_part_of_a_constraint_that_hs3_lacks_is_named(key):
    law = {"type": "lognormal", key: 0.5}
    config = {"name": "xs", "constraint": law, "auxdata": [1.0], "sigmas": [0.1], "inits": [1.0]}
    spec = json.loads((TREE / "examples" / "two_bins.json").read_text())
    spec["channels"][0]["samples"][0]["modifiers"].append(
        {"name": "xs", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    )
    spec["measurements"][0]["config"]["parameters"].append(config)
    with pytest.raises(ConversionError, match=f"cannot say the {key} of the lognormal constraint of 'xs'"):
        hs3.from_pyhf(spec)


@pytest.mark.parametrize(
    "change, why",
    [
        (
            set_at(["channels", 0, "samples", 0, "modifiers", 0, "name"], "alpha_xs"),
            "would both have a parameter called 'alpha_xs'",
        ),
        (
            set_at(["measurements", 1, "config", "parameters", 0, "sigmas"], [0.02]),
            "the sigmas of 'lumi' differ among measurements",
        ),
        (
            set_at(["measurements", 0, "config", "parameters", 0, "sigmas"], DELETED),
            "lumi must have inits, bounds, auxdata and sigmas",
        ),
        (
            set_at(["measurements", 0, "config", "parameters", 2, "auxdata"], [1.0] * 4),
            "auxdata of parameters with one a bin",
        ),
        (set_at(["observations", 2, "name"], "D"), "it has no observation"),
        (set_at(["measurements", 0, "config", "poi"], "span"), "'span' has one parameter a bin"),
        (set_at(["measurements", 1, "name"], "one"), r'the name "one" is also that of measurements\[0\]'),
    ],
)
def test_what_hs3_cannot_say_is_refused(change, why):
    spec = odd_workspace()
    change(spec)
    with pytest.raises(ConversionError, match=why):
        hs3.from_pyhf(spec)


def _places(value, path=()):
    if path:
        yield path
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from _places(value[key], (*path, key))


@pytest.mark.parametrize(
    "make, convert",
    [(every_modifier, hs3.to_pyhf), (odd_workspace, hs3.from_pyhf)],
    ids=["to_pyhf", "from_pyhf"],
)
def test_whatever_stands_anywhere_is_converted_or_refused_by_place(make, convert):
    text = json.dumps(make())
    refused = 0
    for path in _places(make()):
        for value in (DELETED, None, [], {}, -1, 10**400, "mu", ["a"]):
            document = json.loads(text)
            set_at(path, value)(document)
            try:
                convert(document)
            except ConversionError as error:
                assert error.where and error.why
                refused += 1
    assert refused > 1000


def _published():
    paths = sorted(SHARED.glob("*.json")) if SHARED.is_dir() else []
    return [TREE / "examples" / "two_bins.json", TREE / "examples" / "sbottom_A" / "BkgOnly.json", *paths]


@pytest.mark.parametrize("path", _published(), ids=lambda path: path.stem)
def test_published_workspaces_come_back_as_they_were(path):
    """Channels, samples and modifiers to the last bit, which makes the likelihood the same; an observation of
    no channel is the one thing that is left out."""
    spec = json.loads(path.read_text())
    back = hs3.to_pyhf(json.loads(json.dumps(hs3.from_pyhf(spec).spec)), names="pyhf").spec

    def canonical(channels):
        def ordered(sample):
            return {
                **sample,
                "modifiers": sorted(
                    sample["modifiers"], key=lambda modifier: (modifier["type"], modifier["name"])
                ),
            }

        return [
            {"name": channel["name"], "samples": [ordered(sample) for sample in channel["samples"]]}
            for channel in channels
        ]

    assert canonical(back["channels"]) == canonical(spec["channels"])
    names = {channel["name"] for channel in spec["channels"]}
    assert {o["name"]: o["data"] for o in back["observations"]} == {
        o["name"]: o["data"] for o in spec["observations"] if o["name"] in names
    }


@pytest.mark.parametrize("name", ["ttZ_4l", "displaced_leptons_signal", "sbottom_A"])
def test_published_workspaces_have_the_same_likelihood_after_a_round_trip(name):
    if name == "sbottom_A":
        jsonpatch = pytest.importorskip("jsonpatch")
        folder = TREE / "examples" / "sbottom_A"
        spec = jsonpatch.apply_patch(
            json.loads((folder / "BkgOnly.json").read_text()),
            json.loads((folder / "patch.sbottom_1300_205_60.json").read_text()),
        )
    elif not SHARED.is_dir():
        pytest.skip("no published workspaces here")
    elif name == "ttZ_4l" and not os.environ.get("PARITAS_BIN"):
        pytest.skip("pyhf takes half a minute for this one; set PARITAS_BIN to the program")
    else:
        spec = json.loads((SHARED / f"{name}.json").read_text())
    same_likelihood(spec)
