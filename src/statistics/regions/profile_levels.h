/* profile_levels.h: where a profile is fitted next, between two neighbouring nodes. */
#pragma once

#include "statistics/regions/profile_nodes.h"

/* Two neighbours of a curve that have answers. */
struct curve_gap {
    const struct profile_curve *curve;
    size_t left, right;          /* nodes */
    double a, b, qa, qb, sa, sb; /* values, q, slopes; a slope of the size of rounding is 0 */
};

/* The gap from a node on. False: the node is the last. */
bool gap_from(const struct profile_curve *curve, size_t left, struct curve_gap *gap);
/* Is nothing left between the ends that a fit could tell? */
bool gap_is_closed(const struct curve_gap *gap);
/* Is the middle to be fitted, to see whether the cubic holds? */
bool gap_wants_check(const struct curve_gap *gap);
/* Is q at a value as the cubic through both ends says? */
bool gap_agrees(const struct curve_gap *gap, double x, double q);
/* Is the crossing of the level between the ends known? */
bool gap_has_edge(const struct curve_gap *gap, double level);
bool gap_crosses(const struct curve_gap *gap, double level);
/* The edge between the ends. */
struct curve_end gap_edge(const struct curve_gap *gap, double level);
/* May a minimum that matters lie between the ends? */
bool gap_hides_minimum(const struct curve_gap *gap);
/* Values to fit next, at most one for each level and two more; returns their number. Rounds that are
 * multiples of three bisect. */
size_t gap_propose(const struct curve_gap *gap, int round, double *values);
