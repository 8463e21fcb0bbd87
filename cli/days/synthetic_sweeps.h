/* synthetic_sweeps.h: sweeps whose truth is known, drawn from the models that fits assume, with what real files have
 * of damage.
 *
 * Every number is a function of the seed and the number of the sweep: of a million sweeps the first thousand
 * are those of a thousand.
 */
#ifndef PARITAS_SYNTHETIC_SWEEPS_H
#define PARITAS_SYNTHETIC_SWEEPS_H

#include "days/day_losscone.h"

struct synthetic_plan {
    struct range potential, ratio, amplitude, noise, spacecraft, density, kappa, temperature;
    double beams;                                   /* part of the sweeps that have one */
    double missing_cells, missing_rows, bad_fields; /* parts */
    double channel_width; /* relative, of the energy channels, which smear spectra of plasma */
    /* spectra are kappa distributions and spacecraft potentials theirs; else power laws */
    bool plasma;
    bool low_energies; /* every second sweep has the table that begins at 7 eV */
    double polarity;   /* 0: drawn */
    bool folded;       /* the cone's edge */
    uint64_t seed;
};

extern const struct option options_truth[];
#define GROUP_TRUTH {"Truth", options_truth}
paritas_status synthetic_plan_open(struct session *session, struct synthetic_plan *plan);
void synthetic_plan_describe(const struct synthetic_plan *plan, struct writer *writer);

/* The truth of n sweeps. */
struct truth {
    double *potential, *ratio, *amplitude, *noise, *spacecraft, *polarity, *sunlit;
    double *density, *kappa, *theta, *temperature; /* NaN of power laws */
};

/* Draws `n` sweeps from number `first` on, the first at `time` (Unix seconds), 86400 s / n or 80 s apart,
 * whichever is less. `theta`: of the cells. The truth lives in the arena, the day is freed by
 * paritas_er_day_free. options: the model's beam and response; bounds do not count. */
paritas_status synthetic_day(paritas_context *context, const struct synthetic_plan *plan,
                             const paritas_losscone_options *options, const double *theta, size_t n,
                             uint64_t first, double time, struct arena *arena, struct truth *truth,
                             paritas_er_day **day);

#endif
