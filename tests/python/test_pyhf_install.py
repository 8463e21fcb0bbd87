"""paritas.pyhf in place of pyhf: install(), python -m paritas.pyhf, the pytest plugin, absent backends, and
pyhf's program."""

import importlib
import json
import subprocess
import sys
import types

import numpy as np
import pytest
from pyhf_support import GENERATED, ROOT, compare

import paritas.pyhf

ENVIRONMENT_OF_BACKENDS = "PARITAS_PYHF_ABSENT_BACKEND"


def python(*arguments, folder, status=0):
    run = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, cwd=folder)
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout, run.stderr


@pytest.fixture
def installed(monkeypatch):
    """pyhf, imported before by other tests, is set aside with a warning and comes back."""
    monkeypatch.delenv(ENVIRONMENT_OF_BACKENDS, raising=False)
    with pytest.warns(UserWarning, match="imported before"):
        paritas.pyhf.install()
    yield
    paritas.pyhf.uninstall()


LAZY = ("optimize.opt_minuit", "contrib.utils", "infer.intervals.upper_limits", "readxml", "cli.infer")


@pytest.mark.parametrize("name", ("", "tensor", "optimize", "infer.mle", "parameters.paramsets", *LAZY))
def test_every_module_is_one_copy(installed, name):
    dotted = f".{name}" if name else ""
    theirs = importlib.import_module(f"pyhf{dotted}")
    ours = importlib.import_module(f"paritas.pyhf{dotted}")
    assert theirs is ours and sys.modules[f"pyhf{dotted}"] is ours
    assert ours.__spec__.name == ours.__name__ == f"paritas.pyhf{dotted}"
    assert importlib.import_module("pyhf").optimize.minuit_optimizer(verbose=0).name == "minuit"


def test_who_keeps_pyhf_is_said():
    holder = types.ModuleType("holder.of_pyhf")
    holder.infer = importlib.import_module("pyhf").infer
    sys.modules[holder.__name__] = holder
    try:
        with pytest.warns(UserWarning, match=r"do not run on Paritas: .*\bholder\b.*above their imports"):
            paritas.pyhf.install()
    finally:
        paritas.pyhf.uninstall()
        del sys.modules[holder.__name__]


def test_what_is_not_there_is_said(installed):
    with pytest.raises(ModuleNotFoundError, match="paritas.pyhf stands for pyhf and does not have it"):
        importlib.import_module("pyhf.typing")


def test_uninstall_brings_pyhf_back():
    before = importlib.import_module("pyhf")
    with pytest.warns(UserWarning):
        paritas.pyhf.install()
    assert importlib.import_module("pyhf") is paritas.pyhf
    paritas.pyhf.uninstall()
    assert importlib.import_module("pyhf") is before
    assert importlib.import_module("pyhf.infer.mle") is before.infer.mle
    paritas.pyhf.uninstall()  # has no effect


def test_levels_of_the_logger_pyhf_hold(installed, caplog):
    with caplog.at_level("ERROR", "pyhf"):
        paritas.pyhf.infer.test_statistics.log.warning("quiet")
    assert not caplog.records


def test_absent_backends(installed, monkeypatch):
    with pytest.raises(paritas.pyhf.exceptions.ImportBackendError):
        paritas.pyhf.set_backend("jax")
    paritas.pyhf.install(absent_backend="numpy")
    with pytest.warns(UserWarning, match="jax") as told:
        paritas.pyhf.set_backend("jax")
        paritas.pyhf.set_backend("jax")
    assert len(told) == 1 and paritas.pyhf.tensorlib.name == "numpy"
    paritas.pyhf.install()
    monkeypatch.setenv(ENVIRONMENT_OF_BACKENDS, "numpy")
    with pytest.warns(UserWarning, match="pytorch"):
        paritas.pyhf.set_backend("pytorch")
    monkeypatch.setenv(ENVIRONMENT_OF_BACKENDS, "torch")
    with pytest.raises(ValueError, match=f"{ENVIRONMENT_OF_BACKENDS} is 'torch'"):
        paritas.pyhf.set_backend("pytorch")
    with pytest.raises(ValueError, match="absent_backend"):
        paritas.pyhf.install(absent_backend="torch")


PROGRAM = """
import sys, warnings
import helper
import pyhf.infer.mle, pyhf, paritas.pyhf
assert pyhf is paritas.pyhf and __name__ == "__main__"
print(sys.argv[1:], sys.path[0])
sys.exit(7)
"""


