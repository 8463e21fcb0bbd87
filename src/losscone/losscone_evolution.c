/* losscone_evolution.c: see losscone_evolution.h. */
#define PARITAS_F64 1
#define PARITAS_LANES 1
#define PARITAS_PACK 1
#include "dialect/dialect_c.h"
#include "numeric/philox.h"

#include "losscone/losscone_evolution.h"

const uint16_t losscone_starts[LOSSCONE_POINT][EVOLVE_STARTS] = {
    {302, 50,  72,  270, 232, 44,  346, 154, 253, 389, 131, 260, 203, 33,  378, 244, 344, 362, 147, 264,
     372, 238, 53,  307, 271, 101, 371, 383, 26,  358, 200, 133, 61,  398, 192, 357, 268, 374, 100, 58,
     269, 45,  96,  143, 388, 51,  77,  349, 285, 249, 356, 197, 176, 2,   0,   191, 201, 107, 246, 164,
     146, 229, 55,  80,  83,  8,   152, 46,  283, 380, 64,  293, 310, 395, 322, 298, 242, 86,  299, 248,
     319, 174, 138, 281, 179, 82,  245, 295, 336, 166, 338, 258, 24,  144, 391, 247, 230, 68,  196, 150,
     56,  178, 331, 311, 19,  355, 124, 327, 115, 171, 370, 321, 73,  345, 3,   265, 368, 363, 330, 234,
     252, 243, 132, 140, 118, 250, 348, 291, 211, 47,  148, 127, 27,  369, 193, 329, 397, 257, 305, 393,
     213, 215, 38,  326, 29,  89,  98,  119, 134, 12,  168, 67,  108, 84,  222, 198, 30,  217, 339, 392,
     183, 25,  241, 262, 381, 180, 384, 219, 184, 40,  318, 156, 376, 304, 104, 75,  312, 185, 135, 165,
     396, 288, 145, 365, 375, 149, 126, 204, 70,  226, 172, 54,  225, 62,  91,  169, 181, 231, 256, 210,
     354, 360, 158, 239, 347, 95,  292, 92,  382, 294, 263, 186, 7,   276, 335, 284, 60,  353, 233, 88,
     340, 255, 343, 120, 361, 214, 37,  228, 162, 306, 280, 289, 282, 20,  159, 254, 151, 236, 161, 399,
     216, 207, 261, 173, 112, 18,  153, 11,  332, 323, 205, 79,  202, 259, 235, 342, 66,  9,   59,  334,
     4,   94,  48,  93,  251, 273, 32,  155, 128, 121, 227, 130, 81,  52,  328, 28,  352, 209, 106, 337,
     394, 21,  218, 350, 266, 386, 367, 39,  188, 13,  189, 308, 220, 5,   85,  315, 278, 78,  114, 170,
     123, 301, 103, 90,  199, 274, 377, 206, 87,  221, 142, 111, 390, 277, 364, 187, 65,  379, 99,  71,
     359, 69,  324, 125, 177, 224, 387, 117, 74,  10,  116, 341, 157, 63,  223, 1,   42,  122, 17,  167,
     297, 309, 76,  313, 296, 208, 325, 31,  129, 351, 105, 290, 267, 212, 43,  373, 160, 317, 57,  279,
     23,  272, 15,  316, 109, 137, 190, 287, 16,  300, 240, 110, 195, 34,  286, 314, 35,  333, 182, 49,
     6,   102, 175, 139, 385, 41,  366, 22,  275, 163, 320, 303, 113, 237, 14,  141, 194, 36,  97,  136},
    {88,  66,  268, 328, 96,  299, 259, 122, 201, 27,  36,  355, 326, 398, 283, 179, 361, 129, 348, 318,
     243, 271, 388, 389, 7,   264, 38,  116, 368, 292, 107, 100, 2,   282, 240, 98,  297, 169, 239, 301,
     351, 24,  79,  91,  61,  233, 290, 315, 25,  255, 151, 11,  185, 267, 333, 236, 375, 106, 51,  87,
     21,  303, 115, 75,  203, 182, 250, 232, 146, 83,  273, 118, 296, 284, 135, 9,   347, 5,   372, 224,
     73,  344, 82,  113, 31,  379, 143, 29,  55,  41,  249, 30,  206, 103, 276, 272, 277, 127, 131, 35,
     242, 274, 81,  45,  254, 39,  330, 237, 94,  163, 341, 358, 152, 52,  10,  324, 218, 342, 119, 28,
     384, 139, 219, 323, 244, 69,  238, 74,  332, 278, 57,  165, 321, 247, 101, 71,  305, 77,  34,  136,
     0,   134, 92,  223, 327, 386, 4,   126, 22,  260, 391, 288, 166, 343, 123, 207, 369, 44,  111, 199,
     392, 186, 12,  217, 308, 334, 383, 231, 310, 329, 171, 245, 312, 180, 147, 164, 346, 307, 204, 187,
     270, 378, 363, 241, 114, 76,  286, 387, 150, 78,  56,  48,  221, 102, 141, 14,  86,  6,   1,   225,
     176, 248, 173, 370, 67,  230, 19,  263, 170, 159, 120, 289, 345, 142, 117, 320, 8,   381, 128, 154,
     229, 109, 198, 60,  340, 285, 356, 339, 262, 228, 373, 89,  362, 216, 23,  93,  156, 281, 382, 20,
     316, 193, 253, 335, 279, 380, 365, 18,  319, 157, 183, 140, 337, 222, 298, 300, 202, 65,  16,  124,
     59,  54,  393, 148, 196, 306, 64,  234, 215, 302, 40,  246, 395, 13,  352, 105, 132, 349, 138, 121,
     46,  317, 184, 53,  181, 366, 195, 399, 336, 161, 158, 168, 367, 311, 172, 269, 258, 37,  291, 144,
     304, 364, 85,  359, 137, 104, 371, 226, 110, 350, 265, 200, 70,  15,  174, 205, 360, 331, 17,  47,
     149, 97,  354, 112, 211, 309, 376, 3,   390, 294, 192, 322, 80,  95,  227, 313, 191, 208, 256, 133,
     275, 145, 353, 62,  214, 50,  90,  84,  257, 72,  108, 338, 68,  251, 397, 177, 377, 178, 197, 188,
     155, 385, 287, 130, 220, 175, 33,  194, 167, 160, 394, 209, 189, 295, 58,  212, 266, 325, 43,  261,
     32,  190, 252, 49,  63,  210, 162, 213, 396, 125, 235, 280, 153, 42,  99,  314, 293, 374, 357, 26},
    {77,  261, 130, 84,  359, 372, 134, 109, 69,  349, 280, 274, 196, 374, 271, 391, 23,  270, 379, 81,
     32,  111, 364, 155, 390, 291, 180, 242, 30,  345, 208, 373, 377, 298, 335, 63,  19,  363, 60,  174,
     353, 348, 20,  16,  282, 41,  232, 118, 311, 200, 281, 33,  67,  172, 145, 4,   321, 83,  362, 303,
     122, 150, 152, 146, 80,  85,  57,  246, 227, 127, 124, 275, 135, 305, 100, 278, 395, 288, 36,  204,
     237, 168, 43,  380, 238, 169, 66,  334, 21,  194, 189, 307, 203, 352, 184, 165, 207, 171, 116, 289,
     331, 179, 56,  337, 213, 173, 323, 40,  326, 37,  157, 332, 65,  319, 45,  394, 306, 325, 129, 399,
     328, 381, 167, 223, 153, 90,  158, 230, 143, 376, 103, 295, 144, 247, 209, 181, 104, 272, 385, 11,
     252, 198, 340, 398, 59,  131, 68,  185, 249, 107, 110, 133, 164, 61,  231, 313, 392, 269, 128, 92,
     47,  29,  241, 162, 342, 386, 351, 2,   17,  388, 142, 119, 156, 206, 344, 378, 163, 233, 236, 266,
     108, 89,  190, 220, 187, 176, 97,  294, 300, 82,  258, 310, 357, 324, 287, 183, 75,  235, 248, 343,
     368, 312, 0,   25,  123, 365, 6,   14,  226, 216, 132, 389, 112, 264, 229, 333, 322, 71,  301, 120,
     371, 8,   10,  151, 182, 18,  140, 304, 73,  170, 212, 136, 222, 51,  205, 309, 228, 215, 397, 1,
     149, 367, 284, 94,  308, 339, 243, 139, 283, 317, 72,  218, 354, 251, 369, 358, 314, 178, 383, 114,
     38,  361, 78,  259, 290, 147, 191, 161, 346, 263, 318, 141, 355, 244, 214, 46,  356, 186, 273, 347,
     257, 262, 341, 338, 24,  12,  137, 55,  34,  58,  62,  7,   197, 117, 366, 253, 26,  22,  98,  35,
     91,  52,  250, 93,  195, 297, 255, 225, 316, 254, 217, 39,  265, 121, 336, 277, 188, 15,  159, 293,
     396, 221, 210, 101, 13,  154, 201, 105, 125, 48,  95,  102, 375, 279, 320, 175, 224, 160, 99,  27,
     3,   76,  42,  87,  268, 256, 384, 177, 234, 199, 31,  292, 202, 53,  299, 219, 166, 28,  245, 360,
     327, 192, 211, 138, 148, 302, 126, 330, 387, 115, 96,  240, 79,  370, 239, 74,  54,  329, 285, 86,
     5,   296, 44,  113, 267, 286, 276, 106, 49,  88,  393, 193, 64,  70,  50,  382, 260, 350, 315, 9}};

