"""What a build says where something is missing or too old, and how tests/run tells what it did not do."""

import os
import shutil
import stat
import subprocess
import sys
import textwrap

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPILER = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
SMALL = ["-DPARITAS_TESTS=OFF", "-DPARITAS_EMBED_PTX=OFF", "-DPARITAS_VARIANTS=f64_portable"]


def script(path, text):
    path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def run(words, **environment):
    changed = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=ROOT, env=changed)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def configure(folder, *arguments, **environment):
    return run(["cmake", "-S", ROOT, "-B", str(folder), *SMALL, *arguments], **environment)


def compiler_of(folder):
    lines = (folder / "CMakeCache.txt").read_text().splitlines()
    return next(line.split("=", 1)[1] for line in lines if line.startswith("CMAKE_C_COMPILER:"))


@pytest.fixture
def old(tmp_path):
    """A compiler that lacks what gcc 11 lacks."""
    return script(tmp_path / "old", f'exec {COMPILER} -D__builtin_shufflevector=absent "$@"')


def test_a_compiler_that_is_too_old_is_named_and_then_forgotten(tmp_path, old):
    code, said = configure(tmp_path / "build", CC=old)
    assert code != 0 and "too old for the kernels" in said and old in said and "apt-get install clang" in said
    code, said = configure(tmp_path / "build", CC=COMPILER)
    assert code == 0, said
    assert os.path.realpath(compiler_of(tmp_path / "build")) == os.path.realpath(COMPILER)


def test_another_compiler_in_CC_is_taken_in_the_same_folder(tmp_path):
    other = script(tmp_path / "other", f'exec {COMPILER} "$@"')
    assert configure(tmp_path / "build", CC=COMPILER)[0] == 0
    code, said = configure(tmp_path / "build", CC=other)
    assert code == 0 and f"is now {other}, as CC says" in said
    assert compiler_of(tmp_path / "build") == other
    code, said = configure(tmp_path / "build", CC=None)  # and kept
    assert code == 0 and compiler_of(tmp_path / "build") == other


def test_missing_headers_are_named_at_once_with_their_packages(tmp_path):
    absent = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("ZLIB", "SQLite3")]
    if os.path.exists(os.path.join(ROOT, "build", "sources")):
        pytest.skip("sources of both lie in build/sources, so nothing is missing")
    # pip's build names the folder where headers would be
    python = [f"-DPython_EXECUTABLE={sys.executable}", f"-DPython_INCLUDE_DIR={tmp_path / 'include'}"]
    code, said = configure(tmp_path / "build", *absent, "-DPARITAS_PYTHON=ON", *python, CC=COMPILER)
    assert code != 0
    assert "Missing: zlib's header, SQLite's header, Python's headers" in said
    assert "apt-get install zlib1g-dev libsqlite3-dev python3-dev" in said and "tools/fetch_sources" in said


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has apt-get")
def test_setup_tells_a_user_without_sudo_what_an_administrator_installs(tmp_path):
    """In a PATH of apt-get and of what setup itself calls."""
    for name in ("bash", "dirname", "env", "uname", "grep", "python3"):
        (tmp_path / name).symlink_to(shutil.which(name))
    script(tmp_path / "apt-get", "echo apt-get was called; exit 1")
    script(tmp_path / "dpkg-query", "exit 1")
    script(tmp_path / "id", "echo 1000")
    code, said = run(["tools/setup", "build"], PATH=str(tmp_path), CC=None)
    assert code != 0 and "no sudo" in said and "apt-get was called" not in said
    assert "apt-get install -y --no-install-recommends clang" in said


def progress(tmp_path, text, code=0):
    build = script(tmp_path / "build", f"cat <<'END'\n{text}\nEND\nexit {code}\n")
    return run(["tools/show_progress", "building", str(tmp_path / "log"), build])


def test_progress_is_shown_in_tens_of_percent_for_make_and_for_ninja(tmp_path):
    assert progress(tmp_path, "[  4%] a\n[ 10%] b\n[ 19%] c\n[ 55%] d\n[100%] e") == (
        0,
        "building ... 10 % 50 % 100 %",
    )
    assert progress(tmp_path, "[3/60] a\n[30/60] b\n[60/60] c") == (0, "building ... 50 % 100 %")


def test_what_a_failed_build_said_is_shown(tmp_path):
    code, said = progress(tmp_path, "[ 10%] a\nerror: no such thing", 3)
    assert code != 0 and said.endswith("error: no such thing")


def test_skipped_cases_are_counted_by_their_reasons_and_failures_stay_whole(tmp_path):
    tap = (
        "1..4\nok 1 - a\n# skipped: no card\nok 2 # SKIP b\n# skipped: no card\nok 3 # SKIP c\nok 4 # SKIP d"
    )
    programs = {
        "tap": f"printf '%s\\n' '{tap}'",
        "whole": "echo it has no driver; exit 77",
        "fails": "i=0; while [ $i -lt 200 ]; do echo line $i; i=$((i + 1)); done; exit 1",
    }
    lines = [f'add_test({name} "{script(tmp_path / name, text)}")' for name, text in programs.items()]
    (tmp_path / "CTestTestfile.cmake").write_text("\n".join(lines))
    code, said = run([sys.executable, "tests/run", "--build", str(tmp_path), "--only", "c"])
    assert code == 1
    assert "skipped 2: no card" in said and "skipped 1: it has no driver" in said
    assert "skipped 1: no reason is said" in said
    assert said.endswith("1 passed, 1 failed, 4 skipped")
    assert "line 199" in said and "line 100 " not in said
    assert str(tmp_path / "failed.txt") in said
    assert "line 100\n" in (tmp_path / "failed.txt").read_text()
