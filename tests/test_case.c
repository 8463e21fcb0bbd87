/* test_case.c: linked into every test program. `tests/run --case` sets PARITAS_TEST_CASE: the names of the
 * cases that run (with * and ?). */
#include "common.h"

__attribute__((constructor)) static void choose_cases(void)
{
    cmocka_set_test_filter(getenv("PARITAS_TEST_CASE"));
}

void skip_because(const char *reason)
{
    print_message("# skipped: %s\n", reason); /* TAP of cmocka has no room for it */
    skip();
    abort();
}

static char absence[512] = "what it needs is not here";

void note_absence(const char *reason)
{
    snprintf(absence, sizeof absence, "%s", reason);
}

void skip_absent(void)
{
    skip_because(absence);
}