/* ---- the Sobol set ---- */

#define SOBOL_BITS 32
#define SOBOL_STREAM 0xffffffffu /* no generation of a fit has this number */

/* Direction numbers of three dimensions: van der Corput's, and those of the polynomials x + 1 and x^2 + x + 1
 * with the first numbers 1 and 1, 3 (S. Joe, F. Kuo, SIAM J. Sci. Comput. 30 (2008) 2635). */
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

/* The digits of x through a lower triangular matrix of bits with ones on its diagonal, then a shift (J.
 * Matousek, J. Complexity 14 (1998) 527). Digit 0 is the highest bit. */
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
            matrix[digit] = (b.word[0] & ~(own - 1)) | own; /* digits up to its own */
            shift |= b.word[1] & own;
        }
        for (size_t k = 0; k < n; k++) {
            points[k][d] = (scrambled(x, matrix, shift) + 0.5) * 0x1p-32;
            unsigned zeros = 0; /* Gray code: the digit that changes is that of the lowest 0 of k */
            while (k >> zeros & 1) zeros++;
            x ^= v[d][zeros];
        }
    }
}

/* ---- fits ---- */

/* Where the Latin hypercube lies in U, V, as far as the bounds allow. */
#define FIRST_LOWER (-1000.0)
#define FIRST_UPPER 0.0

