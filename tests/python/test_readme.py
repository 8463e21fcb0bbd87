"""README's examples in Python answer what it shows."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_readme_shows_what_python_answers():
    blocks = re.findall(r"```python\n(>>>.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README.md", "README.md", 0)
    here, said = os.getcwd(), []
    os.chdir(ROOT)
    try:
        result = doctest.DocTestRunner().run(examples, out=said.append)
    finally:
        os.chdir(here)
    assert result.attempted >= 7 and not result.failed, "".join(said)
