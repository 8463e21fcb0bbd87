/* histfactory_answers.h: everything that a device is asked about a HistFactory model, in parts. */
#ifndef PARITAS_TESTS_MATRIX_HISTFACTORY_ANSWERS_H
#define PARITAS_TESTS_MATRIX_HISTFACTORY_ANSWERS_H

#include "parity/results.h"

/* Behind the parts of results.h. */
enum histfactory_part {
    ANSWER_QUASI_NEWTON = RESULTS_PART_COUNT, /* fits of toys by the quasi-Newton method */
    ANSWER_DRAWN,                             /* a few toys as they are drawn */
    ANSWER_TANGENT,                           /* derivatives by data rows */
    ANSWER_CHAINS,                            /* a few draws from the posterior; f64 */
    ANSWER_POINTS,     /* values, derivatives, expected data, away from the start, for two data rows */
    ANSWER_TOY_ROWS,   /* toys across the end of the 32 bits of their number; none of templates */
    ANSWER_ONE_STEP,   /* fits: after one step of Newton's method, */
    ANSWER_QUASI_FITS, /* by L-BFGS-B, */
    ANSWER_WHOLE_FITS, /* and to the end, with errors and covariance */
    ANSWER_PARTS
};
#define PART(name) (1u << (name))

/* Appends the parts that have a bit in `parts`. All of it is computed on the context's device, unless f32
 * answers are to be polished. Ends the test where a call fails. */
void histfactory_answer(paritas_context *context, const paritas_model *model, unsigned parts,
                        struct results *results);

#endif
