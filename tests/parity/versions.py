#!/usr/bin/env python3
"""Do two versions of the program answer the same bytes?

  versions.py collect PROGRAM FOLDER    runs every command line below; FOLDER keeps what it printed and wrote
  versions.py compare FOLDER FOLDER     compares two such folders, and counts the numbers

Run it with the program from before a change and with the new one. The analyses are in examples/ and, if it is
there, ../shared. Answers are kept as they are, without times. Python's standard library only."""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
SHARED = os.path.join(os.path.dirname(ROOT), "shared")
TIMED = re.compile(r'("(?:seconds|toys_per_second)": )[-+.0-9e]+')
TIMED_TEXT = re.compile(r"\d+ fitted in .*")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def analyses():
    yield "two_bins", [os.path.join(EXAMPLES, "two_bins.json")], True
    sbottom = os.path.join(EXAMPLES, "sbottom_A")
    yield (
        "sbottom",
        [
            os.path.join(sbottom, "BkgOnly.json"),
            "--patch",
            os.path.join(sbottom, "patch.sbottom_900_250_60.json"),
        ],
        True,
    )
    workspaces = os.path.join(SHARED, "workspaces")
    for name in ("displaced_leptons_signal", "ttZ_4l", "tHu_FCNC", "SUSY-2018-04_staus"):
        poi = ["--poi", "mu_QCD"] if "staus" in name else []
        yield name, [os.path.join(workspaces, name + ".json"), *poi], name in ("displaced_leptons_signal",)
    for path in sorted(glob.glob(os.path.join(workspaces, "sbottom_A", "patch*.json"))):
        if "patchset" not in path:
            yield (
                "A_" + os.path.basename(path)[:-5],
                [os.path.join(workspaces, "sbottom_A", "BkgOnly.json"), "--patch", path],
                False,
            )
    for path in sorted(glob.glob(os.path.join(SHARED, "hard", "*.json"))):
        yield "hard_" + os.path.basename(path)[:-5], [path], False


def fit_lines(name, at, small):
    """(label, words) of one analysis"""
    ways = [
        ("f64", []),
        ("f32", ["--precision", "f32"]),
        ("raw", ["--precision", "f32", "--no-polish"]),
        ("pocl64", ["--device", "opencl:0"]),
        ("pocl32", ["--device", "opencl:0", "--precision", "f32"]),
    ]
    for way, words in ways:
        if way == "f64":
            yield f"{name}.inspect", ["inspect", at[0]]
            yield f"{name}.digest", ["digest", at[0]]
            yield f"{name}.sort", ["sort", at[0]]
            yield f"{name}.starts", ["fit", *at, "--starts", "4"]
            yield f"{name}.asimov", ["fit", *at, "--asimov", "1"]
            yield f"{name}.fixed", ["hypotest", *at, "--test-stat", "q"]
            yield f"{name}.q0", ["hypotest", *at, "--test-stat", "q0"]
            yield f"{name}.limitq", ["limit", *at, "--test-stat", "q"]
            yield f"{name}.code1", ["fit", *at, "--normsys-code", "1", "--histosys-code", "0"]
            yield f"{name}.code2", ["fit", *at, "--histosys-code", "2"]
            yield (
                f"{name}.threads",
                ["scan", *at, "--start", "0", "--stop", "1", "--points", "7", "--threads", "2"],
            )
            if small:
                yield f"{name}.minos", ["fit", *at, "--minos", "all", "--covariance"]
                yield f"{name}.lbfgsb", ["fit", *at, "--minimizer", "lbfgsb"]
            if name == "two_bins":
                yield f"{name}.de", ["fit", *at, "--minimizer", "de", "--seed", "3"]
        yield f"{name}.{way}.nll", ["nll", *at, "--gradient", "--expected", *words]
        yield f"{name}.{way}.fit", ["fit", *at, "--covariance", *words]
        yield f"{name}.{way}.scan", ["scan", *at, "--start", "0", "--stop", "2", "--points", "9", *words]
        if way.startswith("pocl") and not small and name not in ("ttZ_4l", "tHu_FCNC"):
            continue
        yield f"{name}.{way}.hypotest", ["hypotest", *at, "--mu", "1", *words]
        yield f"{name}.{way}.limit", ["limit", *at, *words]
        yield f"{name}.{way}.significance", ["significance", *at, *words]
        yield f"{name}.{way}.gof", ["gof", *at, *words]
        if way != "pocl32":
            yield f"{name}.{way}.predict", ["predict", *at, *words]
        if small or way in ("f64",):
            yield f"{name}.{way}.ranking", ["ranking", *at, *words]
        n = "400" if small else "60"
        store = f"{name}.{way}.db"
        yield (
            f"{name}.{way}.toys",
            [
                "toys",
                *at,
                "--ntoys",
                n,
                "--seed",
                "5",
                "--errors",
                "--save-parameters",
                "--store",
                store + "t",
                *words,
            ],
        )
        yield (
            f"{name}.{way}.hypotoys",
            ["hypotest-toys", *at, "--ntoys", n, "--seed", "7", "--store", store + "h", *words],
        )
        yield f"{name}.{way}.gof_toys", ["gof", *at, "--toys", "--ntoys", n, *words]
        if small:
            yield (
                f"{name}.{way}.limit_toys",
                [
                    "limit",
                    *at,
                    "--calc",
                    "toys",
                    "--rtol",
                    "0.2",
                    "--ntoys",
                    "1000",
                    "--store",
                    store + "l",
                    *words,
                ],
            )
            yield f"{name}.{way}.sig_toys", ["significance", *at, "--calc", "toys", "--ntoys", n, *words]


