/* live_model.c: a model that stays in memory, for the sliders of the web page (README.md).
 *
 * The page calls the functions below by their exported names, once for each instance of the program until
 * live_freeze. They take over texts from live_allocate. Failures are 0, with a message on standard error. */
#include "paritas.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name), used)) name

static paritas_context *context;
static paritas_workspace *workspace;
static paritas_model *model;
static double *point;  /* parameter_count: what the page writes */
static double *yields; /* for each channel, for each sample, its bins */
static size_t n_yields;

static bool done(paritas_status status)
{
    if (status == PARITAS_OK) return true;
    const char *message = context ? paritas_error_message(context) : "";
    fprintf(stderr, "paritas: %s\n", message[0] != '\0' ? message : paritas_status_message(status));
    return false;
}

void *EXPORT(live_allocate)(size_t size)
{
    return malloc(size);
}

bool EXPORT(live_read)(char *path)
{
    const bool read =
        done(paritas_open(NULL, &context)) && done(paritas_document_read(context, path, NULL, &workspace));
    free(path);
    return read;
}

/* `name`: of a patch in the patch set; NULL: the file is one patch. */
bool EXPORT(live_patch)(char *path, char *name)
{
    paritas_workspace *patch = NULL, *patched = NULL;
    if (done(paritas_workspace_read(context, path, &patch)) &&
        done(name ? paritas_patchset_apply(context, workspace, patch, name, &patched)
                  : paritas_workspace_patch(context, workspace, patch, &patched))) {
        paritas_workspace_free(workspace);
        workspace = patched;
    }
    paritas_workspace_free(patch);
    free(path);
    free(name);
    return patched;
}

/* `measurement`: NULL for the first. */
bool EXPORT(live_freeze)(char *measurement)
{
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.measurement = measurement;
    if (!done(paritas_model_create(context, workspace, &options, &model))) return false;
    free(measurement);
    for (size_t c = 0; c < paritas_model_channel_count(model); c++)
        n_yields += paritas_model_channel_bins(model, c) * paritas_model_sample_count(model, c);
    point = calloc(paritas_model_parameter_count(model), sizeof *point);
    yields = calloc(n_yields, sizeof *yields);
    return point && yields ? true : done(PARITAS_OUT_OF_MEMORY);
}

/* Where the page writes the parameters' values before live_expected. */
double *EXPORT(live_point)(void)
{
    return point;
}

/* Expected main data by sample. */
const double *EXPORT(live_expected)(void)
{
    return done(paritas_expected_by_sample(context, model, point, yields)) ? yields : NULL;
}

int EXPORT(live_expected_count)(void)
{
    return (int)n_yields;
}
