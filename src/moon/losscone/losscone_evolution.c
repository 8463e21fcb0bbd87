/* losscone_evolution.c: differential evolution. */
#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "numeric/philox.h"

#include "moon/losscone/losscone_evolution.h"

#include <string.h>

/* NumPy's PCG64 (M. O'Neill, HMC-CS-2014-0905) in 32-bit words, lowest first. State:
 * np.random.PCG64(42).state. */
struct pcg {
    uint32_t state[4], kept; /* the half for the next draw */
    bool has_kept;
};
static const uint32_t pcg_seeded[4] = {0x68860ac8, 0xacbc7c9d, 0x98798f2a, 0xcea44f67},
                      pcg_increment[4] = {0x8d25abff, 0x66caf2e2, 0xc9a8416e, 0xfa505436},
                      pcg_multiplier[4] = {0x9fccf645, 0x4385df64, 0x1fc65da4, 0x2360ed05};

static uint32_t pcg_draw(struct pcg *pcg)
{
    uint32_t next[4];
    pcg->has_kept = !pcg->has_kept;
    if (!pcg->has_kept) return pcg->kept;
    memcpy(next, pcg_increment, sizeof next);
    for (unsigned i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; i + j < 4; j++) {
            carry += next[i + j] + (uint64_t)pcg->state[i] * pcg_multiplier[j];
            next[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    memcpy(pcg->state, next, sizeof next);
    const uint64_t folded = ((uint64_t)(next[1] ^ next[3]) << 32) | (next[0] ^ next[2]);
    const unsigned turn = next[3] >> 26;
    const uint64_t word = folded >> turn | folded << (-turn & 63);
    pcg->kept = (uint32_t)(word >> 32);
    return (uint32_t)word;
}

void losscone_starts(uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS])
{
    struct pcg pcg = {.has_kept = false};
    memcpy(pcg.state, pcg_seeded, sizeof pcg.state);
    for (unsigned d = 0; d < LOSSCONE_POINT; d++) {
        for (unsigned k = 0; k < EVOLVE_STARTS; k++) starts[d][k] = (uint16_t)k;
        for (uint32_t last = EVOLVE_STARTS - 1; last > 0; last--) { /* Generator.shuffle */
            uint32_t mask = last, to;
            for (unsigned shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
            while ((to = pcg_draw(&pcg) & mask) > last) {
            }
            const uint16_t taken = starts[d][last];
            starts[d][last] = starts[d][to];
            starts[d][to] = taken;
        }
    }
}

#define SOBOL_BITS 32
#define SOBOL_STREAM 0xffffffffu /* no generation has this number */

/* Van der Corput, and polynomials x + 1, x^2 + x + 1 with initial numbers 1 and 1, 3 (S. Joe, F. Kuo, SIAM
 * J. Sci. Comput. 30 (2008) 2635). */
static void directions(uint32_t v[3][SOBOL_BITS])
{
    uint32_t m[3][SOBOL_BITS];
    for (unsigned k = 0; k < SOBOL_BITS; k++) {
        m[0][k] = 1;
        m[1][k] = k < 1 ? 1 : (m[1][k - 1] << 1) ^ m[1][k - 1];
        m[2][k] = k < 1 ? 1 : k < 2 ? 3 : (m[2][k - 1] << 1) ^ (m[2][k - 2] << 2) ^ m[2][k - 2];
        for (unsigned d = 0; d < 3; d++) v[d][k] = m[d][k] << (SOBOL_BITS - 1 - k);
    }
}

/* Bits of x (highest first) times a unit lower triangular matrix, then a shift (J. Matousek, J. Complexity
 * 14 (1998) 527). */
static uint32_t scrambled(uint32_t x, const uint32_t *matrix, uint32_t shift)
{
    uint32_t y = 0;
    for (unsigned digit = 0; digit < SOBOL_BITS; digit++) {
        uint32_t taken = x & matrix[digit];
        for (unsigned half = 16; half > 0; half /= 2) taken ^= taken >> half;
        y |= (taken & 1) << (SOBOL_BITS - 1 - digit);
    }
    return y ^ shift;
}

void losscone_sobol(uint64_t seed, size_t n, double (*points)[LOSSCONE_POINT])
{
    uint32_t v[3][SOBOL_BITS];
    directions(v);
    for (unsigned d = 0; d < 3; d++) {
        uint32_t matrix[SOBOL_BITS], shift = 0, x = 0;
        for (unsigned digit = 0; digit < SOBOL_BITS; digit++) {
            const philox_block b = philox(SOBOL_STREAM, d, digit, 0, (uint32_t)seed, (uint32_t)(seed >> 32));
            const uint32_t own = (uint32_t)1 << (SOBOL_BITS - 1 - digit);
            matrix[digit] = (b.word[0] & ~(own - 1)) | own;
            shift |= b.word[1] & own;
        }
        for (size_t k = 0; k < n; k++) {
            points[k][d] = (scrambled(x, matrix, shift) + 0.5) * 0x1p-32;
            unsigned zeros = 0; /* Gray code: the lowest 0 of k is the digit that changes */
            while (k >> zeros & 1) zeros++;
            x ^= v[d][zeros];
        }
    }
}

/* Range of the Latin hypercube in U, V, cut at the bounds. */
#define FIRST_LOWER (-1000.0)
#define FIRST_UPPER 0.0

struct evolution {
    const struct losscone_call *call;
    paritas_losscone_result *results;
};

static void take(const void *user, size_t sweep, const double *row)
{
    const struct evolution *e = user;
    const paritas_losscone_options *options = &e->call->options;
    paritas_losscone_result *r = &e->results[sweep];
    *r = losscone_result(options, (unsigned)row[EVOLVE_CELLS]);
    if (r->status != PARITAS_SWEEP_FITTED) return;
    r->status = losscone_status(options, row[EVOLVE_MISFIT], row[EVOLVE_SETTLED] > 0.0);
    r->misfit = row[EVOLVE_MISFIT];
    r->potential = row[EVOLVE_POINT + LOSSCONE_U];
    r->ratio = row[EVOLVE_POINT + LOSSCONE_R];
    r->amplitude = row[EVOLVE_POINT + LOSSCONE_A];
    r->solved = (unsigned)row[EVOLVE_GENERATIONS];
    r->boxes = EVOLVE_STARTS + options->population * (1 + r->solved);
    r->potential_centre = r->potential_lower = r->potential_upper = r->potential;
    r->ratio_centre = r->ratio_lower = r->ratio_upper = r->ratio;
    losscone_judge(options, row + EVOLVE_QUALITY,
                   options->method == PARITAS_LOSSCONE_METHOD_LILLIS ? (double)(r->cells - 3) : 1.0, r);
}

paritas_status losscone_evolve(paritas_context *context, const struct losscone_call *call,
                               paritas_losscone_result *results)
{
    const paritas_losscone_options *options = &call->options;
    const size_t n_shared = EVOLVE_UNITS + LOSSCONE_POINT * ((size_t)EVOLVE_STARTS + options->population),
                 members = ((size_t)options->population + 7) & ~(size_t)7;
    double *shared = paritas_allocate(context, n_shared, sizeof *shared);
    if (!shared) return paritas_fail_memory(context);
    const double lower = options->potential_lower, upper = options->potential_upper;
    const bool apart = lower > FIRST_UPPER || upper < FIRST_LOWER;
    shared[EVOLVE_FIRST_LOWER] = lower > FIRST_LOWER || apart ? lower : FIRST_LOWER;
    shared[EVOLVE_FIRST_UPPER] = upper < FIRST_UPPER || apart ? upper : FIRST_UPPER;
    uint16_t starts[LOSSCONE_POINT][EVOLVE_STARTS];
    losscone_starts(starts);
    double (*points)[LOSSCONE_POINT] = (double (*)[LOSSCONE_POINT])(shared + EVOLVE_UNITS);
    for (size_t k = 0; k < EVOLVE_STARTS; k++)
        for (size_t d = 0; d < LOSSCONE_POINT; d++) points[k][d] = (starts[d][k] + 0.5) / EVOLVE_STARTS;
    losscone_sobol(options->seed, options->population, points + EVOLVE_STARTS);
    struct evolution e = {call, results};
    const paritas_status status =
        losscone_run(context, call,
                     (struct batch){.entry = ENTRY_losscone_evolve,
                                    .n_out = EVOLVE_OUT,
                                    .n_shared = n_shared,
                                    .shared = shared,
                                    .slab = call->grid->evolve_slab + call->grid->evolve_columns * members,
                                    .take = take,
                                    .user = &e});
    paritas_release(&context->allocator, shared);
    return status;
}
