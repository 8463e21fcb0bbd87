"""The reader and the operations against pyhf, on generated workspaces and on the shipped example.

What was read must be pyhf's model.config: names, order, starts, bounds, fixed flags, auxiliary data, widths
and factors, numbers to 1e-14 relative. What the operations make must be pyhf's documents, and what pyhf
refuses is refused. The program `documents` (documents.c) stands beside the C tests of the build that
PARITAS_BIN names.
"""

import copy
import itertools
import json
import logging
import os
import pathlib
import random
import subprocess
import sys

import pyhf
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "pyhf"))
from generate import workspaces  # noqa: E402

PROGRAM = (
    pathlib.Path(os.environ.get("PARITAS_BIN", ROOT / "build" / "release" / "bin" / "paritas")).parent.parent
    / "tests"
    / "documents"
)
COUNT = 330
logging.disable(logging.CRITICAL)
pytestmark = [
    pytest.mark.skipif(not PROGRAM.exists(), reason=f"{PROGRAM} is not built"),
    pytest.mark.many,
]


def documents(*arguments):
    """The lines that the program answers, as JSON."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def save(folder, name, document):
    path = folder / (name[:80] + ".json")
    path.write_text(json.dumps(document))
    return path


def close(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-14 * max(abs(x), abs(y)) for x, y in zip(a, b))


def flat(values):
    return [x for v in values for x in v]


def differences(document, spec):
    if "error" in spec:
        yield "refused: " + spec["error"]
        return
    workspace = pyhf.Workspace(document)
    model = workspace.model()
    config, sets = model.config, spec["sets"]
    names = []
    for s in sets:
        names += [s["name"]] if s["scalar"] else [f"{s['name']}[{k}]" for k in range(s["size"])]
    if names != config.par_names:
        yield f"names {names} {config.par_names}"
        return
    if [s["first"] for s in sets] != list(itertools.accumulate([0] + [s["size"] for s in sets[:-1]])):
        yield "first parameters"
    if not close(flat(s["init"] for s in sets), config.suggested_init()):
        yield "init"
    if not close(
        flat(zip(flat(s["lower"] for s in sets), flat(s["upper"] for s in sets))),
        flat(config.suggested_bounds()),
    ):
        yield "bounds"
    if flat(s["fixed"] for s in sets) != config.suggested_fixed():
        yield "fixed"
    constrained = [s for s in sets if s["constraint"] != "none"]
    if [s["name"] for s in constrained] != config.auxdata_order or not close(
        flat(s["aux"] for s in constrained), config.auxdata
    ):
        yield "auxiliary data"
    if (
        spec["aux"] != config.nauxdata
        or spec["main"] != config.nmaindata
        or spec["poi"] != (-1 if config.poi_index is None else config.poi_index)
    ):
        yield "counts or poi"
    for s in sets:
        parset = config.param_set(s["name"])
        kind = getattr(parset, "pdf_type", "none")
        if kind != s["constraint"] or parset.is_scalar != s["scalar"]:
            yield f"constraint of {s['name']}"
        if kind == "normal" and not close(s["sigma"], list(parset.width())):
            yield f"sigma of {s['name']} {s['sigma']} {parset.width()}"
        if kind == "poisson" and not close(s["tau"], list(parset.factors)):
            yield f"tau of {s['name']}"
    if [c["name"] for c in spec["channels"]] != config.channels:
        yield "channels"
    if not close(flat(c["observed"] for c in spec["channels"]), workspace.data(model, include_auxdata=False)):
        yield "observations"
    originals = {c["name"]: {s["name"]: s for s in c["samples"]} for c in document["channels"]}
    for channel in spec["channels"]:
        if [s["name"] for s in channel["samples"]] != sorted(originals[channel["name"]]):
            yield f"samples of {channel['name']}"
        for sample in channel["samples"]:
            yield from modifier_differences(
                config, sets, channel, sample, originals[channel["name"]][sample["name"]]
            )


TYPES = ["histosys", "lumi", "normfactor", "normsys", "shapefactor", "shapesys", "staterror"]


def modifier_differences(config, sets, channel, sample, original):
    place = f"{channel['name']}/{sample['name']}"
    if sample["data"] != [float(x) for x in original["data"]]:
        yield "rates of " + place
    wanted = sorted(original["modifiers"], key=lambda m: (m["name"], m["type"]))
    found = [(sets[m["set"]]["name"], TYPES[m["type"]]) for m in sample["modifiers"]]
    if found != [(m["name"], m["type"]) for m in wanted]:
        yield f"modifiers of {place}: {found}"
        return
    for mine, theirs in zip(sample["modifiers"], wanted):
        if theirs["type"] == "normsys" and (mine["hi"], mine["lo"]) != (
            [theirs["data"]["hi"]],
            [theirs["data"]["lo"]],
        ):
            yield f"normsys {theirs['name']} of {place}"
        if theirs["type"] == "histosys" and (mine["hi_data"], mine["lo_data"]) != (
            theirs["data"]["hi_data"],
            theirs["data"]["lo_data"],
        ):
            yield f"histosys {theirs['name']} of {place}"
        if theirs["type"] in ("shapesys", "staterror") and mine["uncertainty"] != theirs["data"]:
            yield f"uncertainties of {theirs['name']} of {place}"
        # which element of the set serves bin 0: channels that the set touches come in order
        if theirs["type"] != "staterror" and mine["first"] != 0:
            yield f"first of {theirs['name']} of {place}"


def staterror_offsets(spec):
    """Elements of a staterror lie in the order of the channels that carry it."""
    offsets = {}
    for channel in spec["channels"]:
        here = {}
        for sample in channel["samples"]:
            for modifier in sample["modifiers"]:
                if TYPES[modifier["type"]] == "staterror":
                    if modifier["first"] != offsets.get(modifier["set"], 0):
                        yield f"offset of {spec['sets'][modifier['set']]['name']} in {channel['name']}"
                    here[modifier["set"]] = len(channel["observed"])
        for index, bins in here.items():
            offsets[index] = offsets.get(index, 0) + bins


def test_the_reader_sees_what_pyhf_sees(tmp_path):
    cases = list(workspaces(COUNT, 1))
    kinds = {m["type"] for _, d in cases for c in d["channels"] for s in c["samples"] for m in s["modifiers"]}
    assert len(kinds) == 7
    specs = documents("spec", *(save(tmp_path, name, document) for name, document in cases))
    for (name, document), spec in zip(cases, specs, strict=True):
        assert list(differences(document, spec)) == [], name
        assert list(staterror_offsets(spec)) == [], name


# ---- operations: a request, what pyhf makes of it, what we make of it


def outcome(make):
    """The document that pyhf makes, or None where it refuses."""
    try:
        return dict(make())
    except (pyhf.exceptions.InvalidWorkspaceOperation, pyhf.exceptions.InvalidSpecification):
        return None


def agree(found, wanted):
    if wanted is None:
        assert "error" in found, found
    else:
        assert found == wanted


def names_of(workspace):
    return {
        "channels": workspace.channels,
        "samples": workspace.samples,
        "modifiers": sorted({name for name, _ in workspace.modifiers}),
        "measurements": workspace.measurement_names,
    }


CASES = list(workspaces(40, 5))


@pytest.mark.parametrize("name, document", CASES)
def test_sorting_is_pyhfs(name, document, tmp_path):
    (found,) = documents("sort", save(tmp_path, name, document))
    assert found == dict(pyhf.Workspace.sorted(pyhf.Workspace(document)))


@pytest.mark.parametrize("name, document", CASES)
def test_pruning_is_pyhfs(name, document, tmp_path):
    path, workspace, rng = save(tmp_path, name, document), pyhf.Workspace(document), random.Random(name)
    for kind, plural in (
        ("channel", "channels"),
        ("sample", "samples"),
        ("modifier", "modifiers"),
        ("measurement", "measurements"),
    ):
        there = names_of(workspace)[plural]
        chosen = rng.sample(there, rng.randint(1, min(2, len(there)))) + (
            ["nobody"] if rng.random() < 0.1 else []
        )
        arguments = [x for c in chosen for x in (kind, c)]
        (found,) = documents("prune", path, *arguments)
        agree(found, outcome(lambda: workspace.prune(**{plural: chosen})))
    types = {t for _, t in workspace.modifiers}
    for kind in TYPES:
        (found,) = documents("prune", path, "type", kind)
        if kind in types and kind not in dict(workspace.modifiers).values():
            continue  # pyhf overlooks a type all of whose names carry another type too
        agree(found, outcome(lambda: workspace.prune(modifier_types=[kind])))


@pytest.mark.parametrize("name, document", CASES)
def test_renaming_is_pyhfs(name, document, tmp_path):
    path, workspace, rng = save(tmp_path, name, document), pyhf.Workspace(document), random.Random(name)
    for kind, plural in (
        ("channel", "channels"),
        ("sample", "samples"),
        ("modifier", "modifiers"),
        ("measurement", "measurements"),
    ):
        there = [x for x in names_of(workspace)[plural] if x != "lumi"]
        if not there:
            continue
        old = rng.choice(there) if rng.random() < 0.9 else "nobody"
        (found,) = documents("rename", path, kind, old, "new \u00e9")
        agree(found, outcome(lambda: workspace.rename(**{plural: {old: "new \u00e9"}})))


def pairs():
    """Two workspaces with much, little or nothing in common."""
    for i, ((name, left), (_, other)) in enumerate(zip(CASES, CASES[1:])):
        rng = random.Random(i)
        right = copy.deepcopy(left if i % 2 else other)
        if rng.random() < 0.3:
            right["channels"][0]["samples"][0]["data"][0] += 1.0
        if rng.random() < 0.3:
            right["channels"][0]["samples"][0]["name"] = "another"
        if rng.random() < 0.3:
            right["observations"][0]["data"][0] += 1.0
        if rng.random() < 0.4:
            right["measurements"][0]["config"]["parameters"].append({"name": "only_right", "inits": [1.0]})
        if rng.random() < 0.2:
            right["measurements"][0]["config"]["poi"] = "other"
        if rng.random() < 0.3:
            right["measurements"][0]["name"] = "second"
        if rng.random() < 0.4:
            suffix = {c["name"]: c["name"] + "_2" for c in right["channels"]}
            right = dict(pyhf.Workspace(right).rename(channels=suffix))
        yield pytest.param(left, right, id=name)


@pytest.mark.parametrize("left, right", pairs())
def test_combining_is_pyhfs(left, right, tmp_path):
    first, second = save(tmp_path, "first", left), save(tmp_path, "second", right)
    for join in pyhf.Workspace.valid_joins:
        for merge in (False, True) if join != "none" else (False,):
            (found,) = documents("combine", first, second, join, *(["merge"] if merge else []))
            wanted = outcome(
                lambda: pyhf.Workspace.combine(
                    pyhf.Workspace(left), pyhf.Workspace(right), join=join, merge_channels=merge
                )
            )
            agree(found, wanted)
            if wanted is None:
                assert "first.json" in found["error"] and "second.json" in found["error"]


@pytest.mark.parametrize("name, document", CASES)
def test_inspecting_is_pyhfs(name, document, tmp_path):
    (found,) = documents("inspect", save(tmp_path, name, document))
    workspace = pyhf.Workspace(document)
    model = workspace.model()
    kinds = {
        "unconstrained": "unconstrained",
        "constrained_by_normal": "constrained_by_normal",
        "constrained_by_poisson": "constrained_by_poisson",
    }
    parameters = sorted(
        [name, kinds[type(entry["paramset"]).__name__]] for name, entry in model.config.par_map.items()
    )
    assert found["channels"] == [[c, workspace.channel_nbins[c]] for c in workspace.channels]
    assert found["samples"] == workspace.samples
    assert found["modifiers"] == dict(workspace.modifiers)
    assert found["parameters"] == parameters
    assert found["systematics"] == [
        [p, k, [t for n, t in workspace.modifiers if n == p]] for p, k in parameters
    ]
    assert found["measurements"] == [
        [m["name"], m["config"]["poi"], [p["name"] for p in m["config"]["parameters"]]]
        for m in document["measurements"]
    ]
    assert found["counts"] == {
        key: len(found[key]) for key in ("channels", "samples", "parameters", "modifiers")
    }
    leftovers = "leftovers" in name
    assert found["unused"] == {
        "observations": ["dropped"] if leftovers else [],
        "parameters": [["fit", "dropped"]] if leftovers else [],
        "pois": [],
    }


@pytest.mark.parametrize("name, document", CASES[:10])
def test_applying_a_patch_set_is_pyhfs(name, document, tmp_path):
    patchset = {
        "metadata": {
            "references": {"hepdata": "ins1234567"},
            "description": "two points",
            "digests": {
                "md5": pyhf.utils.digest(document, algorithm="md5"),
                "sha256": pyhf.utils.digest(document),
            },
            "labels": ["m1", "m2"],
        },
        "patches": [
            {
                "metadata": {"name": "a", "values": [1, 2.5]},
                "patch": [{"op": "replace", "path": "/channels/0/samples/0/data/0", "value": 3.5}],
            },
            {
                "metadata": {"name": "b", "values": [2, "x"]},
                "patch": [{"op": "add", "path": "/observations/-", "value": {"name": "q", "data": [1]}}],
            },
        ],
        "version": "1.0.0",
    }
    path, patches = save(tmp_path, name, document), save(tmp_path, "patchset", patchset)
    for point in ("a", "b"):
        assert documents("apply", path, patches, point) == [
            dict(pyhf.PatchSet(patchset).apply(document, point))
        ]
    document["observations"][0]["data"][0] += 1.0
    (refused,) = documents("apply", save(tmp_path, "other", document), patches, "a")
    assert (
        "digest" in refused["error"]
        and "other.json" in refused["error"]
        and "patchset.json" in refused["error"]
    )
