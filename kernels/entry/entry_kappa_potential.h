/* entry_kappa_potential.h: the spacecraft's potential. */
#pragma once

#include "kappa/kappa_potential.h"

/* Plasma of a job. Without a density: not `some`, and a plasma that every function takes. */
FN kappa_plasma charging_plasma(GLOBAL const elem *in, lane_rows rows, u32 stride, PRIVATE mask *some)
{
    const real density = LOAD_ROWS(in, rows, stride, CHARGING_DENSITY);
    *some = density > R(0.0);
    const kappa_plasma plasma = {SELECT(*some, density, R(1e6)),
                                 SELECT(*some, LOAD_ROWS(in, rows, stride, CHARGING_KAPPA), R(5.0)),
                                 SELECT(*some, LOAD_ROWS(in, rows, stride, CHARGING_THETA), R(1e7))};
    return plasma;
}

/* in: charging_job each. out: charging_answer. */
KERNEL(kappa_potential)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[CHARGING_ARG_JOBS]);
    const u32 rule = args[CHARGING_ARG_RULE];
    const real zero = R(0.0);
    const mask sunlit = LOAD_ROWS(in, rows, CHARGING_JOB, CHARGING_SUNLIT) > zero;
    mask some;
    const kappa_plasma plasma = charging_plasma(in, rows, CHARGING_JOB, &some);
    real answer[CHARGING_ANSWER];
    for (u32 i = 0; i < CHARGING_ANSWER; i++) answer[i] = zero;
    TEAM_IF(ANY(sunlit)) {
        const real lower = LOADM1(mr, CHARGING_SUN_LOWER), upper = LOADM1(mr, CHARGING_SUN_UPPER);
        const real current = current_electrons(current_plasma_at(plasma, zero), lower, upper);
        real status;
        const real u = potential_in_sun(current, &status);
        const potential_slopes by = potential_slopes_in_sun(current, plasma, u, lower, upper);
        answer[CHARGING_POTENTIAL] = u;
        answer[CHARGING_STATUS] = status;
        answer[CHARGING_BY_DENSITY] = by.by_density;
        answer[CHARGING_BY_KAPPA] = by.by_kappa;
        answer[CHARGING_BY_THETA] = by.by_theta;
        answer[CHARGING_ELECTRONS] = current;
        answer[CHARGING_EMITTED] = current_photoelectrons(u);
    }
    TEAM_IF(ANY(NOT(sunlit))) {
        const potential_balance p = potential_in_shade(mr, s, rule, plasma);
        const potential_slopes by = potential_slopes_in_shade(mr, s, plasma, p.potential);
        const currents c = currents_at(mr, s, rule, plasma, p.potential);
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
    answer[CHARGING_STATUS] = SELECT(some, answer[CHARGING_STATUS], R(CHARGING_NO_DISTRIBUTION));
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
    mask some;
    const kappa_plasma plasma = charging_plasma(in, rows, CHARGING_PLASMA, &some);
    for (u32 i = 0; i < n; i++) {
        const u32 at = CURRENTS_SIZE * i;
        const currents c =
            currents_at(mr, s, rule, plasma, REAL_OF(in[CHARGING_PLASMA * args[CHARGING_ARG_JOBS] + i]));
        ONE_WORKER
        {
            STORE_ROWS(out, rows, all, at + CURRENTS_ELECTRONS, c.electrons);
            STORE_ROWS(out, rows, all, at + CURRENTS_SECONDARIES, c.secondaries);
            STORE_ROWS(out, rows, all, at + CURRENTS_IONS, c.ions);
            STORE_ROWS(out, rows, all, at + CURRENTS_KNOWN, SELECT(AND(some, c.there), R(1.0), R(0.0)));
        }
    }
}
