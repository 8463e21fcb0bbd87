/* common.h: what all C tests share: cmocka, names for tests, closeness, calls that must succeed. */
#ifndef PARITAS_TESTS_COMMON_H
#define PARITAS_TESTS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paritas_context.h"
#include "sized.h"

#define TEST(claim) static void claim(void **state __attribute__((unused)))
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* |a - b| <= tolerance; the failing pair is printed. */
static inline void close_by(double a, double b, double tolerance, const char *file, int line)
{
    if (fabs(a - b) <= tolerance) return;
    print_error("%.17g is not within %g of %.17g\n", a, tolerance, b);
    _fail(file, line);
}
#define ASSERT_CLOSE(a, b, tolerance) close_by(a, b, tolerance, __FILE__, __LINE__)

/* A call of the library; what it says of a failure is printed. */
#define ASSERT_OK(context, call)                                                             \
    do {                                                                                     \
        if ((call) != PARITAS_OK) fail_msg("%s: %s", #call, paritas_error_message(context)); \
    } while (0)

/* Ends the case as skipped. tests/run counts cases by their reasons. */
_Noreturn void skip_because(const char *reason);
/* A helper notes why something is not here; the case is then skipped for this reason. */
void note_absence(const char *reason);
_Noreturn void skip_absent(void);
/* Material for tests that lies beside some copies of this folder. */
#define PUBLISHED_ABSENT "there are no published analyses beside this copy"
#define CASES_ABSENT "there is no shared/losscone/cases.json beside this copy"

/* A context with these options. NULL: this build or this processor lacks that instruction set. */
static inline paritas_context *open_if_built(paritas_options options)
{
    paritas_context *context = NULL;
    const paritas_status status = paritas_open(&options, &context);
    if (status == PARITAS_OK) return context;
    assert_int_equal(status, PARITAS_NO_DEVICE);
    note_absence(paritas_error_message(context));
    paritas_close(context);
    return NULL;
}

/* Where compiled kernels stay between contexts and between tests (tests/run sets it); NULL: nowhere. */
static inline const char *kernel_cache_folder(void)
{
    return getenv("PARITAS_CACHE");
}

#endif
