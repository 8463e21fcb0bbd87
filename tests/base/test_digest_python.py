"""Digests of the program are those that Python's json and hashlib give, for published documents and random
ones."""

import hashlib
import json
import math
import os
import pathlib
import random
import struct
import subprocess

import pytest

PROGRAM = os.environ.get("PARITAS_BIN", "build/release/bin/paritas")
ROOT = pathlib.Path(__file__).resolve().parents[2]

if not os.access(PROGRAM, os.X_OK):
    pytest.skip(f"no program at {PROGRAM}", allow_module_level=True)


def python_digest(document):
    return (
        "sha256:"
        + hashlib.sha256(json.dumps(document, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    )


def program_digest(path):
    done = subprocess.run([PROGRAM, "digest", "--json", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["digest"]


def random_text(rng):
    ranges = [(1, 0x7F), (0x20, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
    return "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(0, 12)))


def random_number(rng):
    kind = rng.randint(0, 4)
    if kind == 0:
        return rng.randint(-(10 ** rng.randint(1, 30)), 10 ** rng.randint(1, 30))
    if kind == 1:
        return round(rng.uniform(-1000, 1000), rng.randint(0, 10))
    if kind == 2:
        return rng.choice([0.0, -0.0, 1e16, 1e-5, 0.0001, 1e22, 5e-324, 1.7976931348623157e308, float(2**53)])
    while True:
        value = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]
        if math.isfinite(value):
            return value


def random_document(rng, depth=0):
    kind = rng.randint(0, 7 if depth < 5 else 4)
    if kind <= 2:
        return random_number(rng)
    if kind == 3:
        return random_text(rng)
    if kind == 4:
        return rng.choice([None, True, False])
    if kind == 5:
        return [random_document(rng, depth + 1) for _ in range(rng.randint(0, 6))]
    return {random_text(rng): random_document(rng, depth + 1) for _ in range(rng.randint(0, 24))}


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/**/*.json")), ids=lambda path: path.name)
def test_digest_of_an_example_is_pythons(path):
    assert program_digest(path) == python_digest(json.loads(path.read_text()))


@pytest.mark.parametrize("ascii_only", [False, True])
def test_digests_of_random_documents_are_pythons(tmp_path, ascii_only):
    rng = random.Random(20260101)
    for _ in range(30):
        document = {"document": [random_document(rng) for _ in range(20)]}
        path = tmp_path / "document.json"
        path.write_text(
            json.dumps(document, ensure_ascii=ascii_only, indent=rng.choice([None, 2])), encoding="utf-8"
        )
        assert program_digest(path) == python_digest(document)
