"""What differs between operating systems: names of files, pipes, replaced files, locks, killed programs.

The Windows gate runs this file under wine, with PARITAS_BIN a script that starts paritas.exe."""

import json
import os
import shutil
import sqlite3
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
TWO = os.path.join(ROOT, "examples", "two_bins.json")


def run(*arguments, **options):
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=300, **options)


def test_a_file_may_have_any_name(tmp_path):
    folder = tmp_path / "Größe µ 質量"
    folder.mkdir()
    path = folder / "Σ bins 'ä'.json"
    shutil.copy(TWO, path)
    answer = folder / "réponse.json"
    assert run("nll", path, "--json", "-o", answer).returncode == 0
    assert answer.read_bytes() == run("nll", TWO, "--json").stdout


def test_an_error_shows_the_name_as_it_was_given(tmp_path):
    done = run("nll", "not ħere.json", cwd=tmp_path)
    assert done.returncode != 0
    assert done.stderr.decode() == "paritas: not ħere.json: No such file or directory\n"


def test_a_folder_is_no_workspace(tmp_path):
    done = run("nll", ".", cwd=tmp_path)
    assert done.stderr.decode() == "paritas: .: is a directory\n"


def test_lines_end_in_one_byte(tmp_path):
    for words in (["fit", TWO], ["fit", TWO, "--json"], ["--help"], ["fit", "--help"]):
        assert b"\r" not in run(*words).stdout
    assert b"\r" not in run("fit").stderr


def test_a_workspace_comes_through_a_pipe():
    with open(TWO, "rb") as file:
        done = run("nll", "-", "--json", stdin=file)
    assert json.loads(done.stdout)["twice_nll"] == json.loads(run("nll", TWO, "--json").stdout)["twice_nll"]


def test_an_answer_replaces_the_old_one_and_leaves_nothing_beside_it(tmp_path):
    answer = tmp_path / "answer.json"
    answer.write_text("old")
    assert run("nll", TWO, "--json", "-o", answer).returncode == 0
    assert json.loads(answer.read_text())
    assert os.listdir(tmp_path) == ["answer.json"]


def test_a_wrong_command_keeps_the_old_answer(tmp_path):
    answer = tmp_path / "answer.json"
    answer.write_text("old")
    assert run("nll", TWO, "--poi", "nothing", "-o", answer).returncode != 0
    assert answer.read_text() == "old"


def test_an_answer_needs_its_folder(tmp_path):
    done = run("nll", TWO, "-o", "missing/answer.json", cwd=tmp_path)
    assert done.returncode != 0
    assert b"missing/answer.json: cannot be written: No such file or directory" in done.stderr


def toys_in(store):
    try:
        connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        found = connection.execute("SELECT count(*) FROM toys").fetchone()[0]
        connection.close()
        return found
    except sqlite3.OperationalError:  # not there yet, or busy
        return 0


def test_one_program_at_a_time_writes_a_store_and_a_killed_one_leaves_its_rows(tmp_path):
    store = tmp_path / "toys.db"
    toys = ["toys", TWO, "--seed", "3", "--quiet", "--store", store]
    with subprocess.Popen([PROGRAM, *map(str, toys), "--ntoys", "100000000"]) as first:
        for _ in range(300):
            if toys_in(store) > 0:
                break
            time.sleep(0.1)
        second = run(*toys, "--ntoys", "100000000", "--resume")
        merged = run("merge", store, "-o", tmp_path / "merged.db")
        first.kill()
    assert b"is in use by another process" in second.stderr
    assert b"is in use by another process" in merged.stderr
    assert toys_in(store) > 0
