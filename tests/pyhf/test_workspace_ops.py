"""Operations on workspaces give pyhf's documents, and refuse what pyhf refuses."""

import json
import os
import random

import pyhf
import pytest
from comparison import EXAMPLES, answer, run
from generate import workspaces

pytestmark = pytest.mark.many

WORKSPACES = [pytest.param(workspace, id=name) for name, workspace in workspaces(40, 5)]
SBOTTOM = os.path.join(EXAMPLES, "sbottom_A")


def example(name):
    with open(os.path.join(SBOTTOM, name), encoding="utf-8") as file:
        return json.load(file)


def outcome(operation):
    """pyhf's document, or None where it refuses"""
    try:
        return json.loads(json.dumps(operation()))
    except (pyhf.exceptions.InvalidWorkspaceOperation, pyhf.exceptions.InvalidSpecification):
        return None


def agrees(theirs, *arguments):
    if theirs is None:
        run(*arguments, status=3)
    else:
        assert json.loads(run(*arguments)) == theirs


def modifiers_of(workspace):
    return sorted(
        {(m["name"], m["type"]) for c in workspace["channels"] for s in c["samples"] for m in s["modifiers"]}
    )


@pytest.mark.parametrize("workspace", WORKSPACES)
def test_sort(workspace, saved):
    agrees(outcome(lambda: pyhf.Workspace.sorted(pyhf.Workspace(workspace))), "sort", saved(workspace))


@pytest.mark.parametrize("workspace", WORKSPACES)
def test_digest(workspace, saved):
    document = pyhf.Workspace(workspace)
    answered = answer("digest", saved(workspace), "-a", "sha256", "-a", "md5")
    assert pyhf.utils.digest(document) in json.dumps(answered) and pyhf.utils.digest(
        document, algorithm="md5"
    ) in json.dumps(answered)


@pytest.mark.parametrize("workspace", WORKSPACES)
def test_prune(workspace, saved):
    draw, path = random.Random(3), saved(workspace)
    channel = draw.choice(workspace["channels"])["name"]
    sample = draw.choice(workspace["channels"][0]["samples"])["name"]
    # pyhf keeps one type for each name, so it misses a histosys with the name of a normsys
    name, kind = draw.choice([(name, kind) for name, kind in modifiers_of(workspace) if kind != "histosys"])
    for option, value, keyword in (
        ("-c", channel, "channels"),
        ("-s", sample, "samples"),
        ("-m", name, "modifiers"),
        ("-t", kind, "modifier_types"),
        ("-c", "nobody", "channels"),
    ):
        agrees(
            outcome(lambda: pyhf.Workspace(workspace).prune(**{keyword: [value]})),
            "prune",
            path,
            option,
            value,
        )


@pytest.mark.parametrize("workspace", WORKSPACES)
def test_rename(workspace, saved):
    path = saved(workspace)
    channel = workspace["channels"][-1]["name"]
    sample = workspace["channels"][0]["samples"][-1]["name"]
    name = modifiers_of(workspace)[0][0]
    changes = {
        "channels": {channel: "new channel"},
        "samples": {sample: "new_sample"},
        "modifiers": {name: "new_modifier", "mu": "strength"},
        "measurements": {"fit": "other"},
    }
    if name == "lumi":  # its name is its type
        changes["modifiers"].pop("lumi")
    arguments = [
        "rename",
        path,
        "-c",
        channel,
        "new channel",
        "-s",
        sample,
        "new_sample",
        "--measurement",
        "fit",
        "other",
    ]
    for old, new in changes["modifiers"].items():
        arguments += ["-m", old, new]
    agrees(outcome(lambda: pyhf.Workspace(workspace).rename(**changes)), *arguments)


@pytest.mark.parametrize("join", ["none", "outer", "left outer", "right outer"])
@pytest.mark.parametrize("workspace", WORKSPACES[:20])
def test_combine(workspace, join, saved):
    left = pyhf.Workspace(workspace)
    names = {c["name"]: c["name"] + "_2" for c in workspace["channels"]}
    apart = left.rename(channels=names, measurements={"fit": "fit_2"})
    beside = left.rename(channels=names)
    for right in (apart, beside, left):
        agrees(
            outcome(lambda: pyhf.Workspace.combine(left, right, join=join)),
            "combine",
            saved(left),
            saved(right),
            "--join",
            join,
        )


def test_inspect_names_what_the_workspace_holds():
    answered = answer("inspect", os.path.join(SBOTTOM, "BkgOnly.json"))
    workspace = pyhf.Workspace(example("BkgOnly.json"))
    assert [name for name, _ in answered["channels"]] == sorted(workspace.channels)
    assert sorted(answered["samples"]) == sorted(workspace.samples)
    assert [entry[0] for entry in answered["measurements"]] == workspace.measurement_names


def test_patchset_verify_and_apply():
    background, patchset = os.path.join(SBOTTOM, "BkgOnly.json"), os.path.join(SBOTTOM, "patchset.json")
    theirs = pyhf.PatchSet(example("patchset.json"))
    workspace = pyhf.Workspace(example("BkgOnly.json"))
    theirs.verify(workspace)
    assert "All good." in run("patchset", "verify", background, patchset)
    for patch in theirs:
        agrees(
            json.loads(json.dumps(theirs.apply(workspace, patch.name))),
            "patchset",
            "apply",
            background,
            patchset,
            "--name",
            patch.name,
        )
        agrees(json.loads(json.dumps(patch.patch)), "patchset", "extract", patchset, "--name", patch.name)


def test_patchset_of_another_workspace_is_refused(saved):
    workspace = example("BkgOnly.json")
    workspace["observations"][0]["data"][0] += 1
    run("patchset", "verify", saved(workspace), os.path.join(SBOTTOM, "patchset.json"), status=3)


def test_a_patch_by_file_is_the_patch_by_name():
    name, background = "sbottom_900_250_60", os.path.join(SBOTTOM, "BkgOnly.json")
    by_name = answer(
        "nll", background, "--patchset", os.path.join(SBOTTOM, "patchset.json"), "--patch-name", name
    )
    assert answer("nll", background, "--patch", os.path.join(SBOTTOM, f"patch.{name}.json")) == by_name
