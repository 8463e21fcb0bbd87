"""tools/check_prose finds sentences that are hard to read, and leaves plain ones alone."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("codespell_lib")
pytest.importorskip("proselint")

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGIN = "# A page\n\nFit a workspace:\n\n```console\n$ paritas fit examples/two_bins.json\n```\n\n"


def faults(tmp_path, text):
    (tmp_path / "page.md").write_text(text)
    gate = os.path.join(ROOT, "tools", "check_prose")
    done = subprocess.run(
        [sys.executable, gate, "--root", tmp_path, "page.md"], capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    assert (done.returncode == 0) == (", 0 faults" in done.stdout)
    return done.stdout


def test_plain_sentences_pass(tmp_path):
    plain = "Toy t depends on the seed and t. If no toy reaches q0, `Z_at_least` is a lower limit on Z.\n"
    assert ", 0 faults" in faults(tmp_path, BEGIN + plain)


HARD = [
    ("length", "This sentence goes on " + "and on " * 12 + "until nobody knows how it began."),
    ("relative", "It is a larger p0 than which would have shown in 95 of 100 runs."),
    ("relative", "A row in which another bin would have none is refused."),
    ("relative", "The bits are others than without it."),
    ("chain", "The error is that of the fit."),
    ("chain", "Devices such as this one flush small numbers."),
    ("front", "Of 20 000 toys none has another q."),
    ("front", "What is not given in a call is as in the workspace."),
    ("front", "Where the geometry does not tell, an option does."),
    ("negative", "Electrons are reflected, but for those in the cone."),
    ("riddle", "It is there to look at f32, not for results."),
    ("own word", "A model need not be made anew each time."),
    ("own word", "Energies are shifted, as was usual."),
    ("twice", "The the model is frozen."),
    ("width", "Words " * 20),
    ("proselint", "This is very unique."),
]


def test_hard_sentences_are_found_by_their_rules(tmp_path):
    first = BEGIN.count("\n") + 1  # its line; each has a paragraph of its own
    found = faults(tmp_path, BEGIN + "\n\n".join(sentence for _, sentence in HARD) + "\n")
    for k, (rule, sentence) in enumerate(HARD):
        assert f"page.md:{first + 2 * k}: {rule}: " in found, sentence


def test_a_misspelt_word_is_found(tmp_path):
    assert "occured ==> occurred" in faults(tmp_path, BEGIN + "An error occured.\n")


def test_a_page_begins_with_something_that_runs(tmp_path):
    assert ": begin: " in faults(tmp_path, "# A page\n\nIt explains. It never shows anything.\n")
    assert ": begin: " in faults(tmp_path, "Fit a workspace.\n")


NAMELESS = [
    "Of the parameter of interest.",
    "None of these toys may exist.",
    "NULL: out of memory.",
    "kap 0: expected.",
    "At HF_S_X.",
    "Those of columns that no record describes.",
]
NAMED = [
    "Index of the parameter of interest.",
    "Returns NULL without memory.",
    "Without a context only this patch fails.",
    "Only fits are polished.",
    "Also renames the parameters of interest.",
    "Where the answers go.",
]


@pytest.mark.parametrize("named", (False, True))
def test_a_comment_makes_sense_without_the_name_below(tmp_path, named):
    (tmp_path / "src").mkdir()
    listed = NAMED if named else NAMELESS
    code = "".join(f"/* {comment} */\nint f{k}(void);\n" for k, comment in enumerate(listed))
    (tmp_path / "src" / "page.h").write_text(code)
    gate = os.path.join(ROOT, "tools", "check_prose")
    done = subprocess.run(
        [sys.executable, gate, "--root", tmp_path, "src/page.h"], capture_output=True, text=True
    )
    found = [f"src/page.h:{1 + 2 * k}: nameless: " in done.stdout for k in range(len(listed))]
    assert found == [not named] * len(listed), done.stdout
