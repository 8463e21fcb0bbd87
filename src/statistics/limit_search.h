/* limit_search.h: where a search for limits tests next.
 *
 *   tests so far ─► limit_search_propose: brackets of the six curves ─► limit_search_collect: values to test
 *
 * The caller fits them and adds them to the tests, until all brackets are settled or hopeless. */
#pragma once

#include "statistics/limit_tests.h"

#define LIMIT_ACCEPT 2e-5 /* relative distance of a root from the nearest test */
#define LIMIT_PATIENCE 6  /* tests of a curve before the search becomes careful, and bisects in turns */

/* CLs is above the level at `low`, below at `high`: the last such place upward. Roots must be within
 * LIMIT_ACCEPT of a test, where CLs must be the level by the test's own value and slope. */
struct bracket {
    double low, high;  /* high: HUGE_VAL while unknown */
    double root;       /* NaN while unknown */
    bool below_before; /* CLs was below the level before `low` too */
    bool settled, hopeless;
    bool jump;               /* settled, but CLs there is not the level */
    unsigned proposals, far; /* all of them; those beyond the last test without a root to aim at */
    enum paritas_reason reason;
};

struct limit_search {
    struct limit_tests tests;
    struct bracket brackets[ASYMPTOTIC_CURVES];
    double crossings[ASYMPTOTIC_CURVES][PARITAS_CROSSINGS_MOST]; /* but the limit; then NaN */
    double scale;                                                /* of the first step */
    bool spread;                                                 /* tests were spread where a curve turns */
};

/* Forgets the brackets, but not how many tests each had. */
void limit_search_restart(struct limit_search *s);
/* Sets the brackets of curves without an answer yet. true: one jumps, or has had LIMIT_PATIENCE tests. */
bool limit_search_propose(struct limit_search *s);
/* The proposals, ascending, without doubles: at most ASYMPTOTIC_CURVES. observed: the observed curve needs
 * this one (NULL allowed). */
size_t limit_search_collect(const struct limit_search *s, double *mu, bool *observed);

void limit_search_give_up(struct bracket *bracket, enum paritas_reason reason);
/* Has the test at mu a CLs? true where there is no test. */
bool limit_search_has_answer(const struct limit_tests *tests, int curve, double mu);
/* Where the curve crosses the level between two tests, ascending; PARITAS_CROSSINGS_MOST at most. */
size_t limit_search_crossings(const struct limit_tests *tests, int curve, double *crossings);
