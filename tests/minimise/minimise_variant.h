/* minimise_variant.h: functions with known minima, and the minimisers on them as one shape of vector compiles
 * them. */
#ifndef PARITAS_MINIMISE_VARIANT_H
#define PARITAS_MINIMISE_VARIANT_H

#include <stddef.h>
#include <stdint.h>

enum { SLOTS = 16 };

/* Functions of n variables x. */
enum function {
    ROSENBROCK, /* sum of 100 (x_i+1 - x_i^2)^2 + (1 - x_i)^2: least at 1 */
    BEALE,      /* of two: least at (3, 1/2) */
    QUADRATIC,  /* sum of weight_i/2 x_i^2 - x_i x_i+1 / 4 - slope_i x_i */
    BARRIER,    /* sum of x_i - slope_i log x_i, for positive x: least at slope_i */
    RASTRIGIN,  /* 10 n + sum of x_i^2 - 10 cos 2 pi x_i: least at 0, 0; a minimum near every whole point */
    ACKLEY,     /* 20 + e - 20 exp(-|x| / 5 sqrt n) - exp(mean of cos 2 pi x_i): least at 0, 0 */
    FUNCTIONS
};

/* A job: its row is five times SLOTS numbers. Slots from n on are not free. */
enum { ROW_START, ROW_LOWER, ROW_UPPER, ROW_FREE, ROW_UNIT, ROW_SLOPE, ROW_WEIGHT, ROWS };
/* An answer: the point, then status, value, edm, iterations. */
enum { ANSWER = SLOTS + 4 };

struct minimise_variant {
    const char *name;
    unsigned lanes, pack;
    size_t slab; /* bytes */
    /* Fits n jobs of ROWS * SLOTS numbers each into answers of ANSWER numbers. `slab` is aligned to 64 bytes
     * and may hold anything that is a number. */
    size_t member; /* bytes of the slab for each member of a population */
    void (*lbfgsb)(enum function function, uint32_t dimensions, uint32_t n, const double *jobs,
                   double *answers, double tolerance, uint32_t limit, void *slab);
    /* The same by differential evolution with `members` that start within 4 units of the start. */
    void (*de)(enum function function, uint32_t dimensions, uint32_t n, const double *jobs, double *answers,
               double tolerance, uint32_t limit, void *slab, uint32_t members, uint64_t seed);
    /* One step of L-BFGS-B in 16 variables from the origin: after `pairs` pairs (s, y), the last one scaling
     * the model by `theta`, with this slope and these bounds; into `cauchy` and `step`, SLOTS each. Nonzero:
     * a small matrix was not positive. */
    int (*step)(uint32_t pairs, double (*s)[SLOTS], double (*y)[SLOTS], double theta, const double *slope,
                const double *lower, const double *upper, double *cauchy, double *step, void *slab);
    void (*philox)(const uint32_t *counter, const uint32_t *key, uint32_t *words);
};

#endif
