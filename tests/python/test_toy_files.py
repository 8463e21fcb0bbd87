"""Toys in files: archives of NumPy and JSON, the digest of their model, any command on them."""

import json
import subprocess

import numpy as np
import pytest
from package_support import PROGRAM, TWO, model_of, program

import paritas


def run_program(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    return done.stderr


def drawn(tmp_path, name="two_bins", n=5, seed=7):
    model = model_of(name)
    data = model.generate(n=n, seed=seed)
    data.save(tmp_path / "toys.npz")
    return model, data, tmp_path / "toys.npz"


@pytest.mark.parametrize("name", ["two_bins", "sbottom", "ttZ"])
def test_an_archive_has_the_rows_of_pyhf_and_their_bits(name, tmp_path):
    model, data, path = drawn(tmp_path, name)
    arrays = np.load(path)
    assert np.hstack([arrays["main"], arrays["aux"]]).tobytes() == data.rows.tobytes()
    assert arrays["seed"] == 7 and list(arrays["toy"]) == [0, 1, 2, 3, 4]
    assert arrays["model"] == data.model and data.model.startswith("sha256:")
    assert list(arrays["parameters"]) == model.parameter_names
    assert arrays["point"].tobytes() == data.point.tobytes()
    wanted = [f"{c.name}[{k}]" for c in model.channels for k in range(c.slice.stop - c.slice.start)]
    assert list(arrays["bins"]) == wanted and len(arrays["measured"]) == arrays["aux"].shape[1]
    read = model.read_data(path)
    assert read.rows.tobytes() == data.rows.tobytes() and read.point.tobytes() == data.point.tobytes()
    assert (read.first, read.seed, read.model) == (0, 7, data.model)
    data.save(tmp_path / "toys.json")
    assert model.read_data(tmp_path / "toys.json").model == data.model


@pytest.mark.parametrize("name", ["toys.npz", "toys.json"])
def test_the_largest_seed_survives(tmp_path, name):
    _, data, _ = drawn(tmp_path, seed=2**64 - 1)
    data.save(tmp_path / name)
    assert model_of("two_bins").read_data(tmp_path / name).seed == 2**64 - 1


def test_names_of_auxiliary_data_are_those_of_pyhf(tmp_path):
    _, _, path = drawn(tmp_path)
    pyhf = pytest.importorskip("pyhf")
    spec = json.loads(TWO.read_text())
    theirs = pyhf.Workspace(spec).model()
    arrays = np.load(path)
    sets = theirs.config.par_map
    names = [
        f"{name}[{k}]" if not sets[name]["paramset"].is_scalar else name
        for name in theirs.config.auxdata_order
        for k in range(sets[name]["paramset"].n_parameters)
    ]
    assert list(arrays["measured"]) == names
    row = np.hstack([arrays["main"], arrays["aux"]])[2]
    value = theirs.logpdf(arrays["point"], row)[0]
    ours = model_of("two_bins").nll(arrays["point"], data=row)
    assert -value == pytest.approx(getattr(ours, "nll", ours), abs=1e-9)


def test_a_toy_depends_on_its_number_alone(tmp_path):
    for words in (["--ntoys", 9], ["--ntoys", 5, "--threads", 1], ["--ntoys", 5, "--threads", 3]):
        run_program("generate", TWO, "--seed", 7, *words, "-o", tmp_path / "other.npz")
        rows = np.load(tmp_path / "other.npz")["main"]
        assert rows[:5].tobytes() == np.load(drawn(tmp_path)[2])["main"].tobytes()


def test_the_program_saves_the_toys_that_it_fits(tmp_path):
    model, data, path = drawn(tmp_path)
    run_program("generate", TWO, "--ntoys", 5, "--seed", 7, "-o", tmp_path / "generated.npz")
    run_program("toys", TWO, "--ntoys", 5, "--seed", 7, "--save", tmp_path / "saved.npz")
    assert (
        path.read_bytes()
        == (tmp_path / "generated.npz").read_bytes()
        == (tmp_path / "saved.npz").read_bytes()
    )
    run_program("toys", TWO, "--ntoys", 5, "--seed", 7, "--shard", "2/5", "--save", tmp_path / "part.json")
    part = model.read_data(tmp_path / "part.json")
    assert part.first == 1 and part.rows.tobytes() == data.rows[1:2].tobytes()


@pytest.mark.parametrize("name", ["two_bins", "ttZ"])
def test_fits_of_all_toys_are_those_of_each(name, tmp_path):
    _, data, path = drawn(tmp_path, name, n=12)
    minos = ("--minos", "all") if name == "two_bins" else ()
    answers = program("fit", name, "--data", path, *minos)["answers"]
    assert [one.pop("toy") for one in answers] == list(range(12))
    for k in (0, 7, 11):
        alone = program("fit", name, "--data", path, "--toy", k, *minos)
        assert all(alone[key] == value for key, value in answers[k].items()) and len(answers[k]) > 5


def test_archives_of_numpy_alone_are_read(tmp_path):
    model, data, _ = drawn(tmp_path)
    main, aux = data.rows[:, :2], data.rows[:, 2:]
    for k, (save, arrays) in enumerate(
        [
            (np.savez, {"main": main, "aux": aux}),
            (np.savez_compressed, {"main": main, "aux": aux}),
            (np.savez, {"main": main.astype(np.int64), "aux": aux.astype(np.float32)}),
            (np.savez, {"aux": np.asfortranarray(aux), "main": np.asfortranarray(main), "more": np.eye(3)}),
            (np.savez, {"main": main.astype(np.uint8), "aux": aux}),
        ]
    ):
        save(tmp_path / f"{k}.npz", **arrays)
        read = model.read_data(tmp_path / f"{k}.npz")
        assert read.rows.tobytes() == data.rows.tobytes() and read.model is None and read.point is None
    np.savez(tmp_path / "one.npz", main=main[3], aux=aux[3])
    assert model.read_data(tmp_path / "one.npz").rows.tobytes() == data.rows[3:4].tobytes()


WRONG = [
    ({"aux": None}, "the archive has no array 'aux'"),
    ({"main": np.ones((5, 3))}, "main has no rows of 2 numbers"),
    ({"model": np.zeros((5, 0), "U4")}, "model is not one text"),
    ({"main": np.ones((4, 2))}, "aux has 5 rows, and main has 4"),
    ({"main": np.ones((5, 2)) * [1, -1]}, "main[0][1] is -1: a count cannot be negative"),
    ({"aux": np.full((5, 2), np.nan)}, "aux[0][0] is not a finite number"),
    ({"main": np.ones((5, 2, 1))}, "main: has more than two dimensions"),
    ({"main": np.ones((5, 2), complex)}, "main: is no array of numbers"),
    ({"main": np.ones((5, 2), ">f8")}, "main: is no array of numbers"),
    ({"toy": np.array([0, 1, 2, 4, 5])}, "toy[3] does not follow the one before"),
    ({"toy": np.arange(4)}, "toy has 4 numbers for 5 rows"),
    ({"seed": np.array(1.5)}, "seed is not a whole number"),
    ({"point": np.ones(2)}, "point has 2 numbers; the model has 3 parameters"),
    ({"parameters": np.array(["mu", "a", "b"])}, "parameters[1] is 'a': the data are of another model"),
    (
        {"model": np.array("sha256:0")},
        "the toys are of another model, with the digest sha256:0; this one has",
    ),
]


@pytest.mark.parametrize("change,reason", WRONG)
def test_a_wrong_archive_is_refused_with_its_place(tmp_path, change, reason):
    model, _, path = drawn(tmp_path)
    arrays = {**np.load(path), **change}
    np.savez(tmp_path / "wrong.npz", **{name: value for name, value in arrays.items() if value is not None})
    with pytest.raises(paritas.InvalidInput) as raised:
        model.read_data(tmp_path / "wrong.npz")
    assert reason in str(raised.value) and "wrong.npz" in str(raised.value)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_no_damage_gives_other_data(tmp_path, save):
    model, data, path = drawn(tmp_path, n=2)
    save(tmp_path / "whole.npz", main=data.rows[:, :2], aux=data.rows[:, 2:])
    whole, refused = (tmp_path / "whole.npz").read_bytes(), 0
    damages = [whole[:k] + bytes([whole[k] ^ 0x55]) + whole[k + 1 :] for k in range(len(whole))]
    damages += [whole[:k] for k in range(4, len(whole), 7)]
    for damaged in damages:
        path.write_bytes(damaged)
        try:
            assert model.read_data(path).rows.tobytes() == data.rows.tobytes()
        except (paritas.InvalidInput, paritas.OutOfMemory):
            refused += 1
    assert refused > len(damages) / 2


def changed(**values):
    spec = json.loads(TWO.read_text())
    if "rate" in values:
        spec["channels"][0]["samples"][1]["data"][0] = values["rate"]
    if "observed" in values:
        spec["observations"][0]["data"][0] = values["observed"]
    return spec


def test_toys_of_another_model_are_refused(tmp_path):
    model, data, path = drawn(tmp_path)
    assert paritas.Model.from_workspace(changed(observed=61.0)).read_data(path).model == data.model
    other = paritas.Model.from_workspace(changed(rate=51.0))
    for suffix in ("npz", "json"):
        file = tmp_path / f"toys.{suffix}"
        data.save(file)
        with pytest.raises(paritas.InvalidInput, match=f"digest {data.model}"):
            other.read_data(file)
        data.save(file, any_model=True)
        assert other.read_data(file).rows.tobytes() == data.rows.tobytes()
        assert other.read_data(file).model is None
    run_program("generate", TWO, "--any-model", "-o", path, "--ntoys", 2, "--seed", 7)
    assert other.read_data(path).rows.tobytes() == data.rows[:2].tobytes()


def test_places_that_cannot_be_written_cost_no_fit(tmp_path):
    said = run_program("toys", TWO, "--save", tmp_path / "none" / "toys.npz", code=5)
    assert "the toys could not be saved" in said
    _, _, path = drawn(tmp_path)
    assert "choose data with --toy" in run_program("toys", TWO, "--data", path, "--save", "x.npz", code=2)
    assert "would write over it" in run_program("toys", TWO, "--data", path, "--save", path, code=2)
