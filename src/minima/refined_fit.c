/* refined_fit.c: a minimum to the last digits of its parameters. */
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
