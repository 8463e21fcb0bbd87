/* profile_curve.h: the profile of one parameter over a range, and its parts below levels.
 *
 *   coarse values, known minima ─► halves, where the curve is not as predicted ─► minima by free fits,
 *   maxima between parts ─► crossings ─► further starts at the crossings
 *
 * A part of a region holds a minimum of the profile. So known minima lead to parts, and so do slopes that
 * change their sign between two values. A round is one batch of fits. */
#pragma once

#include "minima/infer.h"

/* A fitted value of the parameter. */
struct curve_node {
    struct infer_point *point; /* in the arena, with its slope */
    bool checked;              /* up to the next node the curve was as predicted */
    bool descended;            /* a free fit from here, or from the next node, found no minimum between */
    bool searched;             /* from further starts */
    bool fresh;                /* not compared with its neighbours yet */
};

/* A minimum of the likelihood, where the parameter is free. */
struct curve_minimum {
    double value, twice_nll, error; /* error: NaN if the fit has none */
    const double *parameters;
};

struct profile_curve {
    struct infer *infer;           /* its poi is the parameter */
    struct infer_profile *profile; /* the caller's, fitted; a lower minimum replaces it */
    double lower, upper;           /* where the curve is looked at */
    bool widens;                   /* `upper` may give way to the part with the best fit */
    const unsigned char *kept;     /* bounds that the job keeps; on the way all are kept */
    size_t n_levels;
    const double *levels; /* of q, in any order */
    double top;           /* minima up to this q matter: the highest level, or more */
    double unit;          /* a length of the parameter: its error, or a part of the range */
    size_t n, room, n_minima;
    struct curve_node *nodes; /* ascending */
    struct curve_minimum minima[16];
};

/* Where the curve below a level ends. */
struct curve_end {
    paritas_minos_end end;
    double value;
};

/* A piece of the curve below a level. */
struct curve_part {
    struct curve_end ends[2];
    double at, q; /* its minimum */
};

/* Sets a curve of infer->poi over its bounds, for levels of q. The profile has its free fit. */
void profile_curve_open(struct profile_curve *curve, struct infer *infer, struct infer_profile *profile,
                        size_t n_levels, const double *levels);
/* Follows the curve of infer->poi from `lower` to `upper`. `taken`: n points that hold this parameter alone,
 * fitted from further starts. */
paritas_status profile_curve_follow(struct profile_curve *curve, size_t n, struct infer_point *taken);
/* Takes the minima that searches of the free fit have met, and no more. */
paritas_status profile_curve_take_known(struct profile_curve *curve);
/* Parts below a level, ascending: up to `room` of them. Returns how many there are. */
size_t profile_curve_parts(const struct profile_curve *curve, double level, size_t room,
                           struct curve_part *parts);

/* Twice the NLL of a node above the best fit; infinite outside the domain. */
double profile_curve_q(const struct profile_curve *curve, size_t node);
/* The next node from `from` on whose fit has an answer; curve->n: none. */
size_t profile_curve_next(const struct profile_curve *curve, size_t from);
