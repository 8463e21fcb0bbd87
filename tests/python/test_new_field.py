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
LAST = 'FIELD(R, paritas_fit_status, status, , "status", "", "outcome of the fit")\ntypedef struct paritas_gof_result'
ADDED = 'FIELD(R, double, per_bin, , "per_bin", "", "a field more")'
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


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """The folder with the program and the package of the longer list."""
    folder = tmp_path_factory.mktemp("changed")
    headers, package = folder / "include", folder / "python" / "paritas"
    shutil.copytree(os.path.join(ROOT, "include"), headers)
    shutil.copytree(os.path.join(ROOT, "python", "paritas"), package, ignore=shutil.ignore_patterns("*.so"))
    header = headers / "paritas_statistics.h"
    text = header.read_text()
    assert text.count(LAST) == 1
    header.write_text(text.replace(LAST, LAST.replace("\ntypedef", f" \\\n    {ADDED}\ntypedef")))
    with open(os.path.join(BUILD, "compile_commands.json")) as file:
        commands = {os.path.basename(one["file"]): one for one in json.load(file)}

    def compiled(name, source=None):
        """The object of a file of the build, from the changed headers."""
        command, made = shlex.split(commands[name]["command"]), str(folder / f"{name}.o")
        given = command.index("-o")
        command[given : given + 2] = []
        command = [f"-I{headers}" if one == f"-I{ROOT}/include" else one for one in command]
        command[-1] = source or command[-1]
        run(*command, "-O0", "-o", made, cwd=commands[name]["directory"])
        return made

    engine = os.path.join(ROOT, "python", "engine")
    compiler = shlex.split(commands["gof.c"]["command"])[0]
    declare = os.path.join(engine, "declare_interface.py")
    run(sys.executable, declare, "--headers", str(headers), "--into", str(folder), compiler)
    source = str(folder / "_engine.c")
    module = os.path.join(engine, "_engine.pyx")
    run(CYTHON, "-3", "-I", str(folder), "--module-name", "paritas._engine", module, "-o", source)
    library = [compiled("records.c"), compiled("gof.c"), os.path.join(BUILD, "libparitas.a")]
    library += ["-lsqlite3", "-lm", "-lpthread", "-ldl"]
    shared = str(package / "_engine.so")
    run(compiler, "-shared", compiled("_engine.c", source), *library, "-o", shared)
    objects = os.path.join(BUILD, "CMakeFiles", "paritas_program.dir", "cli")
    others = [name for name in os.listdir(objects) if name.endswith(".o") and name != "command_gof.c.o"]
    others = [os.path.join(objects, name) for name in others]
    run(compiler, compiled("command_gof.c"), *others, *library, "-o", str(folder / "paritas"))
    return folder


def test_the_field_is_an_attribute_with_its_description(changed):
    environment = {**os.environ, "PYTHONPATH": str(changed / "python")}
    found = json.loads(run(sys.executable, "-c", IN_PYTHON, WORKSPACE, env=environment))
    value, by_name, html, description = found
    assert value == 0.0 and by_name["per_bin"] == 0.0
    assert "<td>per_bin</td>" in html and description == "a field more"


def test_type_checkers_see_the_field(changed):
    text = (changed / "fields.pyi").read_text()
    result = text[text.index("class gof_result(") : text.index("class gof_result_rows(")]
    assert "    per_bin: float\n" in result


def test_the_program_writes_the_field(changed):
    assert '"per_bin":' in run(str(changed / "paritas"), "gof", WORKSPACE, "--json", "--quiet")