def test_a_program_runs_as_python_runs_it(tmp_path):
    place = tmp_path / "scripts"
    place.mkdir()
    (place / "program.py").write_text(PROGRAM)
    (place / "helper.py").write_text("")
    package = ("-m", "paritas.pyhf")
    out, _ = python(*package, "scripts/program.py", "-m", "--x", folder=tmp_path, status=7)
    assert out == f"['-m', '--x'] {place}\n"
    out, _ = python(*package, "-m", "program", "y", folder=place, status=7)
    assert out == f"['y'] {place}\n"
    _, told = python(*package, "absent.py", folder=tmp_path, status=2)
    assert "there is no file absent.py" in told


def test_a_package_that_came_with_pyhf(tmp_path):
    for module, package in (("yaml", "pyyaml"), ("jsonpatch", "jsonpatch")):
        (tmp_path / "program.py").write_text(f"import sys\nsys.modules[{module!r}] = None\nimport {module}\n")
        _, told = python("-m", "paritas.pyhf", "program.py", folder=tmp_path, status=1)
        assert told.endswith(f"It comes with pyhf, not with Paritas: python -m pip install {package}\n")
    (tmp_path / "program.py").write_text("import nosuch\n")
    _, told = python("-m", "paritas.pyhf", "program.py", folder=tmp_path, status=1)
    assert told.endswith("No module named 'nosuch'\n")


def test_the_pytest_plugin(tmp_path):
    (tmp_path / "conftest.py").write_text("import pyhf\nassert pyhf.__name__ == 'paritas.pyhf'\n")
    (tmp_path / "test_it.py").write_text(
        "import pyhf, pytest\n"
        "def test_it():\n"
        "    with pytest.warns(UserWarning, match='jax'):\n"
        "        pyhf.set_backend('jax')\n"
    )
    plugin = ("-p", "paritas.pyhf.pytest_plugin", "--absent-backend", "numpy", "-p", "no:cacheprovider")
    out, _ = python("-m", "pytest", "-q", *plugin, folder=tmp_path)
    assert "1 passed" in out


def cells(table):
    """Words of each line; rules are drawn by taste."""
    return [line.split() for line in table.splitlines() if line.strip(" -")]


COMMANDS = [
    ("fit", "--value"),
    ("fit", "--optimizer", "minuit", "--optconf", "tolerance=0.01"),
    ("cls", "--test-poi", "0.5", "--test-stat", "q"),
    ("digest", "-a", "md5", "-a", "sha256", "-j"),
    ("digest",),
    ("sort",),
    ("inspect",),
    ("prune", "-c", "{channel}"),
    ("rename", "--channel", "{channel}", "renamed"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
@pytest.mark.filterwarnings("ignore")
def test_commands_answer_as_pyhf_s(command, tmp_path, capsys):
    testing = pytest.importorskip("click.testing")
    theirs = pytest.importorskip("pyhf.cli").cli
    if command[0] == "prune":
        document = next(one for one in GENERATED if len(one["channels"]) > 1)
    elif command[0] == "fit" and "minuit" in command and importlib.util.find_spec("iminuit") is None:
        pytest.skip("iminuit is not installed")
    else:
        document = json.loads((ROOT / "examples" / "two_bins.json").read_text())
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps(document))
    words = [word.format(channel=document["channels"][0]["name"]) for word in command]
    arguments = [words[0], str(path), *words[1:]]
    from paritas.pyhf.cli import cli

    try:
        cli(arguments)
    finally:
        paritas.pyhf.set_backend("numpy")
    mine, other = capsys.readouterr().out, testing.CliRunner().invoke(theirs, arguments)
    assert other.exit_code == 0, other.output
    try:
        asked = json.loads(other.output)
    except ValueError:  # tables
        assert cells(mine) == cells(other.output)
    else:
        compare(json.loads(mine), asked, 5e-3)


def test_the_program_s_mistakes(capsys):
    from paritas.pyhf.cli import cli

    for arguments in (["no-such-command"], ["cls", "--test-stat", "q7"], ["xml2json", "absent.xml"]):
        with pytest.raises(SystemExit) as ended:
            cli(arguments)
        assert ended.value.code == 2
    with pytest.raises(SystemExit) as ended:
        cli(["--version"])
    assert ended.value.code == 0 and paritas.__version__ in capsys.readouterr().out


def test_a_constraint_of_a_batch_of_one():
    model = paritas.pyhf.simplemodels.correlated_background([5.0], [50.0], [52.0], [48.0], batch_size=1)
    constraint = paritas.pyhf.constraints.gaussian_constraint_combined(model.config, batch_size=1)
    found = constraint.logpdf([0.0], [0.5, 1.0])
    assert found.shape == (1,) and found == pytest.approx(-0.125 - 0.5 * np.log(2 * np.pi))
