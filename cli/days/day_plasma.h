/* day_plasma.h: the plasma around the spacecraft, sweep by sweep: kappa distributions, and the potential that its
 * currents give the spacecraft. */
#ifndef PARITAS_DAY_PLASMA_H
#define PARITAS_DAY_PLASMA_H

#include "days/day_run.h"
#include "paritas_kappa.h"

struct plasma_plan {
    paritas_kappa_options kappa;
    paritas_potential_options potential;
    bool sunlit; /* where the geometry does not tell */
};

extern const struct option options_plasma[];
#define GROUP_PLASMA {"Plasma", options_plasma}

paritas_status plasma_plan_open(struct session *session, struct plasma_plan *plan);
void plasma_plan_describe(const struct plasma_plan *plan, const struct sources *sources,
                          struct writer *writer);

/* A sweep each, in an arena. */
struct plasma_answers {
    paritas_kappa_result *fits;
    paritas_potential *potentials; /* NULL where they were given */
    double *coverage;              /* n x 15: part of the hemisphere that was measured */
    unsigned char *sunlit;         /* as it was taken */
};

/* Fits every sweep. Where spacecraft potentials are to be found, they are, and the sweeps get them; where
 * they are given, energies are less them. */
paritas_status plasma_answer(struct session *session, const struct plasma_plan *plan,
                             const struct sources *sources, struct sweeps *sweeps, struct arena *arena,
                             struct plasma_answers *answers);

/* What other columns and the summary take up; NaN where there is no fit. */
struct plasma_columns {
    const unsigned char *fitted;
    const char **status;
    const double *density, *kappa, *theta, *temperature, *misfit;
};
struct plasma_columns add_plasma(struct day_tables *tables, const struct sweeps *sweeps,
                                 const struct plasma_answers *answers);

/* 5 wake: the footpoint is dark; by temperature (eV) 1 solar wind, below 30, 2 magnetosheath, below 80, 3
 * lobe, below 150, 4 plasma sheet; 0: illumination or temperature are not known. */
int environment_class(double projection_in_sun, double temperature);

#endif
