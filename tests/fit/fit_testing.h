/* fit_testing.h: what the tests of evaluations and fits share: fixtures, points, workspaces to try. */
#ifndef PARITAS_FIT_TESTING_H
#define PARITAS_FIT_TESTING_H

#include "fit/workspaces.h"
#include "paritas.h"
#include "share.h"
#include "common.h"

/* A model and what holds it. */
struct fixture {
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    size_t n_parameters, n_main, n_data;
};

static inline void fill_fixture(struct fixture *f, const paritas_model_options *options)
{
    ASSERT_OK(f->context, paritas_model_create(f->context, f->workspace, options, &f->model));
    f->n_parameters = paritas_model_parameter_count(f->model);
    f->n_main = paritas_model_main_count(f->model);
    f->n_data = f->n_main + paritas_model_aux_count(f->model);
}

/* From the text of a workspace. `context` and `options` may be NULL. */
static inline struct fixture make_fixture(const char *text, const paritas_options *context,
                                          const paritas_model_options *options)
{
    struct fixture f;
    assert_int_equal(paritas_open(context, &f.context), PARITAS_OK);
    ASSERT_OK(f.context, paritas_workspace_parse(f.context, text, strlen(text), "test.json", &f.workspace));
    fill_fixture(&f, options);
    return f;
}

/* From a published analysis; false where its file is absent. */
static inline bool make_published(const struct published *analysis, const paritas_options *context,
                                  struct fixture *f)
{
    FILE *file = fopen(analysis->path, "rb");
    if (!file) return false;
    fclose(file);
    assert_int_equal(paritas_open(context, &f->context), PARITAS_OK);
    ASSERT_OK(f->context, paritas_workspace_read(f->context, analysis->path, &f->workspace));
    if (analysis->patch) {
        paritas_workspace *patch, *patched;
        ASSERT_OK(f->context, paritas_workspace_read(f->context, analysis->patch, &patch));
        ASSERT_OK(f->context, paritas_workspace_patch(f->context, f->workspace, patch, &patched));
        paritas_workspace_free(patch);
        paritas_workspace_free(f->workspace);
        f->workspace = patched;
    }
    fill_fixture(f, NULL);
    return true;
}

static inline void free_fixture(struct fixture *f)
{
    paritas_model_free(f->model);
    paritas_workspace_free(f->workspace);
    paritas_close(f->context);
}

/* Memory or the end of the test. */
static inline void *make_array(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) fail_msg("no memory");
    return memory;
}

/* A point near the suggested start: constrained parameters `spread` widths away or so, free ones by a
 * factor. */
static inline void random_point(const struct fixture *f, struct random *random, double spread, double *point)
{
    const double *init = paritas_model_suggested_init(f->model),
                 *width = paritas_model_constraint_widths(f->model);
    const double *lower = paritas_model_lower_bounds(f->model), *upper = paritas_model_upper_bounds(f->model);
    for (size_t p = 0; p < f->n_parameters; p++) {
        point[p] = isnan(width[p]) ? init[p] * exp(0.3 * spread * random_normal(random))
                                   : init[p] + spread * width[p] * random_normal(random);
        /* not upon the bounds of gammas at 1e-10: a rate of 1e-10 times the count magnifies roundings a
         * millionfold */
        const double least = isnan(width[p]) ? lower[p] : lower[p] + 1e-4;
        if (point[p] < least) point[p] = least;
        if (point[p] > upper[p]) point[p] = upper[p];
    }
}

/* Does twice the NLL rise above its value at `from` on the straight way to `to`? Then these are two
 * valleys. */
static inline bool barrier_between(const struct fixture *f, double height, const double *from,
                                   const double *to)
{
    double *point = make_array(f->n_parameters, sizeof *point), value;
    bool rises = false;
    enum { SEGMENTS = 200 };
    for (int k = 1; k < SEGMENTS && !rises; k++) {
        for (size_t p = 0; p < f->n_parameters; p++) point[p] = from[p] + (to[p] - from[p]) * k / SEGMENTS;
        ASSERT_OK(f->context, paritas_evaluate(f->context, f->model, 1, point, 0, NULL,
                                               SIZED(paritas_evaluate_answers, .twice_nll = &value)));
        rises = !(value <= height + 1e-7);
    }
    free(point);
    return rises;
}

#endif
