/* variant.c: the table of one variant. Compiled many times, with PARITAS_F64, PARITAS_LANES, PARITAS_PACK and the name
 * of the table, NUMERIC_VARIANT. */
#include "variant.h"

#include "dialect/c.h"
#include "numeric/math.h"
#include "numeric/sum.h"

#define NUMERIC_LOOP(f)                                                                                                                    \
    static void loop_##f(const void *x, void *y, size_t n)                                                                                 \
    {                                                                                                                                      \
        const real *from = x;                                                                                                              \
        real *to = y;                                                                                                                      \
        for (size_t i = 0; i < n / LANES; i += PACK) STOREP(to, i, f(LOADP(from, i)));                                                     \
    }
NUMERIC_FUNCTIONS(NUMERIC_LOOP)

static void sum(const void *a, void *sums, unsigned n)
{
    *(real *)sums = sum8(a, n);
}
static void dot(const void *a, const void *b, void *sums, unsigned n)
{
    *(real *)sums = dot8(a, b, n);
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NUMERIC_ENTRY(f) loop_##f,
extern const struct numeric_variant NUMERIC_VARIANT;
const struct numeric_variant NUMERIC_VARIANT = {TEXT(NUMERIC_VARIANT), F64, LANES, PACK, {NUMERIC_FUNCTIONS(NUMERIC_ENTRY)}, sum, dot};
