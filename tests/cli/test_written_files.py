"""No command writes a file that was not named: not in the working folder, the home, the folder for temporary
files or the folders of its inputs. The cache has a folder of its own."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PARITAS_BIN", str(TREE / "build" / "release" / "bin" / "paritas"))
#: words of a command -> the files that it leaves in the folder of outputs, {o}. Inputs are in {i}
COMMANDS = {
    "fit {i}/two_bins.json -o {o}/a.json --json": ["a.json"],
    "fit {i}/card.txt": [],
    "nll {i}/two_bins.json --gradient": [],
    "scan {i}/two_bins.json --start 0 --stop 1 --points 3 -o {o}/scan": ["scan"],
    "limit {i}/two_bins.json -o -": [],
    "ranking {i}/two_bins.json -o {o}/ranking": ["ranking"],
    "inspect {i}/two_bins.json": [],
    "digest {i}/two_bins.json": [],
    "sort {i}/two_bins.json -o {o}/sorted.json": ["sorted.json"],
    "convert {i}/card.txt -o {o}/card.json": ["card.json", "card.json.map"],
    "simplify {i}/two_bins.json -o {o}/simplified.json": ["simplified.json"],
    "generate {i}/two_bins.json --ntoys 2 -o {o}/toys.npz": ["toys.npz"],
    "toys {i}/two_bins.json --ntoys 2 --save {o}/rows.csv": ["rows.csv"],
    "toys {i}/two_bins.json --ntoys 2 --store {o}/fits.db": ["fits.db"],
    "hypotest-toys {i}/two_bins.json --ntoys 2 --store {o}/tests.db": ["tests.db"],
    "merge {i}/shard.db -o {o}/pooled.db": ["pooled.db"],
    "sample {i}/two_bins.json --chains 2 --draws 4 --warmup 4 --store {o}/run.npz --save {o}/d.csv "
    "--predictive {o}/p.npz": ["d.csv", "p.npz", "run.npz"],
    "losscone synthesize --sweeps 1 -o {o}": ["3D980116.TAB", "truth.csv"],
    "losscone fit {i}/3D980116.TAB -o {o} --spacecraft-potential 10 --polarity=-1": [
        "losscone_1998-01-16.csv",
        "losscone_1998-01-16.npz",
    ],
    "patchset inspect {i}/patchset.json": [],
    # refused, which leaves nothing
    "fit {i}/missing.json -o {o}/none": [],
    "fit {i}/day.json -o {o}/none": [],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    examples = TREE / "examples"
    shutil.copy(examples / "two_bins.json", folder)
    shutil.copy(TREE / "tests" / "datacard" / "counting.txt", folder / "card.txt")
    shutil.copy(examples / "sbottom_A" / "patchset.json", folder)
    (folder / "day.json").write_text("{")
    for words in (
        ["hypotest-toys", folder / "two_bins.json", "--ntoys", "2", "--store", folder / "shard.db"],
        ["losscone", "synthesize", "--sweeps", "1", "-o", folder],
    ):
        subprocess.run([PROGRAM, *words], check=True, capture_output=True, timeout=120)
    return folder


def listing(folder):
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


def traced(log, allowed):
    """Calls that wrote, made, renamed or removed a file elsewhere than in these folders."""
    call = re.compile(
        r"(?:open|openat|creat|rename|renameat2?|mkdir|mkdirat|unlink|unlinkat|symlink|link)\(.*"
    )
    found = []
    for line in log.read_text(errors="replace").splitlines():
        text = call.search(line)
        # SQLite opens what it reads for reading and writing, to lock it
        if (
            not text
            or " = -1 " in text[0]
            or "open" in text[0]
            and not re.search(r"O_(CREAT|TRUNC|WRONLY)", line)
        ):
            continue
        for name in re.findall(r'"((?:[^"\\]|\\.)*)"', text[0]):
            if not name.startswith((*map(str, allowed), "/dev/", "/proc/self/")):
                found.append(line)
    return found


def run(words, places, tmp_path):
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "ASAN_OPTIONS": "detect_leaks=0",  # a program under strace cannot be traced for leaks
        "PARITAS_DEVICE": "cpu",
        "HOME": str(places["home"]),
        "TMPDIR": str(places["temporary"]),
    }
    command, log = words, tmp_path / "trace"
    strace = shutil.which("strace")
    if strace:
        calls = "open,openat,creat,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,symlink,link"
        command = [strace, "-f", "-qq", "-o", str(log), "-e", f"trace={calls}", *words]
    done = subprocess.run(command, cwd=places["work"], env=environment, capture_output=True, timeout=120)
    if strace and not log.exists():  # a container may forbid it
        done = subprocess.run(words, cwd=places["work"], env=environment, capture_output=True, timeout=120)
    return done, log


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words.split(" -")[0].replace("{i}/", ""))
def test_a_command_writes_what_was_named(words, inputs, tmp_path):
    places = {name: tmp_path / name for name in ("work", "home", "temporary", "out")}
    for place in places.values():
        place.mkdir()
    before = listing(inputs)
    command = [PROGRAM, *words.format(i=inputs, o=places["out"]).split()]
    done, log = run(command, places, tmp_path)
    refused = "missing" in words or "day.json" in words
    # 1: chains that short have not converged
    assert done.returncode in ([3] if refused else [0, 1]), done.stderr.decode()
    assert sorted(listing(places["out"])) == COMMANDS[words]
    assert listing(inputs) == before
    assert [listing(places[name]) for name in ("work", "temporary", "home")] == [{}, {}, {}]
    if log.exists():
        assert traced(log, [places["out"]]) == []


def test_only_devices_use_the_cache(tmp_path):
    """Verdicts on drivers and compiled kernels are kept there. Drivers have folders of their own."""
    places = {name: tmp_path / name for name in ("work", "home", "cache")}
    for place in places.values():
        place.mkdir()
    environment = {**os.environ, "HOME": str(places["home"]), "PARITAS_CACHE": str(places["cache"])}
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [PROGRAM, "devices"], cwd=places["work"], env=environment, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()
    assert all(re.fullmatch("[0-9a-f]{64}|.*verdict.*", name) for name in listing(places["cache"]))
    assert listing(places["work"]) == {}
    assert not [
        name for name in listing(places["home"]) if not re.match(r"\.cache$|\.cache/(?!paritas)|\.nv", name)
    ]


@pytest.mark.parametrize(
    "words, names",
    [
        ("convert {i}/two_bins.json --to hs3 -o {o}/hs3.json", ["hs3.json"]),
        ("convert {i}/card.txt --to datacard -o {o}/card.txt", ["card.txt"]),
        (
            "convert {i}/two_bins.json --to xml -o {o}",
            ["FitConfig.xml", "HistFactorySchema.dtd", "config", "config/FitConfig_singlechannel.xml", "data"]
            + ["data/data.root"],
        ),
        ("report {i}/two_bins.json -o {o}/report.html", ["report.html"]),
    ],
)
def test_pythons_commands_write_what_was_named(words, names, inputs, tmp_path):
    pytest.importorskip("uproot")
    pytest.importorskip("matplotlib")
    places = {name: tmp_path / name for name in ("work", "home", "temporary", "out")}
    for place in places.values():
        place.mkdir()
    environment = {
        **os.environ,
        "HOME": str(places["home"]),
        "TMPDIR": str(places["temporary"]),
        "PYTHONPATH": str(TREE / "python"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
    }
    before = listing(inputs)
    done = subprocess.run(
        [sys.executable, "-m", "paritas", *words.format(i=inputs, o=places["out"]).split()],
        cwd=places["work"],
        env=environment,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(listing(places["out"])) == sorted(names)
    assert listing(inputs) == before
    assert [listing(places[name]) for name in ("work", "temporary", "home")] == [{}, {}, {}]


def small_files(limit):
    """the system kills a process that makes a file larger than so many bytes: amid its writing"""

    def set_limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return set_limit


def has_nameless_files(folder):
    """Linux has them on most disks"""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except (AttributeError, OSError):
        return False
    return True


@pytest.mark.parametrize("old", [None, "what was there"], ids=["a new file", "an old file"])
@pytest.mark.parametrize(
    "words, name",
    [
        ("sample {i}/two_bins.json --draws 400 --warmup 20 --store {o}/run.npz", "run.npz"),
        ("sample {i}/two_bins.json --draws 400 --warmup 20 --save {o}/draws.npz", "draws.npz"),
        ("generate {i}/two_bins.json --ntoys 400 -o {o}/toys.npz", "toys.npz"),
        ("scan {i}/two_bins.json --start 0 --stop 1 --points 500 --json -o {o}/scan.json", "scan.json"),
    ],
    ids=lambda value: value.split()[0] if " " in value else "",
)
def test_a_killed_command_leaves_nothing_beside_its_files(words, name, old, inputs, tmp_path):
    if not has_nameless_files(tmp_path):
        pytest.skip("this system has no files without names")
    if old and "--store" in words:
        pytest.skip("a store that exists is resumed or refused")
    if old:
        (tmp_path / name).write_text(old)
    command = [PROGRAM, *words.format(i=inputs, o=tmp_path).split()]
    done = subprocess.run(command, capture_output=True, preexec_fn=small_files(2000))
    assert done.returncode == -signal.SIGXFSZ
    # the lock of a store, which the next run takes over, may stay
    assert [one for one in os.listdir(tmp_path) if not one.endswith("-lock")] == ([name] if old else [])
    assert not old or (tmp_path / name).read_text() == old
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert os.listdir(tmp_path) == [name]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o666 & ~umask
