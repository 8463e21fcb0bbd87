"""Wheels of every system from one machine, of the objects of the archives: tools/make_release calls it.

CMake compiles one module for each Python (PARITAS_MODULES_FOR of python/CMakeLists.txt). Python's headers are
those of this machine's Pythons, with packaging/pyconfig.h for pyconfig.h. NumPy's come from its wheel for the
system. scikit-build-core writes the metadata, as for `pip install .`."""

import base64
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy
import scikit_build_core.build

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
OLDEST = 9
# where Pythons with headers lie: of the system, pyenv and uv
PLACES = ["/usr/include", "/usr/local/include"]
PLACES += ["~/.pyenv/versions/*/include", "~/.local/share/uv/python/*/include"]
# name of the archive: the wheel's platform, and how a module's name ends
SYSTEMS = {
    "linux-x86_64": ("manylinux_2_17_x86_64.manylinux2014_x86_64", ".cpython-{}-x86_64-linux-gnu.so"),
    "linux-x86_64-static": ("musllinux_1_2_x86_64", ".cpython-{}-x86_64-linux-musl.so"),
    "linux-arm64": ("manylinux_2_17_aarch64.manylinux2014_aarch64", ".cpython-{}-aarch64-linux-gnu.so"),
    "macos-arm64": ("macosx_11_0_arm64", ".cpython-{}-darwin.so"),
    "macos-x86_64": ("macosx_11_0_x86_64", ".cpython-{}-darwin.so"),
    "windows-x86_64": ("win_amd64", ".cp{}-win_amd64.pyd"),
}
LIBRARY_AND_PROGRAM = {
    "linux": ("libparitas_package.so", "paritas"),
    "macos": ("libparitas_package.dylib", "paritas"),
    "windows": ("libparitas_package.dll", "paritas.exe"),
}
NUMPY_FOR = {"windows": "win_amd64", "macos": "macosx_11_0_arm64"}
EXPORT = re.compile(r"PyAPI_(FUNC|DATA)\((?:[^()]|\([^()]*\))*\)\s*\(?\*?\s*(_?Py\w+(?:, _?Py\w+)*)")


def pythons(more):
    """{"313": folder of headers} of this machine's Pythons, and of the folders `more`, named pythonX.Y"""
    found = {}
    patterns = [os.path.join(os.path.expanduser(place), "python3.*") for place in PLACES]
    for folder in [*more, *sorted(sum(map(glob.glob, patterns), []))]:
        minor = re.search(r"python3\.(\d+)$", folder.rstrip("/"))
        if minor and int(minor.group(1)) >= OLDEST and os.path.exists(os.path.join(folder, "Python.h")):
            found.setdefault(f"3{minor.group(1)}", folder)
    return dict(sorted(found.items(), key=lambda one: int(one[0])))


def headers_of(version, source):
    """a copy of a Python's headers, for every system"""
    folder = os.path.join(BUILD, "headers", f"cp{version}")
    if not os.path.exists(folder):
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("pyconfig*.h"))
    shutil.copy2(os.path.join(ROOT, "packaging", "pyconfig.h"), folder)
    return folder


def numpy_headers(name):
    """of a NumPy for that system; they ask the compiler where processors differ"""
    system = name.split("-")[0]
    if system not in NUMPY_FOR:
        return numpy.get_include()
    folder = os.path.join(BUILD, "headers", f"numpy-{system}")
    include = os.path.relpath(numpy.get_include(), os.path.dirname(os.path.dirname(numpy.__file__)))
    if not os.path.exists(folder):
        words = [sys.executable, *"-m pip install --quiet --disable-pip-version-check --no-deps".split()]
        words += ["--only-binary=:all:", f"--platform={NUMPY_FOR[system]}", f"--target={folder}"]
        subprocess.run([*words, f"numpy=={numpy.__version__}"], check=True)
    return os.path.join(folder, include)


