"""Operations on workspaces: the documents that the program makes, and errors with their place."""

import json
import subprocess

import pytest
from package_support import PROGRAM, SBOTTOM, TWO

import paritas

WHOLE = SBOTTOM / "BkgOnly.json"


def program(*arguments):
    """The document that the program prints."""
    done = subprocess.run(
        [PROGRAM, *(str(one) for one in arguments)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def whole():
    return paritas.Workspace.read(WHOLE)


@pytest.fixture
def parts(tmp_path, whole):
    """The workspace cut in two, as files too: each has a channel that the other lacks."""
    names = [name for name, _ in whole.inspect()["channels"]]
    found = []
    for index, drop in enumerate((names[:1], names[-1:])):
        part = whole.prune(channels=drop)
        path = tmp_path / f"part{index}.json"
        path.write_text(part.to_json(2))
        found.append((part, path))
    return found


def test_sorted_as_by_the_program(whole):
    assert whole.sort().to_dict() == program("sort", WHOLE)
    assert whole.sort().sort().to_json() == whole.sort().to_json() != whole.to_json()


def test_pruned_as_by_the_program(whole):
    seen = whole.inspect()
    channel, sample, modifier = seen["channels"][0][0], seen["samples"][0], seen["systematics"][-1][0]
    for given, options in (
        ({"channels": [channel]}, ("--channel", channel)),
        ({"samples": (sample,)}, ("--sample", sample)),
        ({"modifiers": {modifier}}, ("--modifier", modifier)),
        (
            {"modifier_types": ["histosys", "staterror"]},
            ("--modifier-type", "histosys", "--modifier-type", "staterror"),
        ),
    ):
        pruned = whole.prune(**given)
        assert pruned.to_dict() == program("prune", WHOLE, *options) != whole.to_dict()
    twice = whole.to_dict()
    twice["measurements"].append(dict(twice["measurements"][0], name="another"))
    assert paritas.Workspace(twice).prune(measurements=["another"]).to_dict() == whole.to_dict()
    assert whole.prune().to_dict() == whole.to_dict()


def test_renamed_as_by_the_program(whole):
    seen = whole.inspect()
    (a, _), (b, _) = seen["channels"][:2]
    sample, measurement = seen["samples"][0], seen["measurements"][0][0]
    renamed = whole.rename(channels={a: b, b: a}, samples={sample: "é"}, measurements={measurement: "m"})
    assert renamed.to_dict() == program(
        "rename",
        WHOLE,
        "--channel",
        a,
        b,
        "--channel",
        b,
        a,
        "--sample",
        sample,
        "é",
        "--measurement",
        measurement,
        "m",
    )
    assert (
        renamed.rename(
            channels={a: b, b: a}, samples={"é": sample}, measurements={"m": measurement}
        ).to_json()
        == whole.to_json()
    )
    two = paritas.Workspace.read(TWO).rename(modifiers={"mu": "strength"})
    assert two.to_dict() == program("rename", TWO, "--modifier", "mu", "strength")
    model = paritas.Model.from_workspace(two)
    assert (
        model.poi_name == "strength"
        and model.fit().twice_nll == paritas.Model.from_workspace(TWO).fit().twice_nll
    )


@pytest.mark.parametrize("join", ["outer", "left outer", "right outer"])
@pytest.mark.parametrize("merge", [False, True])
def test_combined_as_by_the_program(whole, parts, join, merge):
    (left, at), (right, beside) = parts
    combined = left.combine(beside, join=join, merge_channels=merge)
    assert combined.to_dict() == left.combine(right, join, merge).to_dict()
    assert combined.to_dict() == program(
        "combine", at, beside, "--join", join, *(["--merge-channels"] if merge else [])
    )
    assert combined.sort().to_json() == whole.sort().to_json()


def test_inspected_as_by_the_program(whole):
    for path in (WHOLE, TWO):
        theirs = program("inspect", path, "--json", "--poi", "")
        for key, value in paritas.Workspace.read(path).inspect().items():
            assert value == theirs[key], key
        words = dict(theirs["parameters"])
        for one in theirs["model_parameters"]:
            assert one["constraint"] == words[one["name"].split("[")[0]]
    assert whole.inspect()["counts"]["channels"] == len(whole.to_dict()["channels"])


def test_results_are_workspaces_like_any_other(whole, tmp_path):
    made = whole.sort()
    path = tmp_path / "sorted.json"
    path.write_text(made.to_json())
    assert paritas.Workspace.read(path).digest() == made.digest()
    assert (
        paritas.Model.from_workspace(made, poi="").fit().twice_nll
        == paritas.Model.from_workspace(whole, poi="").fit().twice_nll
    )


def test_errors_say_where():
    two = paritas.Workspace.read(TWO)
    with pytest.raises(paritas.NotFound, match='two_bins.json: there is no channel "nowhere"'):
        two.prune(channels=["nowhere"])
    with pytest.raises(paritas.NotFound, match='there is no modifier of type "magic"'):
        two.prune(modifier_types=["magic"])
    with pytest.raises(paritas.NotFound, match='there is no sample "nothing"'):
        two.rename(samples={"nothing": "something"})
    with pytest.raises(paritas.InvalidInput, match=r"two_bins.json \(pruned\): channels: must not be empty"):
        two.prune(channels=[name for name, _ in two.inspect()["channels"]])
    with pytest.raises(
        paritas.InvalidInput, match="two_bins.json and .*two_bins.json: channels: .* is in both"
    ):
        two.combine(two)
    with pytest.raises(paritas.InvalidArgument, match='join "inner": there are none, outer'):
        two.combine(two, join="inner")
    with pytest.raises(paritas.InvalidArgument, match="merged by an outer join only"):
        two.combine(two, merge_channels=True)
    with pytest.raises(paritas.InvalidArgument, match="has a zero in it"):
        two.prune(samples=["signal\0"])
    for operation in (
        paritas.Workspace.sort,
        paritas.Workspace.inspect,
        paritas.Workspace.prune,
        paritas.Workspace.rename,
    ):
        with pytest.raises(paritas.InvalidInput, match="measurements.*missing|missing.*measurements"):
            operation(paritas.Workspace({"channels": [], "observations": [], "version": "1.0.0"}))


def test_what_is_no_list_of_names_is_refused():
    two = paritas.Workspace.read(TWO)
    for given in ("signal", b"signal", [1], [None]):
        with pytest.raises(TypeError, match="names"):
            two.prune(samples=given)
    for given in ([("signal", "s")], {"signal": None}, {1: "s"}):
        with pytest.raises(TypeError, match="names"):
            two.rename(samples=given)


def test_workspaces_show_and_compare_what_is_in_them():
    ws = paritas.Workspace.read(TWO)
    again = paritas.Workspace(dict(reversed(ws.to_dict().items())))
    assert ws == again and hash(ws) == hash(again) and len({ws, again}) == 1
    assert ws != ws.rename(modifiers={"mu": "nu"}) and ws != ws.to_dict()
    assert repr(ws) == "<paritas.Workspace: channels singlechannel; measurements measurement>"
    assert "not valid" in repr(paritas.Workspace({"channels": []}))
    model = ws.model(poi="", normsys_code=1)
    assert model.poi_name is None and model.options == {"poi": "", "normsys_code": 1}


def test_a_modifiers_own_interpolation_is_carried_along():
    spec = json.loads(json.dumps(paritas.Workspace(TWO).to_dict()))
    own = {"hi": 1.1, "lo": 0.9, "interpcode": "code2c"}
    spec["channels"][0]["samples"][0]["modifiers"].append({"name": "own", "type": "normsys", "data": own})
    found = paritas.Workspace(spec).rename(modifiers={"own": "other"}).sort().to_dict()
    modifiers = [
        one for channel in found["channels"] for sample in channel["samples"] for one in sample["modifiers"]
    ]
    assert [one["data"] for one in modifiers if one["name"] == "other"] == [own]
    assert paritas.Workspace(spec).digest() != paritas.Workspace(TWO).digest()
