"""tools/check_wasm finds instructions of WebAssembly whose result an engine may choose."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_wasm"
RELAXED_MIN, RELAXED_MADD, PLAIN_MIN = b"\xfd\x8f\x02", b"\xfd\x87\x02", b"\xfd\xf4\x01"


def module(*instructions):
    """a module with a function of these, which is read and never run"""
    body = b"\x01\x02\x7b" + b"".join(instructions) + b"\x0b"  # two local variables of type v128
    code = b"\x01" + bytes([len(body)]) + body
    types = b"\x01\x04\x01\x60\x00\x00"
    return b"\0asm\1\0\0\0" + types + b"\x0a" + bytes([len(code)]) + code


def constant(text):
    return b"\xfd\x0c" + text.ljust(16, b"\0")


def check(folder, content):
    path = folder / "program.wasm"
    path.write_bytes(content)
    return subprocess.run([sys.executable, CHECK, path], capture_output=True, text=True)


def test_relaxed_minima_are_found(tmp_path):
    done = check(tmp_path, module(constant(b""), b"\x20\x00", RELAXED_MIN, b"\x1a"))
    assert done.returncode == 1
    assert "1 times f64x2.relaxed_min, which may differ" in done.stdout and "5 instructions" in done.stdout


def test_what_the_program_tries_or_only_looks_like_one_passes(tmp_path):
    """bytes of a constant are no instruction"""
    done = check(tmp_path, module(constant(RELAXED_MIN), constant(b""), PLAIN_MIN, b"\x1a"))
    assert done.returncode == 0 and "relaxed" not in done.stdout
    done = check(tmp_path, module(*[constant(b"")] * 3, RELAXED_MADD, b"\x1a"))
    assert done.returncode == 0 and "1 times f64x2.relaxed_madd\n" in done.stdout


@pytest.mark.parametrize(
    "content, message",
    [
        (b"MZ" + bytes(20), "not a program in WebAssembly"),
        (module(b"\xff"), "unknown instruction"),
        (module(constant(b""))[:-9], "ends"),
    ],
)
def test_what_cannot_be_read_fails(tmp_path, content, message):
    done = check(tmp_path, content)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr
