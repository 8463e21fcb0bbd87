#!/usr/bin/env python3
"""Makes docs/public-likelihoods.md: what Paritas answers to likelihoods that others have published.

  public_likelihoods.py FOLDER [--build FOLDER] [--only NAME] [--check] [--write FOLDER] [--runs N]

FOLDER has clones of the repositories that tools/public_likelihoods.json names. Files are read from the commit
of the list, and their hashes are checked. A likelihood whose files are absent keeps its rows.

--check makes no page: it compares answers and counts with the page, but not times. It ends with the number of
likelihoods that were compared and left out. --write keeps the workspaces, for other programs. --only takes
names as the shell does: '1Lbb*'. Needs the Python package."""

import argparse
import fnmatch
import gzip
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import paritas
from gpu_tables import table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "tools", "public_likelihoods.json")
PAGE = os.path.join(ROOT, "docs", "public-likelihoods.md")
HERE = "examples"  # a source that this repository has
SMALL = 64  # parameters

HEADS = {
    "## Answers": [
        *("likelihood", "channels", "bins", "parameters", "of interest", "best fit", "2 NLL"),
        *("CLs", "expected", "limit", "expected", "minima"),
    ],
    "## Beside published numbers": ["likelihood", "number", "Paritas", "published", "where"],
    "## Fits and times": ["likelihood", "fits, iterations of CLs", "of limits", "CLs", "limits"],
    "## Where they are": ["likelihood", "analysis", "file", "and"],
}
TIMED = "## Fits and times"
WORDS = {
    "# Public likelihoods": """\
# Public likelihoods

<!-- made by tools/public_likelihoods.py -->

Look up what Paritas answers to likelihoods that others have published. Compare your copy with this page:

```console
$ git clone https://github.com/Rupt/interval-evidence clones/interval-evidence
$ PYTHONPATH=python .venv/bin/python tools/public_likelihoods.py clones --check --only '1Lbb, SR*'
```

`clones` has a clone of each repository that you want to read. All digits must be those below, on any machine.
Times may differ. [A likelihood from HEPData](published.md) says how to use one of your own.

- The list is `tools/public_likelihoods.json`: repositories, commits, files, their hashes, and how a workspace
  is made of them. The files are not in this repository, except `examples/sbottom_A`.
- An analysis can have several rows: regions, signal points, a full and a simplified likelihood.
- Many rows have a background without a signal. Their signal is so many events in a bin, as the last table
  says. The limit on one event is what searches publish for each region.
- Two kinds are not read. Shapes in RooFit workspaces [are not](datacards.md), and an
  [unfolded spectrum](https://github.com/atlas-outreach-data-tools/notebooks-collection-opendata) in HS3
  constrains a function of parameters.
""",
    "## Answers": """\
All rows are made without an option. CLs is at a strength of 1, by formula, and limits are at 95 % CL.
Expected is the median without a signal. A number of minima above 1 says that the search met several, and how
far the highest lies above the lowest in twice the NLL.
""",
    "## Beside published numbers": """\
Numbers of another program or of the paper, with the file in which they stand. Limits of papers come from
toys, and are rounded. So they differ by some per cent from ours, and by more where few events are expected.
Two regions stand further apart, SR_LM_disc and SR_DF_0J_100_inf. The limits that `interval-evidence` made of
the same two models are near ours: 19.7 and 25.6, in its `report/results.csv`.
""",
    "## Fits and times": """\
Fits and iterations of the default search, and processor time of one thread in the Python package, after the
model is read. The machine was busy, so times are good to a factor of about 2; counts are exact.
""",
    "## Where they are": """\
Each link leads to the commit that was read.
""",
}


class Absent(Exception):
    """A file that the user does not have."""


def listed():
    with open(LIST, encoding="utf-8") as file:
        return json.load(file)


class Sources:
    """Files of repositories, each as its commit has it."""

    def __init__(self, folder, given):
        self.folder, self.known, self.hashes = folder, given["sources"], given["sha256"]

    def bytes_of(self, name):
        """What SOURCE:PATH has."""
        source, path = name.split(":", 1)
        if source == HERE:
            with open(os.path.join(ROOT, HERE, path), "rb") as file:
                found = file.read()
        else:
            place = os.path.join(self.folder, source)
            asked = ["git", "-C", place, "show", f"{self.known[source]['commit']}:{path}"]
            done = subprocess.run(asked, capture_output=True, check=False)
            if done.returncode:
                raise Absent(name)
            found = done.stdout
        digest = hashlib.sha256(found).hexdigest()
        if digest != self.hashes.get(name):
            sys.exit(f"{name} has the hash {digest}, not that of the list")
        return gzip.decompress(found) if path.endswith(".json.gz") else found

    def json_of(self, name):
        return json.loads(self.bytes_of(name))


