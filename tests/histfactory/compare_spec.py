"""Compares what the reader makes of workspaces with pyhf's model.config: `compare_spec.py PRINT_SPEC [N [SEED]]`.

PRINT_SPEC is the program made from print_spec.c. Names, order, starts, bounds, fixed flags, auxiliary data, widths and
factors must be equal, numbers to 1e-14 relative. Prints a line for each difference; exits 1 if there is one.
"""
import itertools
import json
import logging
import pathlib
import subprocess
import sys
import tempfile

import pyhf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pyhf"))
from generate import workspaces  # noqa: E402

logging.disable(logging.CRITICAL)


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
    if not close(flat(zip(flat(s["lower"] for s in sets), flat(s["upper"] for s in sets))), flat(config.suggested_bounds())):
        yield "bounds"
    if flat(s["fixed"] for s in sets) != config.suggested_fixed():
        yield "fixed"
    constrained = [s for s in sets if s["constraint"] != "none"]
    if [s["name"] for s in constrained] != config.auxdata_order or not close(flat(s["aux"] for s in constrained), config.auxdata):
        yield "auxiliary data"
    if spec["aux"] != config.nauxdata or spec["main"] != config.nmaindata or spec["poi"] != (-1 if config.poi_index is None else config.poi_index):
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
            yield from modifier_differences(config, sets, channel, sample, originals[channel["name"]][sample["name"]])


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
        if theirs["type"] == "normsys" and (mine["hi"], mine["lo"]) != ([theirs["data"]["hi"]], [theirs["data"]["lo"]]):
            yield f"normsys {theirs['name']} of {place}"
        if theirs["type"] == "histosys" and (mine["hi_data"], mine["lo_data"]) != (theirs["data"]["hi_data"], theirs["data"]["lo_data"]):
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


def main():
    program, n, seed = sys.argv[1], int((sys.argv[2:] or ["300"])[0]), int((sys.argv[3:] or ["1"])[0])
    bad, kinds = 0, set()
    with tempfile.TemporaryDirectory() as folder:
        documents, paths = [], []
        for name, document in workspaces(n, seed):
            path = pathlib.Path(folder) / f"{name[:100]}.json"
            path.write_text(json.dumps(document))
            documents.append((name, document))
            paths.append(str(path))
            kinds |= {m["type"] for c in document["channels"] for s in c["samples"] for m in s["modifiers"]}
        lines = subprocess.run([program, *paths], capture_output=True, text=True, check=True).stdout.splitlines()
        for (name, document), line in zip(documents, lines, strict=True):
            spec = json.loads(line)
            for difference in itertools.chain(differences(document, spec), () if "error" in spec else staterror_offsets(spec)):
                print(f"{name}: {difference}")
                bad += 1
    print(f"{n} workspaces, {len(kinds)} of 7 kinds of modifier, {bad} differences")
    return bad != 0 or len(kinds) != 7


if __name__ == "__main__":
    sys.exit(main())
