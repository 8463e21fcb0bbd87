/* day_causes.h: when many sweeps of a day are not good, which setting would make them so? */
#ifndef PARITAS_DAY_CAUSES_H
#define PARITAS_DAY_CAUSES_H

#include "days/day_losscone.h"
#include "days/day_plasma.h"

/* Fits up to 60 of the sweeps that are not good again with other settings, and writes "few_good" into the
 * day's answer: the setting with which most of them are good, if there is one. Nothing if fewer than 30 % of
 * the sweeps are bad. good: of each sweep. plasma: how spacecraft potentials are found. */
paritas_status losscone_find_cause(struct day_work *work, const struct losscone_plan *plan,
                                   const struct plasma_plan *plasma, const unsigned char *good);

#endif
