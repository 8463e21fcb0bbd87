/* synthetic_sweeps.h: sweeps drawn from the fitted models, with the damage of real files.
 *
 * Numbers depend on seed and sweep number alone, not on how many sweeps are drawn. */
#ifndef PARITAS_SYNTHETIC_SWEEPS_H
#define PARITAS_SYNTHETIC_SWEEPS_H

#include "days/day_losscone.h"

struct synthetic_plan {
    struct range potential, ratio, amplitude, noise, spacecraft, density, kappa, temperature;
    double beams;                                   /* fraction of sweeps */
    double missing_cells, missing_rows, bad_fields; /* fractions */
    double channel_width; /* relative width of energy channels; smears plasma spectra */
    /* kappa distributions and their potentials; else power laws */
    bool plasma;
    bool low_energies; /* every second sweep has the energy table from 7 eV */
    double polarity;   /* 0: drawn */
    bool folded;       /* edge of the cone */
    uint64_t seed;
};

extern const struct option options_truth[];
#define GROUP_TRUTH {"Truth", options_truth}
paritas_status synthetic_plan_open(struct session *session, struct synthetic_plan *plan);
void synthetic_plan_describe(const struct synthetic_plan *plan, struct writer *writer);

/* Of each sweep, with its column of truth.csv; geometry columns are named as --geometry and
 * --spacecraft-potential want. The plasma's are NaN for power laws. */
#define TRUTH_LIST(ITEM)                     \
    ITEM(potential, "potential")             \
    ITEM(ratio, "ratio")                     \
    ITEM(amplitude, "amplitude")             \
    ITEM(noise, "noise")                     \
    ITEM(spacecraft, "spacecraft_potential") \
    ITEM(polarity, "polarity")               \
    ITEM(sunlit, "spacecraft_in_sun")        \
    ITEM(density, "density")                 \
    ITEM(kappa, "kappa")                     \
    ITEM(theta, "theta")                     \
    ITEM(temperature, "temperature")
struct truth {
#define MEMBER(name, column) double *name;
    TRUTH_LIST(MEMBER)
#undef MEMBER
};
/* Room for n sweeps, in the session's arena. */
paritas_status truth_open(struct session *session, size_t n, struct truth *truth);

/* Draws `n` sweeps from number `first`, the first at `time` (Unix seconds). Spacing: 80 s, or 86400 s / n
 * if less. `theta`: of the cells. `options`: beam and response; bounds are not used. Truth in the arena;
 * free the day with paritas_er_day_free, also after a failure. */
paritas_status synthetic_day(struct session *session, const struct synthetic_plan *plan,
                             const paritas_losscone_options *options, const double *theta, size_t n,
                             uint64_t first, double time, struct truth *truth, paritas_er_day **made);

#endif
