/* infer_testing.h: what the tests of the statistics share: models of a counting experiment. */
#ifndef PARITAS_INFER_TESTING_H
#define PARITAS_INFER_TESTING_H

#include "paritas.h"
#include "paritas_gradient.h"
#include "common.h"

/* A model and what holds it. */
struct fixture {
    paritas_context *context;
    paritas_workspace *workspace;
    paritas_model *model;
    paritas_shared_fits *shared; /* of models with templates; else NULL */
};

/* From the text of a workspace; with a context of its own. */
static inline struct fixture make_fixture_with(const paritas_options *options, const char *text)
{
    struct fixture f = {0};
    assert_int_equal(paritas_open(options, &f.context), PARITAS_OK);
    if (paritas_workspace_parse(f.context, text, strlen(text), "test.json", &f.workspace) != PARITAS_OK ||
        paritas_model_create(f.context, f.workspace, NULL, &f.model) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f.context));
    return f;
}

static inline struct fixture make_fixture(const char *text)
{
    return make_fixture_with(NULL, text);
}

static inline void free_fixture(struct fixture *f)
{
    paritas_shared_fits_free(f->shared);
    paritas_model_free(f->model);
    paritas_workspace_free(f->workspace);
    paritas_close(f->context);
}

/* One bin: n observed, mu s + b expected. `lower`, `upper`: bounds of mu. */
static inline struct fixture counting_with(const paritas_options *options, double n, double s, double b,
                                           double lower, double upper)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"channels\":[{\"name\":\"c\",\"samples\":["
             "{\"name\":\"s\",\"data\":[%.17g],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
             "\"data\":null}]},"
             "{\"name\":\"b\",\"data\":[%.17g],\"modifiers\":[]}]}],"
             "\"observations\":[{\"name\":\"c\",\"data\":[%.17g]}],"
             "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[{\"name\":\"mu\","
             "\"inits\":[%.17g],\"bounds\":[["
             "%.17g,%.17g]]}]}}],"
             "\"version\":\"1.0.0\"}",
             s, b, n,
             lower > 1.0   ? lower
             : upper < 1.0 ? upper
                           : 1.0,
             lower, upper);
    return make_fixture_with(options, text);
}

static inline struct fixture counting(double n, double s, double b, double lower, double upper)
{
    return counting_with(NULL, n, s, b, lower, upper);
}

/* Twice the logarithm of the likelihood ratio of rates n and lambda at n observed. */
static inline double deviance(double n, double lambda)
{
    return 2.0 * (lambda - n + (n > 0.0 ? n * log(n / lambda) : 0.0));
}

#endif
