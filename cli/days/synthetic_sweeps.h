/* synthetic_sweeps.h: sweeps drawn from the fitted models, with the damage of real files.
 *
 * Numbers depend on seed and sweep number alone, not on how many sweeps are drawn. */
#ifndef PARITAS_SYNTHETIC_SWEEPS_H
#define PARITAS_SYNTHETIC_SWEEPS_H

#include "days/day_losscone.h"

/* the choices of --truth: the hard edge, the folded one, or a hard edge averaged by an integral over a
 * Gaussian response in ln E, each energy by its flux */
enum { TRUTH_HARD, TRUTH_FOLDED, TRUTH_INTEGRAL, TRUTHS };
extern const char *const truth_names[TRUTHS];

/* What turns flux into counts of a cell. */
struct counting {
    double geometric_factor; /* cm^2 sr */
    double accumulation;     /* s of a row, which the cells of a ring share */
    double background;       /* counts/s, of each cell while it measures */
    double dead_time;        /* s after each count */
};

struct synthetic_plan {
    struct range potential, ratio, amplitude, noise, spacecraft, density, kappa, temperature;
    double beams;                                   /* fraction of sweeps */
    double missing_cells, missing_rows, bad_fields; /* fractions */
    double channel_width; /* relative width of energy channels; smears plasma spectra */
    /* kappa distributions and their potentials; else power laws */
    bool plasma;
    bool low_energies; /* every second sweep has the energy table from 7 eV */
    double polarity;   /* 0: drawn */
    int truth;         /* edge of the cone */
    bool weighted;     /* the folded edge by the spectrum */
    int region;        /* of the plasma, as --region; -1: none */
    bool counts;       /* Poisson counts, by `counting` */
    struct counting counting;
    uint64_t seed;
};

extern const struct option options_truth[];
#define GROUP_TRUTH {"Truth", options_truth}
paritas_status synthetic_plan_open(struct session *session, uint64_t seed, struct synthetic_plan *plan);
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

/* Random numbers of one sweep. SplitMix64 (Steele, Lea, Flood, OOPSLA'14) on a counter. */
struct dice {
    uint64_t state;
};
void dice_open(struct dice *dice, uint64_t seed, uint64_t sweep);
double dice_uniform(struct dice *dice);
/* Poisson number. */
double dice_poisson(struct dice *dice, double mean);

/* Counts sweep k: replaces its fluxes by those of drawn counts, corrected for dead time. Cells whose
 * correction exceeds 1.25 are marked as erroneous, as the archive marks them. `number`: of the sweep, keys
 * the counts. */
void synthetic_count(const struct synthetic_plan *plan, const double *theta, uint64_t number, size_t k,
                     paritas_er_day *day);

/* Would the archive mark this flux as erroneous, but for noise? */
bool synthetic_saturates(const struct synthetic_plan *plan, double energy, double flux);

/* Draws `n` sweeps from number `first`, the first at `time` (Unix seconds). Spacing: 80 s, or 86400 s / n
 * if less. `theta`: of the cells. `options`: beam and response; bounds are not used. Truth in the arena;
 * free the day with paritas_er_day_free, also after a failure. */
paritas_status synthetic_day(struct session *session, const struct synthetic_plan *plan,
                             const paritas_losscone_options *options, const double *theta, size_t n,
                             uint64_t first, double time, struct truth *truth, paritas_er_day **made);

#endif