def all_lines():
    for name, at, small in analyses():
        if all(os.path.exists(word) for word in at if word.endswith(".json")):
            yield from fit_lines(name, at, small)
    sbottom = os.path.join(EXAMPLES, "sbottom_A")
    whole = [os.path.join(sbottom, "BkgOnly.json"), "--patchset", os.path.join(sbottom, "patchset.json")]
    yield "patchset.hypotest", ["hypotest", *whole]
    yield "patchset.limit", ["limit", *whole]
    yield "patchset.inspect", ["patchset", "inspect", os.path.join(sbottom, "patchset.json")]
    two = os.path.join(EXAMPLES, "two_bins.json")
    yield "scan2d", ["scan", two, "--par", "mu=0:2:5", "--par", "uncorr_bkguncrt[0]=0.5:1.5:5"]
    for shard in ("1/2", "2/2"):
        yield (
            "shard" + shard[0],
            ["hypotest-toys", two, "--ntoys", "300", "--shard", shard, "--store", f"shard{shard[0]}.db"],
        )


# label, command line; KNOWN: the truth of the synthetic sweeps
LOSSCONE_LINES = (
    (
        "synth",
        "losscone synthesize -o er --days 1 --sweeps 60 --missing-cells 0.02 --missing-rows 0.02"
        " --bad-fields 0.02",
    ),
    (
        "synth_plasma",
        "losscone synthesize -o er_plasma --days 1 --sweeps 40 --plasma --truth folded --start 1998-02-27",
    ),
    ("lc.default", "losscone fit er --polarity=-1 -o lc_default"),
    ("lc.known", "losscone fit er KNOWN -o lc_known"),
    ("lc.lillis", "losscone fit er KNOWN --method lillis --response hard -o lc_lillis"),
    ("lc.boot", "losscone fit er KNOWN --response hard --confidence bootstrap --draws 6 -o lc_boot"),
    ("lc.de", "losscone fit er KNOWN --search de -o lc_de"),
    ("lc.f32", "losscone fit er KNOWN --precision f32 -o lc_f32"),
    ("lc.pocl", "losscone fit er KNOWN --device opencl:0 -o lc_pocl"),
    ("lc.pocl32", "losscone fit er KNOWN --device opencl:0 --precision f32 -o lc_pocl32"),
    ("lc.plasma", "losscone fit er_plasma -o lc_plasma"),
    ("lc.pairs", "losscone fit er KNOWN --normalisation pairs --sunlight 30 -o lc_pairs"),
    ("profile", "losscone profile er/3D980116.TAB --polarity=-1 --spectrum 5"),
    ("profile_f", "losscone profile er/3D980116.TAB --polarity=-1 --spectrum 7 --response folded"),
    ("inject", "losscone inject --sweeps 30"),
    ("inject_plasma", "losscone inject --sweeps 12 --plasma --confidence bootstrap --draws 5"),
    ("kappa", "kappa fit er --polarity=-1 -o kappa"),
    ("kappa_plasma", "kappa fit er_plasma -o kappa_plasma"),
    (
        "kappa_sums",
        "kappa fit er_plasma -o kappa_sums --currents sums --weights original --illumination shade",
    ),
    ("kappa_est", "kappa fit er_plasma -o kappa_est --density estimate --weights none --shift energies"),
    ("kappa_f32", "kappa fit er_plasma -o kappa_f32 --precision f32"),
    ("kappa_pocl", "kappa fit er_plasma -o kappa_pocl --device opencl:0"),
    ("kappa_shade", "kappa fit er_plasma -o kappa_shade --illumination shade"),
)


