"""Toys and patch sets in tasks: the bits of one process, on a real cluster of two processes, and where a
worker is killed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from package_support import PROGRAM, SBOTTOM, TWO, assert_same, model_of

import paritas
import paritas.dask

BASE, PATCHES = SBOTTOM / "BkgOnly.json", SBOTTOM / "patchset.json"


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        with distributed.Client(cluster) as one:
            yield one


def assert_same_test(ours, theirs):
    """Every field, the toys' bytes too."""
    for name in theirs.to_dict():
        mine, other = getattr(ours, name), getattr(theirs, name)
        if name == "toys":
            assert mine.dtype == other.dtype and mine.tobytes() == other.tobytes()
        elif name in ("tally", "minima"):
            assert mine == other
        else:
            assert np.array_equal(mine, other, equal_nan=not isinstance(mine, str)), name


def lines_of(command, *options):
    done = subprocess.run(
        [PROGRAM, command, BASE, "--patchset", PATCHES, "--json", "--quiet", "--device", "cpu", *options],
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


# ---- in this process ----


def test_the_module_does_not_import_dask():
    code = (
        "import sys, paritas.dask; sys.exit(any(name.split('.')[0] in ('dask', 'distributed') for name in "
        "sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("statistic", ["qtilde", "q", "q0"])
def test_shards_in_this_process_are_the_run_that_was_not_cut(statistic):
    model = model_of("two_bins")
    one = model.hypotest_toys(1.0, 200, 7, test_stat=statistic)
    for shards in (None, 3):
        assert_same_test(
            paritas.dask.hypotest_toys(TWO, 1.0, 200, 7, shards=shards, test_stat=statistic), one
        )


def test_shards_of_weighted_toys_are_the_run_that_was_not_cut():
    told = []
    one = model_of("two_bins").hypotest_toys(3.0, 300, 7, importance=True)
    found = paritas.dask.hypotest_toys(
        TWO, 3.0, 300, 7, shards=3, importance=True, progress=lambda done, total: told.append((done, total))
    )
    assert found.CLs_obs == one.CLs_obs and found.toys.tobytes() == one.toys.tobytes()
    assert told == [(500, 1500), (1000, 1500), (1500, 1500)]


def test_the_pooled_store_is_kept_and_never_overwritten(tmp_path):
    store = tmp_path / "all.db"
    found = paritas.dask.hypotest_toys(model_of("two_bins"), 1.0, 300, 1, shards=3, store=store, keep=False)
    assert found.toys is None and paritas.hypotest_of_store(store).CLs_obs == found.CLs_obs
    again = tmp_path / "one.db"
    model_of("two_bins").hypotest_toys(1.0, 300, 1, store=again)
    assert paritas.read_store(again).tobytes() == paritas.read_store(store).tobytes()
    with pytest.raises(paritas.InvalidArgument, match="there already"):
        paritas.dask.hypotest_toys(model_of("two_bins"), 1.0, 300, 1, shards=3, store=store)


def test_progress_tells_of_the_toys_of_finished_tasks():
    told = []
    paritas.dask.hypotest_toys(
        model_of("two_bins"), 1.0, 600, shards=3, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(400, 1200), (800, 1200), (1200, 1200)]


def test_what_progress_raises_ends_the_run():
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        paritas.dask.hypotest_toys(model_of("two_bins"), 1.0, 600, shards=3, progress=stop)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(shards=0),
        dict(n=4, shards=5),
        dict(shard=(1, 2)),
        dict(resume=True),
        dict(client="tcp://here"),
        dict(test_stat="t"),
    ],
)
def test_arguments_that_are_wrong_are_refused(wrong):
    with pytest.raises(paritas.InvalidArgument):
        paritas.dask.hypotest_toys(model_of("two_bins"), **{"n": 100, **wrong})


def test_a_patch_set_is_scanned_as_the_program_does_it():
    found = paritas.dask.scan_patchset(BASE, PATCHES, mu=1.0)
    lines = lines_of("hypotest", "--mu", "1")
    assert list(found) == [line["name"] for line in lines] and len(found) == 10
    for line in lines:
        one = found[line["name"]]
        assert one.error is None and one.status == line["status"] and list(one.labels) == line["values"]
        for name in ("mu", "CLs_obs", "CLs_exp", "CLsb", "CLb", "q", "q_A", "mu_hat", "p0"):
            assert_same(getattr(one.value, name), line[name], f"{line['name']}: {name}")


