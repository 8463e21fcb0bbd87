/* day_plasma.h: plasma at the spacecraft, by sweep: kappa distribution, and the potential from its
 * currents. */
#ifndef PARITAS_DAY_PLASMA_H
#define PARITAS_DAY_PLASMA_H

#include "days/day_run.h"
#include "paritas_kappa.h"

struct plasma_plan {
    paritas_kappa_options kappa;
    paritas_potential_options potential;
    bool sunlit; /* if the geometry does not tell */
};

extern const struct option options_plasma[];
#define GROUP_PLASMA {"Plasma", options_plasma}

paritas_status plasma_plan_open(struct session *session, struct plasma_plan *plan);
/* Says so if potentials are to be found, and neither geometry nor option tells sunlight from shade. */
void plasma_note_illumination(struct session *session, const struct sources *sources);
void plasma_plan_describe(const struct plasma_plan *plan, const struct sources *sources,
                          struct writer *writer);

struct plasma_answers {
    paritas_kappa_result *fits;
    paritas_potential *potentials; /* NULL: they were given */
    double *coverage;              /* n x 15: measured part of the hemisphere */
    unsigned char *sunlit;         /* as assumed */
};

/* Fits every sweep. Spacecraft potentials are found and stored in the sweeps, or given and subtracted. */
paritas_status plasma_answer(struct session *session, const struct plasma_plan *plan,
                             const struct sources *sources, struct sweeps *sweeps,
                             struct plasma_answers *answers);

/* For other columns; NaN without a fit. */
struct plasma_columns {
    const unsigned char *fitted;
    const char **status;
    const double *density, *kappa, *theta, *temperature, *misfit;
};
/* Empty when memory is short. */
struct plasma_columns add_plasma(struct day_work *work, const struct plasma_answers *answers);

/* Region of the plasma. 5 wake: dark footpoint. Else by temperature (eV): 1 solar wind < 30, 2 magnetosheath
 * < 80, 3 lobe < 150, 4 plasma sheet. 0: unknown. */
int environment_class(double projection_in_sun, double temperature);

#endif
