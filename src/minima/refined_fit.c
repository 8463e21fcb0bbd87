/* refined_fit.c: a minimum to the last digits of its parameters, and the bounds of a best fit. */
#include "minima/conditional_fits.h"

#include <string.h>

static paritas_status refine(struct infer *infer, double *point)
{
    struct infer_profile profile = {.data = infer->base.data};
    struct infer_point minimum = {.profile = &profile, .parameters = point};
    TRY(infer_polish(infer, &minimum));
    memmove(point, minimum.parameters, infer->n_parameters * sizeof *point);
    return PARITAS_OK;
}

paritas_status paritas_fit_refine(paritas_context *context, const paritas_model *model,
                                  const paritas_job *job, double *point)
{
    REQUIRE(context, model, point);
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    if (status == PARITAS_OK) status = refine(&infer, point);
    infer_close(&infer);
    return status;
}

paritas_status paritas_best_fit_bounds(paritas_context *context, const paritas_model *model,
                                       const paritas_job *job, double *upper)
{
    REQUIRE(context, model, upper);
    struct infer infer;
    paritas_status status = infer_open(&infer, context, model, job, false);
    struct infer_profile best = {.data = infer.base.data};
    if (status == PARITAS_OK) status = infer_free_fit(&infer, &best);
    if (status == PARITAS_OK) {
        infer_note_widening(&infer);
        memcpy(upper, infer.upper, infer.n_parameters * sizeof *upper);
    }
    infer_close(&infer);
    return status;
}
