"""The public headers in C++: every initialiser sets the size, and no compiler warns."""

import pathlib
import re
import shutil
import subprocess

import pytest

INCLUDE = pathlib.Path(__file__).parents[2] / "include"
FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


def names(pattern):
    found = [name for header in INCLUDE.glob("*.h") for name in re.findall(pattern, header.read_text(), re.M)]
    assert len(found) > 10
    return sorted(set(found))


def program():
    check = "    {{ {0} one = {1}; wrong += one.size != sizeof one; }}"
    return "\n".join(
        [f'#include "{header.name}"' for header in sorted(INCLUDE.glob("*.h"))]
        + ["int main()", "{", "    int wrong = 0;"]
        + [
            check.format(f"paritas_{name.lower()}", f"PARITAS_{name}_DEFAULT")
            for name in names(r"^#define PARITAS_(\w+)_DEFAULT\b(?!\()")
        ]
        + [
            check.format(name, f"PARITAS_INIT({name})")
            + f"\n    {{ {name} two[2] = {{PARITAS_INIT({name})}}; wrong += two[1].size != 0; }}"
            for name in names(r"^typedef struct (paritas_\w+) \{\n    size_t size;")
        ]
        + ["    return wrong;", "}", ""]
    )


@pytest.mark.parametrize("standard", ["c++11", "c++17", "c++20"])
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_initialisers_compile_without_a_warning(compiler, standard, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not here")
    source, binary = tmp_path / "initialisers.cpp", tmp_path / "initialisers"
    source.write_text(program())
    command = [compiler, f"-std={standard}", *FLAGS, f"-I{INCLUDE}", str(source), "-o", str(binary)]
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    assert subprocess.run([str(binary)]).returncode == 0