def test_functions_of_ones_own_and_several_answers():
    names = ["sbottom_900_250_60", "sbottom_1000_131_1"]
    counts = paritas.dask.scan_patchset(
        BASE, PATCHES, lambda model, more: model.parameter_count + more, patches=names, more=1
    )
    assert list(counts) == names and all(
        one.value > 1 and one.status == "answered" and one.converged for one in counts.values()
    )
    tests = paritas.dask.map_models("hypotest", {"two": TWO, "model": model_of("two_bins")}, mu=[0.5, 1.0])
    assert [one.CLs_obs for one in tests["two"].value] == [
        one.CLs_obs for one in tests["model"].value
    ] and tests["two"].status == "converged"


def test_failures_stay_in_their_place_and_end_nothing():
    def fails_once(model):
        if model.parameter_count == 3:
            raise ValueError("three")
        return model.fit()

    told = []
    found = paritas.dask.map_models(
        fails_once,
        {"two": TWO, "none": TWO.with_name("none.json"), "sbottom": model_of("sbottom")},
        progress=lambda done, total: told.append((done, total)),
    )
    assert list(found) == ["two", "none", "sbottom"] and told == [(1, 2), (2, 2)]
    assert (
        found["two"].error == "ValueError: three"
        and found["two"].status == "failed"
        and not found["two"].converged
    )
    assert (
        found["none"].error.startswith("Unreadable: ")
        and found["sbottom"].converged
        and found["sbottom"].value.converged
    )


def test_a_fit_that_does_not_converge_says_so():
    found = paritas.dask.map_models("fit", {"two": TWO}, max_iterations=1)
    assert found["two"].error is None and found["two"].status != "converged" and not found["two"].converged


def test_patch_sets_of_others_and_unknown_names_are_refused():
    with pytest.raises(paritas.InvalidInput):
        paritas.dask.scan_patchset(TWO, PATCHES)
    with pytest.raises(paritas.NotFound):
        paritas.dask.scan_patchset(BASE, PATCHES, patches=["sbottom"])
    with pytest.raises(paritas.InvalidArgument, match="there are"):
        paritas.dask.scan_patchset(BASE, PATCHES, "parameter_count")


# ---- on a cluster ----


def test_a_cluster_gives_the_bits_of_one_process(client):
    model = model_of("sbottom")
    assert_same_test(
        paritas.dask.hypotest_toys(model, 1.0, 100, 5, client=client, shards=4),
        model.hypotest_toys(1.0, 100, 5),
    )


def test_a_worker_that_is_killed_loses_nothing(client):
    one = model_of("two_bins").hypotest_toys(1.0, 9000, 11)
    pids, told = client.run(os.getpid), []

    def kill(done, total):
        if not told:
            assert 0 < done < total / 2
            os.kill(next(iter(pids.values())), signal.SIGKILL)
        told.append(done)

    found = paritas.dask.hypotest_toys(TWO, 1.0, 9000, 11, client=client, shards=12, progress=kill)
    assert len(told) == 12 and told[-1] == 18000
    assert_same_test(found, one)
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != set(pids.values())  # it was, and another took its place


def test_a_patch_set_on_a_cluster(client):
    found = paritas.dask.scan_patchset(BASE, PATCHES, "upper_limit", client=client)
    for line in lines_of("limit"):
        one = found[line["name"]]
        assert (
            one.status == line["status"]
            and list(one.labels) == line["values"]
            and one.value.bound_widened == line["bound_widened"]
        )
        for name in ("limit_obs", "limit_exp", "upper_bound"):
            assert_same(getattr(one.value, name), line[name], f"{line['name']}: {name}")
        assert [test.CLs_obs for test in one.value.scan] == [test["CLs_obs"] for test in line["scan"]]


def test_models_that_no_answer_came_of_keep_their_place(client):
    def slow(model):
        time.sleep(0.3)
        return model.fit()

    with pytest.importorskip("distributed").Client(client.scheduler.address) as other:
        found = paritas.dask.map_models(
            slow, {name: TWO for name in "abcdef"}, client=other, progress=lambda done, total: other.close()
        )
    assert list(found) == list("abcdef") and {one.status for one in found.values()} == {"converged", "failed"}
    assert all(one.converged == (one.error is None) for one in found.values())


def test_a_model_that_kills_its_workers_fails_alone(client):
    def deadly(model):
        if model.parameter_count == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return model.fit().twice_nll

    distributed = pytest.importorskip("distributed")
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 0))
    try:
        found = paritas.dask.map_models(deadly, {"sbottom": model_of("sbottom"), "two": TWO}, client=client)
    finally:
        client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", 3))
    assert (
        found["two"].error.startswith(distributed.scheduler.KilledWorker.__name__)
        and found["sbottom"].value == model_of("sbottom").fit().twice_nll
    )
