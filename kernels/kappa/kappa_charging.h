/* kappa_charging.h: jobs, answers and options of spacecraft potentials, shared with the host. */
#pragma once

#include "numeric/places.h"

enum charging_args { CHARGING_ARG_JOBS, CHARGING_ARG_RULE = 3, CHARGING_ARG_POTENTIALS };
#define CHARGING_CONVERGED 0u
#define CHARGING_SUMS 1u /* trapezoids, the usual way */

/* Numbers of a job. Currents take only the plasma. */
enum charging_job {
    CHARGING_DENSITY, /* 1/m^3; 0: no distribution */
    CHARGING_KAPPA,
    CHARGING_THETA, /* m/s */
    CHARGING_PLASMA,
    CHARGING_SUNLIT = CHARGING_PLASMA, /* 1, in shade 0 */
    CHARGING_JOB
};

enum charging_answer {
    CHARGING_POTENTIAL,  /* V */
    CHARGING_STATUS,     /* other numbers count only with 0 */
    CHARGING_HAS_SECOND, /* 1: another stable potential */
    CHARGING_SECOND,     /* V */
    CHARGING_BY_DENSITY, /* by ln(density), kappa, ln(theta) */
    CHARGING_BY_KAPPA,
    CHARGING_BY_THETA,
    CHARGING_ELECTRONS, /* currents, A/m^2 */
    CHARGING_EMITTED,   /* photoelectrons in sunlight, secondaries in shade */
    CHARGING_IONS,
    CHARGING_ANSWER
};

/* A/m^2 in shade. */
enum currents_answer {
    CURRENTS_ELECTRONS,
    CURRENTS_SECONDARIES,
    CURRENTS_IONS,
    CURRENTS_KNOWN,
    CURRENTS_SIZE
};

/* Numbers of paritas_potential_status. */
#define CHARGING_FOUND 0.0
#define CHARGING_NO_DISTRIBUTION 1.0
#define CHARGING_ABOVE_RANGE 2.0
#define CHARGING_BELOW_ZERO 3.0
#define CHARGING_NO_BALANCE 4.0

#define CHARGING_GRID_ENERGIES 500
#define CHARGING_GRID_TERMS 504 /* a multiple of 8 */
enum charging_reals {
    CHARGING_SUN_LOWER, /* electron energies, eV */
    CHARGING_SUN_UPPER,
    CHARGING_SHADE_LOWER,
    CHARGING_SHADE_UPPER,
    CHARGING_SECONDARY_ENERGY,  /* temperature, eV */
    PLACE8(CHARGING_GRID, 512), /* of the sums; the last one repeated */
    CHARGING_REALS
};
#define CHARGING_GRID_SIZE (CHARGING_REALS - CHARGING_GRID)

#define CHARGING_NODES 24
#define CHARGING_SLAB_CONVERGED CHARGING_NODES
#define CHARGING_SLAB_SUMS (2 * CHARGING_GRID_TERMS)