def import_library(version, headers, zig):
    """what a module for Windows is linked with: the names that Python's headers declare"""
    library = os.path.join(headers, f"libpython{version}.a")
    if not os.path.exists(library):
        names = set()
        for header in glob.glob(os.path.join(headers, "**", "*.h"), recursive=True):
            with open(header, encoding="utf-8") as file:
                found = EXPORT.findall(file.read())
            names.update((kind, one) for kind, several in found for one in several.split(", "))
        definition = os.path.join(headers, f"python{version}.def")
        with open(definition, "w") as file:
            file.write(f"LIBRARY python{version}.dll\nEXPORTS\n")
            file.writelines(f"{one}{' DATA' * (kind == 'DATA')}\n" for kind, one in sorted(names))
        subprocess.run([zig, "dlltool", "-m", "i386:x86-64", "-d", definition, "-l", library], check=True)
    return library


def modules(name, sources, zig):
    """{version: name of its module}, and what CMake is told of them"""
    names, told = {}, []
    if name not in SYSTEMS or not sources:
        return names, []
    for version, source in sources.items():
        headers = headers_of(version, source)
        names[version] = "_engine" + SYSTEMS[name][1].format(version)
        library = import_library(version, headers, zig) if name.startswith("windows") else ""
        told.append("|".join((names[version], headers, numpy_headers(name), library)))
    cython = os.path.join(os.path.dirname(sys.executable), "cython")
    flags = ["-DPARITAS_PYTHON=ON", f"-DPARITAS_CYTHON={cython}", f"-DPython_EXECUTABLE={sys.executable}"]
    return names, [*flags, f"-DPARITAS_MODULES_FOR={';'.join(told)}"]


@functools.cache
def metadata():
    """{path in dist-info: content}, as scikit-build-core has it"""
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(ROOT)
        inside = os.path.join(folder, scikit_build_core.build.prepare_metadata_for_build_wheel(folder))
        os.chdir(here)
        paths = glob.glob(os.path.join(inside, "**"), recursive=True)
        return {os.path.relpath(path, inside): read(path) for path in paths if os.path.isfile(path)}


def read(path):
    with open(path, "rb") as file:
        return file.read()


@functools.cache
def package():
    """{path in a wheel: content} of the package's Python sources"""
    paths = ["python/paritas", "python/paritas_program.py"]
    listed = subprocess.check_output(["git", "ls-files", *paths], cwd=ROOT, text=True).split()
    return {path[len("python/") :]: read(os.path.join(ROOT, path)) for path in listed}


def wheel(name, version, number, module, stage):
    """the name of a wheel of Paritas `number`, and {path: content}; `stage`: the unpacked archive"""
    tags = [f"cp{version}-cp{version}-{platform}" for platform in SYSTEMS[name][0].split(".")]
    info = f"paritas-{number}.dist-info"
    files = dict(package())
    folder = os.path.dirname(module)
    for path in (module, *(os.path.join(folder, one) for one in LIBRARY_AND_PROGRAM[name.split("-")[0]])):
        files[f"paritas/{os.path.basename(path)}"] = read(path)
    files["paritas/fields.pyi"] = read(os.path.join(folder, "..", "engine", "fields.pyi"))
    files.update({f"{info}/{path}": content for path, content in metadata().items()})
    about = ["Wheel-Version: 1.0", "Generator: paritas", "Root-Is-Purelib: false"]
    files[f"{info}/WHEEL"] = "\n".join([*about, *(f"Tag: {tag}" for tag in tags), ""]).encode()
    for text in os.listdir(os.path.join(stage, "licences")):
        files[f"{info}/licenses/{text}"] = read(os.path.join(stage, "licences", text))
    files[f"{info}/sboms/sbom.cdx.json"] = read(os.path.join(stage, "sbom.cdx.json"))
    files = dict(sorted(files.items()))
    record = f"{info}/RECORD"
    files.pop(record, None)
    rows = [f"{path},sha256={digest(content)},{len(content)}\n" for path, content in files.items()]
    files[record] = "".join([*rows, f"{record},,\n"]).encode()
    return f"paritas-{number}-cp{version}-cp{version}-{SYSTEMS[name][0]}.whl", files


def digest(content):
    """as RECORD has it"""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