struct evolution {
    const paritas_sweeps *sweeps; /* first, for losscone_fill */
    const paritas_losscone_options *options;
    paritas_losscone_result *results;
};

static paritas_losscone_result result_of(const paritas_losscone_options *options, const double *row)
{
    paritas_losscone_result r = losscone_result(options, (unsigned)row[EVOLVE_CELLS]);
    if (r.status != PARITAS_SWEEP_FITTED) return r;
    r.status = losscone_status(options, row[EVOLVE_MISFIT], row[EVOLVE_SETTLED] > 0.0);
    r.misfit = row[EVOLVE_MISFIT];
    r.potential = row[EVOLVE_POINT + LOSSCONE_U];
    r.ratio = row[EVOLVE_POINT + LOSSCONE_R];
    r.amplitude = row[EVOLVE_POINT + LOSSCONE_A];
    r.solved = (unsigned)row[EVOLVE_GENERATIONS];
    r.boxes = EVOLVE_STARTS + options->population * (1 + r.solved);
    r.potential_centre = r.potential_lower = r.potential_upper = r.potential;
    r.ratio_centre = r.ratio_lower = r.ratio_upper = r.ratio;
    return r;
}

static paritas_status take(paritas_context *context, void *user, size_t at, size_t n, const double *out)
{
    const struct evolution *e = user;
    (void)context;
    for (size_t k = 0; k < n; k++) e->results[at + k] = result_of(e->options, out + k * EVOLVE_OUT);
    return PARITAS_OK;
}

paritas_status losscone_evolve(paritas_context *context, const paritas_sweeps *sweeps,
                               const paritas_losscone_options *options, paritas_losscone_result *results)
{
    struct losscone_tables tables;
    losscone_options_tables(options, &tables);
    const size_t n_shared = EVOLVE_UNITS + LOSSCONE_POINT * ((size_t)EVOLVE_STARTS + options->population),
                 members = ((size_t)options->population + 7) & ~(size_t)7;
    double *shared = paritas_allocate(context, n_shared, sizeof *shared);
    if (!shared) return paritas_fail_memory(context);
    const double lower = options->potential_lower, upper = options->potential_upper;
    const bool apart = lower > FIRST_UPPER || upper < FIRST_LOWER;
    shared[EVOLVE_FIRST_LOWER] = lower > FIRST_LOWER || apart ? lower : FIRST_LOWER;
    shared[EVOLVE_FIRST_UPPER] = upper < FIRST_UPPER || apart ? upper : FIRST_UPPER;
    double (*points)[LOSSCONE_POINT] = (double (*)[LOSSCONE_POINT])(shared + EVOLVE_UNITS);
    for (size_t k = 0; k < EVOLVE_STARTS; k++)
        for (size_t d = 0; d < LOSSCONE_POINT; d++)
            points[k][d] = (losscone_starts[d][k] + 0.5) / EVOLVE_STARTS;
    losscone_sobol(options->seed, options->population, points + EVOLVE_STARTS);
    struct evolution e = {sweeps, options, results};
    const struct batch batch = {.module = &paritas_module_losscone,
                                .tables = losscone_device_tables(&tables),
                                .entry = ENTRY_losscone_evolve,
                                .n_in = SWEEP_SIZE,
                                .n_out = EVOLVE_OUT,
                                .n_shared = n_shared,
                                .shared = shared,
                                .slab = EVOLVE_SLAB(members),
                                .first = options->first,
                                .fill = losscone_fill,
                                .take = take,
                                .user = &e};
    const paritas_status status = batch_run(context, context->device, &batch, sweeps->n);
    paritas_release(&context->allocator, shared);
    return status;
}
