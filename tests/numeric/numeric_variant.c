/* numeric_variant.c: the table of one variant. Compiled many times, with PARITAS_F64, PARITAS_LANES,
 * PARITAS_PACK and the name of the table, NUMERIC_VARIANT. */
#include "numeric_variant.h"

#include "dialect/dialect_c.h"
#include "numeric/math.h"
#include "numeric/rng.h"
#include "numeric/sum.h"

#define NUMERIC_LOOP(f)                                                                \
    static void loop_##f(const void *x, void *y, size_t n)                             \
    {                                                                                  \
        const real *from = x;                                                          \
        real *to = y;                                                                  \
        for (size_t i = 0; i < n / LANES; i += PACK) STOREP(to, i, f(LOADP(from, i))); \
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

#if F64
/* first, first + 1, .. */
static plint count_from(uint64_t first)
{
#if VECTOR_WIDTH > 1
    plint v = {0};
    for (int l = 0; l < VECTOR_WIDTH; l++) v[l] = (elem_int)first + l;
    return v;
#else
    return (elem_int)first;
#endif
}
static rng_stream stream_at(const struct numeric_streams *streams, size_t i)
{
    rng_stream s;
    s.toy = count_from(streams->first_toy + i);
    s.item = PLI(streams->item);
    s.purpose = streams->purpose;
    s.key0 = (u32)streams->seed;
    s.key1 = (u32)(streams->seed >> 32);
    return s;
}
static void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i += VECTOR_WIDTH) {
        const rng_block b = rng_philox(count_from(counter[0] + i), PLI(counter[1]), PLI(counter[2]),
                                       PLI(counter[3]), key[0], key[1]);
        for (size_t k = 0; k < 4; k++) {
            elem_int of[VECTOR_WIDTH];
            memcpy(of, &b.word[k], sizeof of);
            for (size_t l = 0; l < VECTOR_WIDTH; l++) words[4 * (i + l) + k] = (uint32_t)of[l];
        }
    }
}
static void normal(const struct numeric_streams *streams, double *y, size_t n)
{
    real *to = (real *)y;
    for (size_t i = 0; i < n / LANES; i += PACK) STOREP(to, i, rng_normal(stream_at(streams, i * LANES)));
}
static void poisson(const struct numeric_streams *streams, const double *rates, const double *wanted,
                    double *y, size_t n)
{
    const real *from = (const real *)rates, *where = (const real *)wanted;
    real *to = (real *)y;
    for (size_t i = 0; i < n / LANES; i += PACK)
        STOREP(to, i,
               rng_poisson(stream_at(streams, i * LANES), LOADP(from, i), PNOT(LOADP(where, i) == PK(0.0))));
}
#else
#define philox NULL
#define normal NULL
#define poisson NULL
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NUMERIC_ENTRY(f) loop_##f,
extern const struct numeric_variant NUMERIC_VARIANT;
const struct numeric_variant NUMERIC_VARIANT = {TEXT(NUMERIC_VARIANT),
                                                F64,
                                                LANES,
                                                PACK,
                                                {NUMERIC_FUNCTIONS(NUMERIC_ENTRY)},
                                                sum,
                                                dot,
                                                philox,
                                                normal,
                                                poisson};
