/* custom_model.h: the words for a model in the kernel language: docs/models.md.
 *
 * A file names its parameters, includes this, gives the expectation of a datum, and includes the entries:
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
 *   #include "entry/entry_custom.h" */
#pragma once

#include "numeric/math.h"
#include "numeric/deviance.h"
#include "numeric/sum.h"
#include "numeric/tiles.h"
#include "custom/custom_arrays.h"

/* PACK neighbouring data, exact derivatives by parameters; second[PAIR(j, k)]: by j and k. */
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

/* The user's function, for data i .. i + PACK - 1 of n. `ints`, `reals`: the host's tables. Parameters and
 * this fit's data have names that a user's variable would not have. Past n answers do not count, and reads
 * give 0 or another column. */
#define EXPECTATION                                                                       \
    FN expectation custom_expectation(u32 i, u32 n, GLOBAL const real *model_x_,          \
                                      GLOBAL const real *model_data_, CONSTANT u32 *ints, \
                                      CONSTANT elem *reals)
#define PARAMETER(j) PACK_OF(model_x_[j])
#define DATUM LOADP(model_data_, i)
#define COLUMN(k) LOADM(reals, (k) * n + i) /* columns of n in `reals` */
#define OUTSIDE PK(1e30)                    /* a term outside its domain */
