/* entry_kappa_potential.h: the spacecraft's potential. */
#ifndef PARITAS_ENTRY_KAPPA_POTENTIAL_H
#define PARITAS_ENTRY_KAPPA_POTENTIAL_H

#include "kappa/kappa_potential.h"

/* Without a density: not `some`, and a plasma that every function takes. */
typedef struct {
    mask some;
    real density, kappa, theta;
} charging_plasma;

FN charging_plasma charging_plasma_of(GLOBAL const elem *in, lane_rows rows, u32 stride)
{
    charging_plasma p;
    p.density = LOAD_ROWS(in, rows, stride, CHARGING_DENSITY);
    p.some = p.density > R(0.0);
    p.density = SELECT(p.some, p.density, R(1e6));
    p.kappa = SELECT(p.some, LOAD_ROWS(in, rows, stride, CHARGING_KAPPA), R(5.0));
    p.theta = SELECT(p.some, LOAD_ROWS(in, rows, stride, CHARGING_THETA), R(1e7));
    return p;
}

/* in: charging_job each. out: charging_answer. */
KERNEL(kappa_potential)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[CHARGING_ARG_JOBS]);
    const u32 rule = args[CHARGING_ARG_RULE];
    const real zero = R(0.0);
    const charging_plasma plasma = charging_plasma_of(in, rows, CHARGING_JOB);
    const real density = plasma.density, kappa = plasma.kappa, theta = plasma.theta;
    const mask sunlit = LOAD_ROWS(in, rows, CHARGING_JOB, CHARGING_SUNLIT) > zero;
    real answer[CHARGING_ANSWER];
    for (u32 i = 0; i < CHARGING_ANSWER; i++) answer[i] = zero;
    TEAM_IF(ANY(sunlit)) {
        const real lower = LOADM1(mr, CHARGING_SUN_LOWER), upper = LOADM1(mr, CHARGING_SUN_UPPER);
        const real current = current_electrons(current_plasma_at(density, kappa, theta, zero), lower, upper);
        real status;
        const real u = potential_in_sun(current, &status);
        const potential_slopes by = potential_slopes_in_sun(current, kappa, theta, density, u, lower, upper);
        answer[CHARGING_POTENTIAL] = u;
        answer[CHARGING_STATUS] = status;
        answer[CHARGING_BY_DENSITY] = by.by_density;
        answer[CHARGING_BY_KAPPA] = by.by_kappa;
        answer[CHARGING_BY_THETA] = by.by_theta;
        answer[CHARGING_ELECTRONS] = current;
        answer[CHARGING_EMITTED] = current_photoelectrons(u);
    }
    TEAM_IF(ANY(NOT(sunlit))) {
        const potential_balance p = potential_in_shade(mr, s, rule, density, kappa, theta);
        const potential_slopes by = potential_slopes_in_shade(mr, s, density, kappa, theta, p.potential);
        const currents c = currents_at(mr, s, rule, density, kappa, theta, p.potential);
        real shade[CHARGING_ANSWER];
        shade[CHARGING_POTENTIAL] = p.potential;
        shade[CHARGING_STATUS] = p.status;
        shade[CHARGING_HAS_SECOND] = p.has_second;
        shade[CHARGING_SECOND] = p.second;
        shade[CHARGING_BY_DENSITY] = by.by_density;
        shade[CHARGING_BY_KAPPA] = by.by_kappa;
        shade[CHARGING_BY_THETA] = by.by_theta;
        shade[CHARGING_ELECTRONS] = c.electrons;
        shade[CHARGING_EMITTED] = c.secondaries;
        shade[CHARGING_IONS] = c.ions;
        for (u32 i = 0; i < CHARGING_ANSWER; i++) answer[i] = SELECT(sunlit, answer[i], shade[i]);
    }
    answer[CHARGING_STATUS] = SELECT(plasma.some, answer[CHARGING_STATUS], R(CHARGING_NO_DISTRIBUTION));
    ONE_WORKER
    {
        const mask found = answer[CHARGING_STATUS] == zero;
        for (u32 i = 0; i < CHARGING_ANSWER; i++)
            STORE_ROWS(out, rows, CHARGING_ANSWER, i,
                       i == CHARGING_STATUS ? answer[i] : SELECT(found, answer[i], zero));
    }
}

/* in: each job's plasma, then shared potentials. out: currents_answer of each. */
KERNEL(kappa_currents)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[CHARGING_ARG_JOBS]);
    const u32 rule = args[CHARGING_ARG_RULE], n = args[CHARGING_ARG_POTENTIALS];
    const u32 all = CURRENTS_SIZE * n;
    const charging_plasma plasma = charging_plasma_of(in, rows, CHARGING_PLASMA);
    for (u32 i = 0; i < n; i++) {
        const u32 at = CURRENTS_SIZE * i;
        const currents c = currents_at(mr, s, rule, plasma.density, plasma.kappa, plasma.theta,
                                       REAL_OF(in[CHARGING_PLASMA * args[CHARGING_ARG_JOBS] + i]));
        ONE_WORKER
        {
            STORE_ROWS(out, rows, all, at + CURRENTS_ELECTRONS, c.electrons);
            STORE_ROWS(out, rows, all, at + CURRENTS_SECONDARIES, c.secondaries);
            STORE_ROWS(out, rows, all, at + CURRENTS_IONS, c.ions);
            STORE_ROWS(out, rows, all, at + CURRENTS_KNOWN,
                       SELECT(AND(plasma.some, c.there), R(1.0), R(0.0)));
        }
    }
}

#endif
