/* losscone_counted.h: the likelihood of counts, for fits, sets and judgements of the folded edge. */
#pragma once

#include "moon/losscone/losscone.h"

/* A channel's place and width in ln E; the row's energy is 0. */
struct losscone_channel {
    double centre, width;
};
/* Finds it from the first and the last of five energies (paritas_losscone_channels). */
struct losscone_channel losscone_channel_shape(double first, double last);

/* Does the call take the likelihood of counts? */
bool losscone_is_counted(const struct losscone_call *call);
/* Refuses the method counts where it has no answer. */
paritas_status losscone_counted_check(paritas_context *context, const struct losscone_call *call);

paritas_status losscone_counted_fit(paritas_context *context, const struct losscone_call *call,
                                    paritas_losscone_result *results);
/* The least deviance over r at a potential, and that r; two a sweep. */
paritas_status losscone_counted_profile(paritas_context *context, const struct losscone_call *call,
                                        double potential, double (*found)[2]);
/* Deviances of other fits, for comparison: of the hard edge. */
paritas_status losscone_counted_deviances(paritas_context *context, const struct losscone_call *call,
                                          paritas_losscone_result *results);
/* Ends of sets, two a sweep. limits: deviances; not above 0: no set. */
paritas_status losscone_counted_sets(paritas_context *context, const struct losscone_call *call,
                                     const paritas_losscone_result *results, const double *limits,
                                     double (*ends)[2]);
/* Fills in what speaks of a fit's quality. answer: counted_answer. */
void losscone_counted_judge(const paritas_losscone_options *options, const double *answer,
                            paritas_losscone_result *r);
/* Adds what counts say of a fit of the hard edge. room: deviance if each cell is off by the incident flux. */
void losscone_counted_judge_hard(double room, paritas_losscone_result *r);
/* The threshold of a set of 95 %. What the model does not explain widens it (Birge, Phys. Rev. 40 (1932)
 * 207). */
double losscone_counted_threshold(const paritas_losscone_result *r);
