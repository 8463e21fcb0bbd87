/* test_case.c: linked into every test program. `tests/run --case` sets PARITAS_TEST_CASE: the names of the
 * cases that run (with * and ?). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

__attribute__((constructor)) static void choose_cases(void)
{
    cmocka_set_test_filter(getenv("PARITAS_TEST_CASE"));
}
