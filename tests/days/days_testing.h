/* days_testing.h: synthetic days for tests of days. */
#ifndef PARITAS_DAYS_TESTING_H
#define PARITAS_DAYS_TESTING_H

#include "er/er_testing.h"
#include "paritas_days.h"

#define DAYS_MOST 64
#define DAYS_TRUTHS (0 PARITAS_TRUTH_LIST(DAYS_ONE))
#define DAYS_ONE(name, column, doc) +1

/* n sweeps; *day NULL: out of memory. */
static inline paritas_status draw_day(paritas_context *own, const paritas_synthetic_options *options,
                                      size_t n, double truth[DAYS_TRUTHS][DAYS_MOST], paritas_er_day **day)
{
    paritas_truths truths = PARITAS_INIT(paritas_truths);
    size_t at = 0;
    assert_true(n <= DAYS_MOST);
#define POINT(name, column, doc) truths.name = truth[at++];
    PARITAS_TRUTH_LIST(POINT)
#undef POINT
    return paritas_day_synthesize(own, options, NULL, n, &truths, day);
}

/* At potentials of the day, with polarity -1 and without confidence sets. */
static inline paritas_day_options known_options(void)
{
    paritas_day_options options = PARITAS_DAY_OPTIONS_DEFAULT;
    options.potential_source = PARITAS_POTENTIAL_SOURCE_DAY;
    return options;
}

/* Prepares, counts and fits with the hard edge. */
static inline paritas_status fit_day(paritas_context *own, const paritas_day_options *options,
                                     paritas_er_day *day, paritas_day_sweeps **sweeps,
                                     paritas_losscone_result *results)
{
    paritas_losscone_sets sets = PARITAS_LOSSCONE_SETS_DEFAULT;
    paritas_losscone_options losscone = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    paritas_sweeps data;
    losscone.box_limit = 200;
    sets.confidence = PARITAS_CONFIDENCE_KIND_NONE;
    paritas_status status = paritas_day_prepare(own, options, NULL, day, sweeps);
    if (status == PARITAS_OK) status = paritas_day_count(own, options, day, *sweeps);
    if (status != PARITAS_OK) return status;
    paritas_day_sweeps_of(day, *sweeps, &data);
    status =
        paritas_losscone_mask(own, day->n, NULL, losscone.method, data.cosine, day->flux, (*sweeps)->flux);
    results[0].size = sizeof *results;
    return status == PARITAS_OK ? paritas_losscone_answer(own, &data, &losscone, &sets, results, NULL)
                                : status;
}

#endif
