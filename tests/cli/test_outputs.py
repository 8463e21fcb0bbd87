"""A file that is read is never written over, by no name and through no link."""

import os
import shutil
import subprocess
import sys

import pytest
from test_cli import PROGRAM, ROOT, TWO, run

COMMANDS = ["fit", "nll", "limit", "predict", "inspect", "digest", "generate", "convert", "prune", "rename"]


@pytest.fixture()
def workspace(tmp_path):
    return shutil.copy(TWO, tmp_path / "ws.json")


def unchanged(path):
    with open(path, "rb") as file, open(TWO, "rb") as other:
        return file.read() == other.read()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_workspace_is_not_written_over(workspace, command):
    done = run(command, workspace, "-o", workspace)
    assert done.returncode == 2 and unchanged(workspace)
    assert f"--output-file {workspace}: the command reads that file" in done.stderr


def test_sort_may_replace_its_workspace(workspace):
    assert run("sort", workspace, "-o", workspace).returncode == 0 and not unchanged(workspace)


def test_links_and_other_spellings_are_seen(workspace, tmp_path):
    os.symlink(workspace, tmp_path / "symbolic")
    os.link(workspace, tmp_path / "hard")
    for name in ["symbolic", "hard", f"../{tmp_path.name}/ws.json"]:
        assert run("fit", workspace, "-o", tmp_path / name).returncode == 2
        assert run("fit", tmp_path / name, "-o", workspace).returncode == 2
    assert unchanged(workspace)


@pytest.mark.parametrize("option", ["--patch", "--data", "--groups"])
def test_files_of_options_are_seen(workspace, tmp_path, option):
    given = tmp_path / "given"
    given.write_text("[]")
    command = "ranking" if option == "--groups" else "fit"
    assert run(command, workspace, option, given, "-o", given).returncode == 2
    assert given.read_text() == "[]"


def test_an_answer_does_not_replace_the_store(workspace, tmp_path):
    store = tmp_path / "toys.db"
    words = ["toys", workspace, "--ntoys", 20, "--store", store]
    assert run(*words, "-o", store).returncode == 2 and not store.exists()
    assert run(*words).returncode == 0
    assert run(*words, "--resume", "-o", store).returncode == 2
    assert store.read_bytes().startswith(b"SQLite")


def test_labelled_cards_and_histograms_of_cards_are_seen(tmp_path):
    card = shutil.copy(os.path.join(ROOT, "examples", "datacard.txt"), tmp_path / "card.txt")
    assert run("combine", f"a={card}", f"b={TWO}", "-o", card).returncode == 2
    for name in ["shapes.txt", "shapes.root"]:
        shutil.copy(os.path.join(ROOT, "tests", "datacard", name), tmp_path)
    histograms = tmp_path / "shapes.root"
    before = histograms.read_bytes()
    done = run("fit", tmp_path / "shapes.txt", "-o", histograms)
    assert done.returncode == 2 and "histograms of the datacard" in done.stderr
    assert histograms.read_bytes() == before


def test_other_words_may_name_the_answer(workspace, tmp_path):
    done = subprocess.run(
        [PROGRAM, "fit", "ws.json", "--measurement", "measurement", "-o", "measurement"], cwd=tmp_path
    )
    again = subprocess.run(
        [PROGRAM, "fit", "ws.json", "--measurement", "measurement", "-o", "measurement"], cwd=tmp_path
    )
    assert done.returncode == again.returncode == 0


@pytest.mark.parametrize("command", [["report"], ["convert", "--to", "hs3"]])
def test_python_commands_keep_their_input(workspace, tmp_path, command):
    pytest.importorskip("paritas")
    os.symlink(workspace, tmp_path / "link")
    for name in [workspace, tmp_path / "link"]:
        words = [sys.executable, "-m", "paritas", *command, str(workspace), "-o", str(name)]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 2 and "reads that file" in done.stderr and unchanged(workspace)
