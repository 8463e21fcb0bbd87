"""A field that is added to a record's list is in Python and in the program's JSON without any other change.

The library is compiled with one more field in the list of paritas_gof_result, which two of its files and one
of the program's use. All other objects are those of the build.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
BUILD = os.path.dirname(os.path.dirname(PROGRAM))
CYTHON = os.path.join(os.path.dirname(sys.executable), "cython")
WORKSPACE = os.path.join(ROOT, "examples", "two_bins.json")
FIELD = 'FIELD(R, double, p, , "p", "", "chi-squared probability of the statistic")'
ADDED = 'FIELD(R, double, per_bin, , "per_bin", "", "a field more") '
IN_PYTHON = """
import json, sys, paritas
from paritas.results import GoodnessOfFit
found = paritas.Model.from_workspace(sys.argv[1]).goodness_of_fit()
print(json.dumps([found.per_bin, found.to_dict(), found._repr_html_(), GoodnessOfFit.per_bin.__doc__]))
"""

pytest.importorskip("paritas")
pytestmark = pytest.mark.skipif(
    not os.path.exists(os.path.join(BUILD, "compile_commands.json")) or not os.path.exists(CYTHON),
    reason="needs the folder that the package was built in, and Cython",
)


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture
def changed(tmp_path):
    """The folder with the program and the package of the longer list."""
    headers, package = tmp_path / "include", tmp_path / "python" / "paritas"
    shutil.copytree(os.path.join(ROOT, "include"), headers)
    shutil.copytree(os.path.join(ROOT, "python", "paritas"), package, ignore=shutil.ignore_patterns("*.so"))
    header = headers / "paritas_statistics.h"
    text = header.read_text()
    assert text.count(FIELD) == 1
    header.write_text(text.replace(FIELD, ADDED + FIELD))
    with open(os.path.join(BUILD, "compile_commands.json")) as file:
        every = [one for one in json.load(file) if "paritas_package.dir" not in one["command"]]
    commands = {os.path.relpath(one["file"], ROOT): one for one in every}

    def command_of(name):
        """The command that compiles a file of the build, without the object; the object."""
        words = shlex.split(commands[name]["command"])
        at = words.index("-o")
        return words[:at] + words[at + 2 :], os.path.join(commands[name]["directory"], words[at + 1])

    def compiled(name, source=None):
        """The object of a file, from the changed headers."""
        command, made = command_of(name)[0], str(tmp_path / f"{'-'.join(name.split(os.sep))}.o")
        command = [f"-I{headers}" if one == f"-I{ROOT}/include" else one for one in command]
        command[-1] = source or command[-1]
        run(*command, "-O0", "-o", made, cwd=commands[name]["directory"])
        return made

    engine, source = os.path.join(ROOT, "python", "engine"), str(tmp_path / "_engine.c")
    module, declare = os.path.join(engine, "_engine.pyx"), os.path.join(engine, "declare_interface.py")
    compiler = command_of("src/toys/gof.c")[0][0]
    run(sys.executable, declare, "--headers", str(headers), "--into", str(tmp_path), compiler)
    run(CYTHON, "-3", "-I", str(tmp_path), "--module-name", "paritas._engine", module, "-o", source)
    library = [
        compiled("src/base/records.c"),
        compiled("src/toys/gof.c"),
        os.path.join(BUILD, "libparitas.a"),
    ]
    library += ["-lsqlite3", "-lz", "-lm", "-lpthread", "-ldl"]
    bindings = compiled(os.path.relpath(os.path.join(BUILD, "python", "_engine.c"), ROOT), source)
    run(compiler, "-shared", bindings, *library, "-o", str(package / "_engine.so"))
    others = [
        command_of(name)[1]
        for name in commands
        if name.startswith("cli/") and name != "cli/commands/models/gof.c"
    ]
    run(compiler, compiled("cli/commands/models/gof.c"), *others, *library, "-o", str(tmp_path / "paritas"))
    return tmp_path


def test_a_new_field_is_everywhere(changed):
    environment = {**os.environ, "PYTHONPATH": str(changed / "python")}
    value, by_name, html, doc = json.loads(run(sys.executable, "-c", IN_PYTHON, WORKSPACE, env=environment))
    assert value == 0.0 and by_name["per_bin"] == 0.0
    assert "<td>per_bin</td>" in html and doc == "a field more"
    stubs = (changed / "fields.pyi").read_text()
    assert (
        "    per_bin: float\n"
        in stubs[stubs.index("class gof_result(") : stubs.index("class gof_result_rows(")]
    )
    assert '"per_bin":' in run(str(changed / "paritas"), "gof", WORKSPACE, "--json", "--quiet")
