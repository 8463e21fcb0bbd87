"""tools/check_order finds expressions whose value depends on the order of operands, and no others."""

import os
import shutil
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
pytestmark = pytest.mark.skipif(not shutil.which("clang"), reason="clang is not installed")

WORDS = """
struct pair { int left, right; };
int make(int **made);
int draw(unsigned *seed);
int see(const unsigned *seed);
int change(struct pair *pair);
int both(int a, int b);
int *arena_array(struct pair *arena, int n);
int keep(int a, int *b);
"""

DEPENDS = {
    "a pointer that another argument sets": "int *made; return keep(make(&made), made);",
    "two draws of one seed": "unsigned seed = 1; return both(draw(&seed), draw(&seed));",
    "two draws as operands of a sum": "unsigned seed = 1; return draw(&seed) + draw(&seed);",
    "two draws of an initialiser": "unsigned seed = 1; int a[] = {draw(&seed), draw(&seed)}; return *a;",
    "a look at what another argument changes": "unsigned seed = 1; return both(draw(&seed), see(&seed));",
    "a member of what is changed": "struct pair p = {1, 2}; return both(change(&p), p.left);",
    "a member behind a pointer": "struct pair q, *p = &q; return change(p) - p->left;",
    "an element of an array": "unsigned seeds[] = {1, 2}; return both(draw(seeds), (int)seeds[0]);",
    "a sum onto what a call changes": "struct pair p = {1, 2}; p.left += change(&p); return p.left;",
    "an index that a call changes": "int a[2]; unsigned i = 0; a[i] = draw(&i); return a[0];",
    "an argument of a call inside": "unsigned s = 1; return both(1 + both(draw(&s), 2), 3 + (int)s);",
}
FINE = {
    "one call alone": "unsigned seed = 1; return draw(&seed);",
    "the address and the value of the same call": "unsigned s = 1; keep((int)s, (int *)&s); return 0;",
    "in the order of its statements": "unsigned s = 1; int a = draw(&s); return both(a, draw(&s));",
    "conditions, which have an order": "unsigned s = 1; return draw(&s) && draw(&s) ? draw(&s) : 0;",
    "looks alone": "unsigned seed = 1; return both(see(&seed), (int)seed);",
    "two members": "int *a = 0; struct pair p; return both(draw((unsigned *)&p.left), p.right) + (a != 0);",
    "the pointer itself": "struct pair q, *p = &q; return both(change(p), p != 0);",
    "a size": "struct pair p; return both(change(&p), sizeof p);",
    "memory from an arena": "struct pair p; return arena_array(&p, 1) != arena_array(&p, 2);",
    "an answer put into what was read": "struct pair p; p.left = change(&p); return p.left;",
}


def findings(tmp_path, body):
    file = tmp_path / "planted.c"
    file.write_text(WORDS + "int planted(void);\nint planted(void) { " + body + " }\n")
    gate = os.path.join(ROOT, "tools", "check_order")
    done = subprocess.run([sys.executable, gate, str(file)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("1 files, ")
    assert done.returncode == (1 if len(lines) > 1 else 0)
    return lines[:-1]


@pytest.mark.parametrize("body", DEPENDS.values(), ids=DEPENDS)
def test_a_value_that_depends_on_the_order_is_found(tmp_path, body):
    found = findings(tmp_path, body)
    assert found
    assert all("planted.c:11: one operand changes " in line for line in found)


@pytest.mark.parametrize("body", FINE.values(), ids=FINE)
def test_what_has_one_value_is_left_alone(tmp_path, body):
    assert findings(tmp_path, body) == []


def test_a_file_that_clang_does_not_read_is_no_pass(tmp_path):
    assert findings(tmp_path, "return nothing;")
