"""Recipes for package managers: every fact is filled in, and what can read a recipe here reads it."""

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile

import paritas
import pytest
import yaml
from package_support import TREE


@pytest.fixture(scope="module")
def recipes(tmp_path_factory):
    if not (TREE / ".git").exists():
        pytest.skip("the archive is made of a Git repository")
    folder = tmp_path_factory.mktemp("recipes")
    make = TREE / "packaging" / "make_recipes"
    command = [sys.executable, make, "--url", "https://paritas.invalid/paritas.tar.gz", "--into", folder]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and "tomllib" in done.stderr:
        pytest.skip("make_recipes needs Python 3.11")
    assert done.returncode == 0, done.stderr
    return folder


def test_every_fact_is_filled_in(recipes):
    made = [path for path in recipes.rglob("*") if path.is_file() and not path.name.endswith(".gz")]
    assert len(made) > 10
    for path in made:
        assert not re.search("@[A-Z0-9]+@", str(path) + path.read_text()), path
    assert f"paritas ({paritas.__version__}-1)" in (recipes / "debian" / "changelog").read_text()


def test_the_archive_has_the_sources_and_the_recipes_its_checksum(recipes):
    archive = recipes / f"paritas-{paritas.__version__}.tar.gz"
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    for name in ("homebrew/paritas.rb", "conda/recipe.yaml", "spack/package.py"):
        assert checksum in (recipes / name).read_text(), name
    with tarfile.open(archive) as files:
        assert f"paritas-{paritas.__version__}/include/paritas.h" in files.getnames()


def test_conda_asks_for_what_the_package_asks_for(recipes):
    recipe = yaml.safe_load((recipes / "conda" / "recipe.yaml").read_text())
    run = recipe["outputs"][1]["requirements"]["run"]
    assert run[0].startswith("python >=3") and run[1].startswith("numpy >=") and len(run) == 2
    assert recipe["context"]["version"] == paritas.__version__


def test_spack_and_homebrew_read_their_recipes(recipes):
    compile((recipes / "spack" / "package.py").read_text(), "package.py", "exec")
    if shutil.which("ruby") is None:
        pytest.skip("no Ruby")
    done = subprocess.run(["ruby", "-c", recipes / "homebrew" / "paritas.rb"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
