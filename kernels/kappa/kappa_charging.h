/* kappa_charging.h: the spacecraft's potential as kernels and host see it: rows of jobs and answers, the
 * options of a run as the model's table. */
#ifndef PARITAS_KAPPA_CHARGING_H
#define PARITAS_KAPPA_CHARGING_H

#include "numeric/places.h"

enum charging_args { CHARGING_ARG_JOBS, CHARGING_ARG_RULE = 3, CHARGING_ARG_POTENTIALS };
/* The rule by which currents are integrated. */
#define CHARGING_CONVERGED 0u
#define CHARGING_SUMS 1u /* trapezoids on the grid, as was usual */

/* A job of potentials; of currents its plasma. */
enum charging_job {
    CHARGING_DENSITY, /* 1/m^3; 0: there is no distribution */
    CHARGING_KAPPA,
    CHARGING_THETA, /* m/s */
    CHARGING_PLASMA,
    CHARGING_SUNLIT = CHARGING_PLASMA, /* 1, in shade 0 */
    CHARGING_JOB
};

enum charging_answer {
    CHARGING_POTENTIAL,  /* V */
    CHARGING_STATUS,     /* paritas_potential_status; with another one than 0 no other number counts */
    CHARGING_HAS_SECOND, /* 1: there is a second stable potential */
    CHARGING_SECOND,     /* V */
    CHARGING_BY_DENSITY, /* derivatives of the potential by ln(density), kappa, ln(theta) */
    CHARGING_BY_KAPPA,
    CHARGING_BY_THETA,
    CHARGING_ELECTRONS, /* currents there, A/m^2 */
    CHARGING_EMITTED,   /* photoelectrons in sunlight, secondaries in shade */
    CHARGING_IONS,
    CHARGING_ANSWER
};

/* Of each potential, in shade: A/m^2. */
enum currents_answer {
    CURRENTS_ELECTRONS,
    CURRENTS_SECONDARIES,
    CURRENTS_IONS,
    CURRENTS_KNOWN,
    CURRENTS_SIZE
};

/* Statuses: those of paritas_potential_status. */
#define CHARGING_FOUND 0.0
#define CHARGING_NO_DISTRIBUTION 1.0
#define CHARGING_ABOVE_RANGE 2.0
#define CHARGING_BELOW_ZERO 3.0
#define CHARGING_NO_BALANCE 4.0

#define CHARGING_GRID_ENERGIES 500
#define CHARGING_GRID_TERMS 504 /* a multiple of 8 */
enum charging_reals {
    CHARGING_SUN_LOWER, /* electrons that count, eV */
    CHARGING_SUN_UPPER,
    CHARGING_SHADE_LOWER,
    CHARGING_SHADE_UPPER,
    CHARGING_SECONDARY_ENERGY,  /* temperature of secondary electrons, eV */
    PLACE8(CHARGING_GRID, 512), /* energies of the rule of sums; behind the last one that one again */
    CHARGING_REALS
};
#define CHARGING_GRID_SIZE (CHARGING_REALS - CHARGING_GRID)

/* Elements of the slab. */
#define CHARGING_NODES 24
#define CHARGING_SLAB_CONVERGED CHARGING_NODES
#define CHARGING_SLAB_SUMS (2 * CHARGING_GRID_TERMS)

#endif
