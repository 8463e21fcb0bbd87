/* entry_kappa_potential.h: entries for the spacecraft's potential. */
#ifndef PARITAS_ENTRY_KAPPA_POTENTIAL_H
#define PARITAS_ENTRY_KAPPA_POTENTIAL_H

#include "kappa/kappa_potential.h"

/* args: jobs; [3] the rule, CHARGING_CONVERGED or CHARGING_SUMS. in, out: kappa/kappa_charging.h. */
KERNEL(kappa_potential)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    const u32 rule = args[3];
    const real zero = R(0.0);
    real density = LOAD_ROWS(in, rows, CHARGING_JOB, 0), kappa = LOAD_ROWS(in, rows, CHARGING_JOB, 1),
         theta = LOAD_ROWS(in, rows, CHARGING_JOB, 2);
    const mask sunlit = LOAD_ROWS(in, rows, CHARGING_JOB, 3) > zero;
    const mask some = density > zero;
    density = SELECT(some, density, R(1e6));
    kappa = SELECT(some, kappa, R(5.0));
    theta = SELECT(some, theta, R(1e7));
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
        answer[CHARGING_POTENTIAL] = SELECT(sunlit, answer[CHARGING_POTENTIAL], p.potential);
        answer[CHARGING_STATUS] = SELECT(sunlit, answer[CHARGING_STATUS], p.status);
        answer[CHARGING_HAS_SECOND] = SELECT(sunlit, zero, p.has_second);
        answer[CHARGING_SECOND] = SELECT(sunlit, zero, p.second);
        answer[CHARGING_BY_DENSITY] = SELECT(sunlit, answer[CHARGING_BY_DENSITY], by.by_density);
        answer[CHARGING_BY_KAPPA] = SELECT(sunlit, answer[CHARGING_BY_KAPPA], by.by_kappa);
        answer[CHARGING_BY_THETA] = SELECT(sunlit, answer[CHARGING_BY_THETA], by.by_theta);
        answer[CHARGING_ELECTRONS] = SELECT(sunlit, answer[CHARGING_ELECTRONS], c.electrons);
        answer[CHARGING_EMITTED] = SELECT(sunlit, answer[CHARGING_EMITTED], c.secondaries);
        answer[CHARGING_IONS] = SELECT(sunlit, zero, c.ions);
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

/* args: jobs; [3] the rule, [4] potentials. in: density, kappa, theta a job, then the potentials, the same
 * for all. out, a job and potential: electrons, secondaries and ions of a spacecraft in shade, then 1 where
 * there is such a plasma. */
KERNEL(kappa_currents)
{
    const lane_rows rows = rows_of_team(TEAM_INDEX, args[0]);
    const u32 rule = args[3], n = args[4];
    for (u32 i = 0; i < n; i++) {
        const real density = LOAD_ROWS(in, rows, 3, 0), kappa = LOAD_ROWS(in, rows, 3, 1),
                   theta = LOAD_ROWS(in, rows, 3, 2);
        const mask some = density > R(0.0);
        const currents c =
            currents_at(mr, s, rule, SELECT(some, density, R(1e6)), SELECT(some, kappa, R(5.0)),
                        SELECT(some, theta, R(1e7)), REAL_OF(in[3 * args[0] + i]));
        ONE_WORKER
        {
            STORE_ROWS(out, rows, 4 * n, 4 * i, c.electrons);
            STORE_ROWS(out, rows, 4 * n, 4 * i + 1, c.secondaries);
            STORE_ROWS(out, rows, 4 * n, 4 * i + 2, c.ions);
            STORE_ROWS(out, rows, 4 * n, 4 * i + 3, SELECT(AND(some, c.there), R(1.0), R(0.0)));
        }
    }
}

#endif
