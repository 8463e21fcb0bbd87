/* custom_model.h: the words with which a user writes a model in the kernel language: docs/models.md.
 *
 * A model's file names its parameters, includes this file, says what is expected of a datum, and includes the
 * entries:
 *
 *   enum { SIGNAL, BACKGROUND, PARAMETERS };
 *   #include "custom/custom_model.h"
 *   EXPECTATION
 *   {
 *       expectation y = expectation_zero();
 *       y.value = PFMA(COLUMN(0), PARAMETER(SIGNAL), COLUMN(1) * PARAMETER(BACKGROUND));
 *       y.first[SIGNAL] = COLUMN(0);
 *       y.first[BACKGROUND] = COLUMN(1);
 *       return y;
 *   }
 *   #include "entry/entry_custom.h"
 */
#ifndef PARITAS_CUSTOM_MODEL_H
#define PARITAS_CUSTOM_MODEL_H

#include "numeric/math.h"
#include "numeric/deviance.h"
#include "numeric/sum.h"
#include "numeric/tiles.h"
#include "custom/custom_arrays.h"

/* What is expected of PACK neighbouring data, with exact derivatives by the parameters; second[PAIR(j, k)]:
 * by j and k. */
typedef struct {
    pack value, first[PARAMETERS], second[PARAMETERS * (PARAMETERS + 1) / 2];
} expectation;

#define PAIR(j, k) ((j) > (k) ? (j) * ((j) + 1) / 2 + (k) : (k) * ((k) + 1) / 2 + (j))

FN expectation expectation_zero(void)
{
    expectation y;
    y.value = PK(0.0);
    for (u32 j = 0; j < PARAMETERS; j++) y.first[j] = PK(0.0);
    for (u32 k = 0; k < PARAMETERS * (PARAMETERS + 1) / 2; k++) y.second[k] = PK(0.0);
    return y;
}

/* Heads the user's function, of data i .. i + PACK - 1 of n. `x`: parameters; `data`: of this fit; `ints`,
 * `reals`: the host's tables. Answers past n do not count; what is read there is 0 or of another column. */
#define EXPECTATION                                                                                \
    FN expectation custom_expectation(u32 i, u32 n, GLOBAL const real *x, GLOBAL const real *data, \
                                      CONSTANT u32 *ints, CONSTANT elem *reals)
#define PARAMETER(j) PACK_OF(x[j])
#define DATUM LOADP(data, i)
#define COLUMN(k) LOADM(reals, (k) * n + i) /* of `reals` as columns of n */
#define OUTSIDE PK(1e30)                    /* a term's value where the parameters are outside its domain */

#endif