def chained():
    """groups of lines that must run in order"""
    yield [("merge", ["merge", "shard1.db", "shard2.db", "-o", "merged.db"])]
    known = "--spacecraft-potential er/truth.csv --geometry er/truth.csv"
    yield [(label, line.replace("KNOWN", known).split()) for label, line in LOSSCONE_LINES]


def run(program, folder, label, words):
    known = os.path.join(folder, label + ".json")
    environment = {"PARITAS_CACHE": os.path.join(folder, os.pardir, "kernels"), "PARITAS_DEVICE": "cpu"}
    environment.update(os.environ)
    json_words = ["--json"] if words[0] not in ("sort",) else []
    answer = {"words": words}
    how = {"capture_output": True, "text": True, "cwd": folder, "env": environment, "timeout": 900}
    try:
        command = [program, *words, *json_words, "--quiet"] if json_words else [program, *words]
        done = subprocess.run(command, **how)
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(words, 124, "", "timeout")
    answer.update(code=done.returncode, out=TIMED.sub(r"\1T", done.stdout), error=done.stderr)
    timed = "--store" in words or "toys" in label or words[0] in ("toys", "hypotest-toys")
    if json_words and not timed and ".f64." in label:
        done = subprocess.run([program, *words, "--quiet"], **how)
        answer.update(
            text=TIMED_TEXT.sub("T", done.stdout), text_code=done.returncode, text_error=done.stderr
        )
    with open(known, "w") as file:
        json.dump(answer, file)
    print(label, done.returncode, flush=True)


def collect(program, folder):
    shutil.rmtree(folder, True)
    os.makedirs(folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda line: run(program, folder, *line), all_lines()))
        groups = list(chained())
        list(pool.map(lambda group: [run(program, folder, *line) for line in group], groups))


def store_rows(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = []
    for (sql,) in sorted(
        connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    ):
        found.append(sql)
    for (name,) in sorted(
        connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    ):
        found += sorted(map(repr, connection.execute(f"SELECT * FROM {name}").fetchall()))
    return "\n".join(found)


def npz(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content(path):
    with open(path, "rb") as file:
        return file.read()


def compare(first, second):
    numbers = bad = files = 0
    names = sorted(os.path.relpath(os.path.join(d, f), first) for d, _, fs in os.walk(first) for f in fs)
    others = sorted(os.path.relpath(os.path.join(d, f), second) for d, _, fs in os.walk(second) for f in fs)
    for name in sorted(set(names) ^ set(others)):
        print(f"ONLY {'first' if name in names else 'second'}: {name}")
        bad += 1
    for name in sorted(set(names) & set(others)):
        a, b = os.path.join(first, name), os.path.join(second, name)
        files += 1
        if re.search(r"\.db.?$", name):
            x, y = store_rows(a), store_rows(b)
            if x != y:
                print(f"STORE {name}")
                for p, q in list(zip(x.split("\n"), y.split("\n")))[:400]:
                    if p != q:
                        print("   ", p[:300], "\n   ", q[:300])
                        break
                bad += 1
            numbers += len(NUMBER.findall(x))
        elif name.endswith(".npz"):
            x, y = npz(a), npz(b)
            for key in sorted(set(x) | set(y)):
                if x.get(key) != y.get(key):
                    print(f"NPZ {name} {key}: {str(x.get(key))[:300]} | {str(y.get(key))[:300]}")
                    bad += 1
            numbers += sum(len(v) // 8 for v in x.values())
        elif name.endswith(".json") and os.path.dirname(name) == "":
            x, y = json.load(open(a)), json.load(open(b))
            for key in sorted(set(x) | set(y)):
                if key == "words":
                    continue
                if x.get(key) != y.get(key):
                    bad += 1
                    p, q = str(x.get(key)), str(y.get(key))
                    at = next((i for i, (s, t) in enumerate(zip(p, q)) if s != t), min(len(p), len(q)))
                    print(f"DIFF {name} {key} at {at} of {len(p)}, {len(q)}:")
                    for text in (p, q):
                        print(f"    {text[max(0, at - 60) : at + 140]!r}")
            numbers += len(NUMBER.findall(x.get("out", ""))) + len(NUMBER.findall(x.get("text") or ""))
        elif content(a) != content(b):
            print(f"FILE {name}")
            bad += 1
        else:
            numbers += len(NUMBER.findall(content(a).decode(errors="replace")))
    print(f"{files} files, {numbers} numbers compared, {bad} differences")
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        collect(os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]))
    else:
        sys.exit(1 if compare(sys.argv[2], sys.argv[3]) else 0)
