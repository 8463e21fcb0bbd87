"""Names come from files of strangers: what a terminal obeys is spelt out, in answers, notes and messages."""

import json
import os
import re
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
# control letters of C0 and C1, ends of lines, directions of writing, no width
HIDDEN = "\x1b]0;title\x07\x1b[2J\r\x0b\x7f\x9b1m\n\u2028\u202e\u2066\u200b\ufeff"
SHOWN = re.compile("[^\n\x20-\x7e\xa0-\u0600\u0620-\u1fff\u2010-\u2027\u2030-\u205f\u2070-\ufefe]")
NAMES = ("channel", "sample", "background", "mu", "shift", "measurement")


def workspace(tail):
    channel, sample, background, mu, shift, measurement = (name + tail for name in NAMES)
    factor = {"name": mu, "type": "normfactor", "data": None}
    moved = {"name": shift, "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    return {
        "version": "1.0.0",
        "channels": [
            {
                "name": channel,
                "samples": [
                    {"name": sample, "data": [5.0, 3.0], "modifiers": [factor]},
                    {"name": background, "data": [50.0, 60.0], "modifiers": [moved]},
                ],
            }
        ],
        "observations": [{"name": channel, "data": [58, 61]}],
        "measurements": [{"name": measurement, "config": {"poi": mu, "parameters": []}}],
    }


def patchset(tail):
    meta = {"name": "patch", "values": [1]}
    document = {
        "version": "1.0.0",
        "metadata": {
            "name": "set",
            "description": "what" + tail,
            "labels": ["label"],
            "references": {"hepdata": "ins1234567"},
            "digests": {"sha256": "0" * 64},
        },
        "patches": [{"metadata": meta, "patch": []}],
    }
    return document


COMMANDS = [
    "fit W",
    "fit W --minos all",
    "fit W --starts 3",
    "fit W --fix MU=40",
    "nll W --gradient",
    "inspect W",
    "predict W",
    "ranking W",
    "ranking W --impacts global",
    "hypotest W --mu 1",
    "limit W",
    "significance W",
    "scan W --start 0 --stop 1 --points 3",
    "contour W --par MU --par SHIFT --points 4",
    "gof W",
    "sample W --draws 20 --warmup 20 --chains 2",
    "toys W --ntoys 5",
    "interval W --ntoys 20",
    "patchset inspect P",
    "patchset extract P --name MU",
    "fit W --measurement MU",
    "fit W --fix SHIFTED=1",
    "fit W W",
    "fit MU",
    "prune W --channel MU",
    "rename W --sample MU NEW",
    "MU",
]


def run(tmp_path, command, tail, *more):
    files = {"W": ("w.json", workspace(tail)), "P": ("p.json", patchset(tail))}
    words = []
    for word in command.split():
        if word in files:
            name, document = files[word]
            (tmp_path / name).write_text(json.dumps(document))
            word = name
        word = re.sub("MU|SHIFT", lambda found: found[0].lower() + tail, word)
        words.append(word)
    done = subprocess.run([PROGRAM, *words, *more], cwd=tmp_path, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_a_terminal_obeys_is_printed(tmp_path, command):
    code, out, err = run(tmp_path, command, HIDDEN)
    plain_code, plain_out, plain_err = run(tmp_path, command, "x")
    assert code == plain_code
    assert SHOWN.findall(out + err) == []
    # a name that holds the end of a line makes no line of its own
    assert out.count("\n") == plain_out.count("\n")
    assert err.count("\n") == plain_err.count("\n")


def test_names_are_shown_by_their_letters(tmp_path):
    table = run(tmp_path, "fit W", HIDDEN)[1]
    shown = r"mu\x1b]0;title\x07\x1b[2J\x0d\x0b\x7f\u009b1m\x0a\u2028\u202e\u2066\u200b\ufeff"
    assert f"Parameter of interest: {shown} = " in table
    assert f"\n{shown}  " in table


def test_letters_of_any_language_stay(tmp_path):
    assert (
        "Parameter of interest: mu_ɑ→µ é 中 \U0001f600 = "
        in run(tmp_path, "fit W", "_ɑ→µ é 中 \U0001f600")[1]
    )


def test_json_has_the_names_themselves(tmp_path):
    answer = json.loads(run(tmp_path, "fit W", HIDDEN, "--json")[1])
    assert "mu" + HIDDEN in names_of(answer)


def names_of(tree):
    """all texts and keys of a JSON tree"""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from names_of(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from names_of(value)
    elif isinstance(tree, str):
        yield tree