def with_signal(document, events):
    """A sample of so many events a bin, which a new parameter of interest scales."""
    for channel in document["channels"]:
        if channel["name"] in events:
            factor = {"name": "mu_signal", "type": "normfactor", "data": None}
            channel["samples"].append(
                {"name": "signal", "data": events[channel["name"]], "modifiers": [factor]}
            )
    for measurement in document["measurements"]:
        measurement["config"]["poi"] = "mu_signal"
    return document


def card_of(sources, one):
    """The workspace of a datacard, with its ROOT files beside it as in the repository."""
    with tempfile.TemporaryDirectory() as folder:
        for name in (one["card"], *one.get("with", ())):
            path = os.path.join(folder, *name.split(":", 1)[1].split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            written = sources.bytes_of(name)
            if name == one["card"]:
                written = written.replace(one.get("without", "").encode(), b"")
            with open(path, "wb") as file:
                file.write(written)
        card = os.path.join(folder, *one["card"].split(":", 1)[1].split("/"))
        return paritas.Workspace.read(card, mass=one.get("mass")).to_dict()


def workspace_of(sources, one):
    if "card" in one:
        return card_of(sources, one)
    document = sources.json_of(one["workspace"])
    if "inside" in one:
        document = document[one["inside"]]
    if "patch" in one:
        patch = sources.json_of(one["patch"])
        if "patch_name" in one:
            named = {each["metadata"]["name"]: each["patch"] for each in patch["patches"]}
            patch = named[one["patch_name"]]
        document = paritas.Workspace(document).patch(patch).to_dict()
    return with_signal(document, one["signal"]) if "signal" in one else document


def asked(program, command, path, one):
    """The answer of a command, and its fits and iterations."""
    poi = ["--poi", one["poi"]] if "poi" in one else []
    words = [
        program,
        command,
        path,
        *poi,
        "--json",
        "--counts",
        "--quiet",
        "--device",
        "cpu",
        "--threads",
        "1",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{one['name']}: {done.stderr}")
    counts = re.search(r"fits: (\d+), iterations: (\d+)", done.stderr)
    return json.loads(done.stdout), counts.groups()


def milliseconds(function, runs):
    """The median processor time of a call."""
    spent = []
    for _ in range(runs):
        started = time.process_time()
        function()
        spent.append(1e3 * (time.process_time() - started))
    return shown_time(statistics.median(spent))


def shown_time(value):
    """Milliseconds, three digits of them."""
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def shown(value, digits=6):
    return "-" if value is None else f"{value:.{digits}g}"


def met_by(*answers):
    """How many minima the searches met, and how far the highest lies above the lowest."""
    met = max((answer["minima"] for answer in answers), key=lambda minima: minima["met"])
    return f"{met['met']}, {met['apart']:.3g} apart" if met["met"] > 1 else "1"


def beside(one, found, given):
    """Rows of published numbers and ours."""
    numbers = one.get("published", {})
    return [
        [one["name"], key, shown(found[key], 4), shown(value), place_of(numbers["where"], given)]
        for key, value in numbers.items()
        if key != "where"
    ]


def place_of(name, given):
    source, path = name.split(":", 1)
    known = given["sources"][source]
    link = f"../{HERE}/{path}" if source == HERE else f"{known['at']}/blob/{known['commit']}/{path}"
    return f"[{path.rsplit('/', 1)[-1]}]({link})"


def origin(one, given):
    patch = one.get("patch")
    more = [place_of(patch, given)] if patch else []
    more += [f"`{one['patch_name']}`"] if "patch_name" in one else []
    signal = [f"`{name}` {events}" for name, events in one.get("signal", {}).items()]
    more += ["events of the signal: " + ", ".join(signal)] if signal else []
    more += [f"mass {one['mass']}"] if "mass" in one else []
    title = given["analyses"][one["analysis"]]
    return [one["name"], title, place_of(one.get("card") or one["workspace"], given), ", ".join(more)]


def rows_of(one, document, options, given):
    """The rows of each table."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(options.write or folder, re.sub(r"[^A-Za-z0-9_.-]+", "_", one["name"]) + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        answers = [asked(options.program, command, path, one) for command in ("fit", "hypotest", "limit")]
        model = paritas.Model.from_workspace(path, poi=one.get("poi"))
    (fit, _), (test, test_counts), (limit, limit_counts) = answers
    poi = model.poi_name
    best = next(each["value"] for each in fit["parameters"] if each["name"] == poi)
    found = {"best fit": best, "limit": limit["limit_obs"], "expected limit": limit["limit_exp"][2]}
    found.update({"CLs": test["CLs_obs"], "expected CLs": test["CLs_exp"][2]})
    sizes = (len(model.channels), model.main_count, model.parameter_count)
    numbers = (
        best,
        fit["twice_nll"],
        *(found[key] for key in ("CLs", "expected CLs", "limit", "expected limit")),
    )
    answer = [
        one["name"],
        *sizes,
        f"`{poi}`",
        *(shown(number, 8 if k == 1 else 6) for k, number in enumerate(numbers)),
    ]
    counts = [", ".join(each) for each in (test_counts, limit_counts)]
    calls = [] if options.check else [lambda: model.hypotest(1.0), model.upper_limit]
    times = [milliseconds(call, options.runs) for call in calls]
    tables = ([[*answer, met_by(test, limit)]], beside(one, found, given), [[one["name"], *counts, *times]])
    return dict(zip(HEADS, (*tables, [origin(one, given)])))


def rows_on(page):
    """Rows of the tables that stand on the page: of each heading, of each name."""
    found = {}
    for heading in HEADS:
        section = page.split(heading + "\n", 1)[-1].split("\n## ", 1)[0] if heading in page else ""
        rows = [
            [cell.strip() for cell in line.strip("|").split(" | ")]
            for line in re.findall(r"^\|.*", section, re.M)
        ]
        of_names = found.setdefault(heading, {})
        for row in rows[2:]:
            of_names.setdefault(row[0], []).append(row)
    return found


def spread(cells):
    """Median, 90 % and largest of a column of times."""
    times = sorted(float(cell.split()[0]) for cell in cells)
    ninety = times[min(len(times) - 1, int(0.9 * len(times)))]
    return [shown_time(value) for value in (statistics.median(times), ninety, times[-1])]


def summary(tables):
    """How many there are, and how long they take."""
    sizes = {name: int(rows[0][3]) for name, rows in tables["## Answers"].items()}
    analyses = {rows[0][1] for rows in tables["## Where they are"].values()}
    lines = []
    for title, names in (
        ("all", list(sizes)),
        (f"at most {SMALL} parameters", [name for name, size in sizes.items() if size <= SMALL]),
        (f"more than {SMALL} parameters", [name for name, size in sizes.items() if size > SMALL]),
    ):
        effort = [tables[TIMED][name][0] for name in names]
        for what, column in (("CLs", 3), ("limits", 4)):
            if effort:
                lines.append([title, len(names), what, *spread(row[column] for row in effort)])
    head = ["likelihoods", "number", "time of", "median", "90 %", "largest"]
    return [f"{len(sizes)} likelihoods of {len(analyses)} analyses.", "", *table(head, lines)]


def page_of(tables, order):
    def whole(heading):
        rows = [row for name in order for row in tables[heading].get(name, ())]
        return [heading, "", WORDS[heading], *table(HEADS[heading], rows)]

    lines = [WORDS["# Public likelihoods"], *summary(tables)]
    for heading in HEADS:
        lines += whole(heading)
    return "\n".join(lines).rstrip() + "\n"


def differences(name, rows, before):
    """What of a likelihood's rows is not as the page has it, without times."""
    for heading in HEADS:
        new = [[str(cell) for cell in row] for row in rows[heading]]
        old = before[heading].get(name, [])
        if heading == TIMED:
            old = [row[:3] for row in old]
        if new != old:
            yield f"{name}, {heading[3:]}: {new}, on the page {old}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--only", default="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write")
    parser.add_argument("--runs", type=int, default=3, help="of each call that is timed")
    options = parser.parse_args()
    options.program = os.path.join(options.build, "bin", "paritas")
    paritas.set_defaults(device="cpu", threads=1)
    given, tables = listed(), {heading: {} for heading in HEADS}
    sources = Sources(options.folder, given)
    if os.path.exists(PAGE):
        with open(PAGE, encoding="utf-8") as file:
            tables = rows_on(file.read())
    bad, done, left = [], 0, []
    for one in given["likelihoods"]:
        name = one["name"]
        if not fnmatch.fnmatch(name, options.only):
            continue
        try:
            rows = rows_of(one, workspace_of(sources, one), options, given)
        except Absent as absent:
            left.append(name)
            print(f"{name}: left out, without {absent}", file=sys.stderr)
            continue
        print(name, *(row[3:] for row in rows[TIMED]), file=sys.stderr, flush=True)
        done += 1
        if options.check:
            bad += differences(name, rows, tables)
        else:
            for heading, found in rows.items():
                tables[heading][name] = found
    if not options.check:
        order = [one["name"] for one in given["likelihoods"] if one["name"] in tables["## Answers"]]
        tables = {
            heading: {name: rows[name] for name in order if name in rows} for heading, rows in tables.items()
        }
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page_of(tables, order))
    print("\n".join([*bad, f"{done} likelihoods, {len(bad)} rows differ, {len(left)} left out"]))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
