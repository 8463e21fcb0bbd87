/* fuzz_model.h: the model that files of toys and draws belong to. */
#pragma once

#include "fuzzing.h"
#include "paritas.h"

/* Of examples/two_bins.json, made once. */
static inline paritas_model *fuzz_two_bins(paritas_context *context)
{
    static paritas_model *model;
    paritas_workspace *workspace;
    if (model) return model;
    check(paritas_workspace_read(context, PARITAS_SOURCE_DIR "/examples/two_bins.json", &workspace) ==
          PARITAS_OK);
    check(paritas_model_create(context, workspace, NULL, &model) == PARITAS_OK);
    paritas_workspace_free(workspace);
    return model;
}
