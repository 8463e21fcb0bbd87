/* kappa_charging.h: the spacecraft's potential as kernels and host see it: rows of jobs and answers, the options of
 * a run as the model's table. */
#ifndef PARITAS_KAPPA_CHARGING_H
#define PARITAS_KAPPA_CHARGING_H

/* In, a job: density (1/m^3; 0: there is no distribution), kappa, theta (m/s), 1 in sunlight and 0 in
 * shade. */
#define CHARGING_JOB 4

/* Out, an answer. */
#define CHARGING_POTENTIAL 0 /* V */
/* value of paritas_potential_status; with another one than 0 no other number counts */
#define CHARGING_STATUS 1
#define CHARGING_HAS_SECOND 2 /* 1: there is a second stable potential */
#define CHARGING_SECOND 3     /* V */
#define CHARGING_BY_DENSITY 4 /* derivatives of the potential by ln(density), kappa, ln(theta) */
#define CHARGING_BY_KAPPA 5
#define CHARGING_BY_THETA 6
#define CHARGING_ELECTRONS 7 /* currents there, A/m^2 */
#define CHARGING_EMITTED 8   /* photoelectrons in sunlight, secondaries in shade */
#define CHARGING_IONS 9
#define CHARGING_ANSWER 10

/* Statuses: those of paritas_potential_status. */
#define CHARGING_FOUND 0.0
#define CHARGING_NO_DISTRIBUTION 1.0
#define CHARGING_ABOVE_RANGE 2.0
#define CHARGING_BELOW_ZERO 3.0
#define CHARGING_NO_BALANCE 4.0

/* mr: the options */
#define CHARGING_SUN_LOWER 0 /* electrons that count, eV */
#define CHARGING_SUN_UPPER 1
#define CHARGING_SHADE_LOWER 2
#define CHARGING_SHADE_UPPER 3
#define CHARGING_SECONDARY_ENERGY 4 /* temperature of secondary electrons, eV */
/* energies of sums on a grid, behind the last one that one again; CHARGING_GRID_SIZE, only where asked for */
#define CHARGING_GRID 8
#define CHARGING_GRID_ENERGIES 500
#define CHARGING_GRID_TERMS 504 /* a multiple of 8 */
#define CHARGING_GRID_SIZE 512
#define CHARGING_REALS (CHARGING_GRID + CHARGING_GRID_SIZE)

/* How currents are integrated: args[3]. */
#define CHARGING_CONVERGED 0u
#define CHARGING_SUMS 1u /* trapezoids on the grid, as was usual */

/* Elements of the slab. */
#define CHARGING_NODES 24
#define CHARGING_SLAB_CONVERGED CHARGING_NODES
#define CHARGING_SLAB_SUMS (2 * CHARGING_GRID_TERMS)

#endif
