/* day_plasma.h: options of the plasma at the spacecraft, and its columns. */
#pragma once

#include "days/day_columns.h"

struct plasma_plan {
    paritas_kappa_options kappa;
    paritas_potential_options potential;
    bool sunlit; /* if the geometry does not tell */
};

extern const struct option options_plasma[];
#define GROUP_PLASMA {"Plasma", options_plasma}

paritas_status plasma_plan_open(struct session *session, struct plasma_plan *plan);
void plasma_plan_describe(const struct plasma_plan *plan, const struct sources *sources,
                          struct writer *writer);
/* The plan in the options of a day, which borrow it. */
void plasma_plan_take(const struct plasma_plan *plan, paritas_day_options *options);

/* For other columns; NaN without a fit. */
struct plasma_columns {
    const unsigned char *fitted;
    const char **status;
    const double *density, *kappa, *theta, *temperature, *misfit;
};
/* How many spacecraft potentials were found, and why others were not; only where they are found. */
void write_potentials(struct day_work *work);
/* Empty when memory is short. */
struct plasma_columns add_plasma(struct day_work *work);
