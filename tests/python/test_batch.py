"""The scripts of examples/batch, with stand-ins for the schedulers: the merged answer is that of one run."""

import json
import os
import re
import shutil
import subprocess

import pytest
from package_support import PROGRAM, TREE, TWO

BATCH = TREE / "examples" / "batch"
SETTINGS = {"MU": "1", "TOYS": "200", "SEED": "4", "SHARDS": "3"}

SBATCH = """#!/bin/sh
# runs what it is given, the array's jobs one after the other
set -eu
echo "$@" >>calls
first=1 last=1 array=
for one in "$@"; do
    case $one in --array=*) array=${one#--array=}; first=${array%-*}; last=${array#*-} ;; esac
    script=$one
done
while [ "$first" -le "$last" ]; do
    [ -z "$array" ] || export SLURM_ARRAY_TASK_ID=$first
    SLURM_CPUS_PER_TASK=1 sh "$script" >&2
    first=$((first + 1))
done
echo "7;cluster"
"""


@pytest.fixture(scope="module")
def one_run():
    done = subprocess.run(
        [
            PROGRAM,
            "hypotest-toys",
            TWO,
            "--ntoys",
            "200",
            "--seed",
            "4",
            "--json",
            "--quiet",
            "--device",
            "cpu",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sh(script, folder, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "CONDOR_"))}
    return subprocess.run(
        [str(script)], cwd=folder, capture_output=True, text=True, env={**clean, **environment}
    )


def assert_the_run(folder, one_run):
    answer = json.loads((folder / "answer.json").read_text())
    assert answer["toys"] == 400 and answer["key"]["seed"] == "4"
    for name in (
        "mu",
        "CLs_obs",
        "CLs_obs_error",
        "CLs_exp",
        "CLs_exp_error",
        "CLsb",
        "CLb",
        "q",
        "mu_hat",
        "status",
        "counts",
    ):
        assert answer[name] == one_run[name], name


def test_slurm(tmp_path, one_run):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sbatch").write_text(SBATCH)
    (tmp_path / "bin" / "sbatch").chmod(0o755)
    shutil.copy(TWO, tmp_path / "workspace.json")
    settings = dict(
        SETTINGS, PARITAS=os.path.abspath(PROGRAM), PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    )
    done = sh(BATCH / "slurm" / "submit.sh", tmp_path, **settings)
    assert done.returncode == 0, done.stderr
    calls = (tmp_path / "calls").read_text().splitlines()
    assert "--array=1-3" in calls[0] and "--dependency=afterok:7 " in calls[1]
    assert_the_run(tmp_path, one_run)
    # a shard that is missing is an error
    for name in ("all.db", "answer.json", "shard_2.db"):
        (tmp_path / name).unlink()
    done = sh(BATCH / "merge.sh", tmp_path, **settings)
    assert done.returncode == 3 and "shard_2.db" in done.stderr and not (tmp_path / "answer.json").exists()
    # started again, the two that are there have nothing left to fit
    assert sh(BATCH / "slurm" / "submit.sh", tmp_path, **settings).returncode == 0
    assert json.loads((tmp_path / "shard_1.json").read_text())["fitted"] == 0
    assert_the_run(tmp_path, one_run)
    # twice as many: 200 toys are no multiple of 3 shards, so toy 200 is missing, and the first answer stays
    done = sh(BATCH / "slurm" / "submit.sh", tmp_path, **dict(settings, TOYS="400", SHARDS="6", FIRST="4"))
    assert done.returncode == 1 and ": toy 200 missing" in done.stderr
    assert_the_run(tmp_path, one_run)


def test_more_toys_keep_the_first_shards(tmp_path, one_run):
    shutil.copy(TWO, tmp_path / "workspace.json")
    settings = dict(SETTINGS, PARITAS=os.path.abspath(PROGRAM))
    for first, shards, toys in (1, 2, 100), (3, 4, 200):
        more = dict(settings, TOYS=str(toys), SHARDS=str(shards), FIRST=str(first))
        for process in range(shards):  # as HTCondor: a job for each shard, some of which have nothing to do
            done = sh(BATCH / "shard.sh", tmp_path, CONDOR_PROCESS=str(process), **more)
            assert done.returncode == 0, done.stderr
        assert sh(BATCH / "merge.sh", tmp_path, **more).returncode == 0
    assert json.loads((tmp_path / "shard_1.json").read_text())["ntoys"] == 100
    assert_the_run(tmp_path, one_run)


def test_a_shard_that_did_not_end_is_an_error(tmp_path):
    shutil.copy(TWO, tmp_path / "workspace.json")
    settings = dict(SETTINGS, PARITAS=os.path.abspath(PROGRAM), SHARDS="2")
    for i in "12":
        assert sh(BATCH / "shard.sh", tmp_path, SLURM_ARRAY_TASK_ID=i, **settings).returncode == 0
    subprocess.run(
        [
            "python3",
            "-c",
            "import sqlite3; c = sqlite3.connect('shard_2.db'); c.execute('delete from toys where toy > "
            "190'); c.commit()",
        ],
        cwd=tmp_path,
        check=True,
    )
    done = sh(BATCH / "merge.sh", tmp_path, **settings)
    assert done.returncode == 1 and "shard 2/2 missing or incomplete" in done.stderr
    assert not (tmp_path / "answer.json").exists()
    assert sh(BATCH / "shard.sh", tmp_path, **settings).returncode != 0  # it has no number


def submit_description(name, **macros):
    """A submit file's commands with their macros expanded."""
    text = (BATCH / "htcondor" / name).read_text()
    for included in re.findall(r"^include : (.*)$", text, re.M):
        text = (BATCH / "htcondor" / included).read_text() + text
    commands = dict(re.findall(r"^(\w+) *= *(.*)$", text, re.M))
    commands.update(macros)

    def expanded(value):
        value = re.sub(r"\$BASENAME\((\w+)\)", lambda found: os.path.basename(commands[found[1]]), value)
        return re.sub(r"\$\((\w+)\)", lambda found: commands[found[1]], value)

    return {key: expanded(value) for key, value in commands.items()}, expanded(
        re.search(r"^queue *(.*)$", text, re.M)[1]
    )


def test_htcondor(tmp_path, one_run):
    given = dict(
        paritas=os.path.abspath(PROGRAM), workspace=str(TWO), mu="1", toys="200", seed="4", shards="3"
    )
    for process in range(3):
        commands, jobs = submit_description("toys.sub", Process=str(process), **given)
        assert jobs == "3"
        scratch = tmp_path / f"node_{process}"
        scratch.mkdir()
        for path in [commands["executable"], *commands["transfer_input_files"].split(", ")]:
            shutil.copy(BATCH / "htcondor" / path, scratch)
        done = sh(
            scratch / "shard.sh",
            scratch,
            **dict(one.split("=", 1) for one in commands["environment"].strip('"').split()),
        )
        assert done.returncode == 0, done.stderr
        for path in scratch.glob("shard_*"):
            if path.suffix != ".sh":
                shutil.move(path, tmp_path)
    commands, _ = submit_description("merge.sub", **given)
    environment = dict(one.split("=", 1) for one in commands["environment"].strip('"').split())
    assert environment.pop("BATCH_FOLDER") == ".."
    done = sh(BATCH / "htcondor" / commands["executable"], tmp_path, BATCH_FOLDER=str(BATCH), **environment)
    assert done.returncode == 0, done.stderr
    assert_the_run(tmp_path, one_run)
