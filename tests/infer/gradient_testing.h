/* gradient_testing.h: models for tests of derivatives, and derivatives by differences. */
#ifndef PARITAS_TESTS_INFER_GRADIENT_TESTING_H
#define PARITAS_TESTS_INFER_GRADIENT_TESTING_H

#include "paritas_gradient.h"
#include "codes_testing.h"
#include "infer_testing.h"

/* Every modifier type; constraints of both kinds. The second element of `shape` stays at its lower bound. */
static const char every_modifier[] =
    "{\"channels\":["
    "{\"name\":\"signal\",\"samples\":["
    "{\"name\":\"bkg\",\"data\":[52.0,31.0,12.5],\"modifiers\":["
    "{\"name\":\"scale\",\"type\":\"histosys\",\"data\":{\"hi_data\":[55.0,32.5,14.0],\"lo_data\":[50.0,29.0,"
    "11.5]}},"
    "{\"name\":\"lumi\",\"type\":\"lumi\",\"data\":null},"
    "{\"name\":\"rate\",\"type\":\"normsys\",\"data\":{\"hi\":1.12,\"lo\":0.91}},"
    "{\"name\":\"stat\",\"type\":\"staterror\",\"data\":[3.0,2.5,1.5]}]},"
    "{\"name\":\"other\",\"data\":[11.0,8.0,6.0],\"modifiers\":["
    "{\"name\":\"sideband\",\"type\":\"shapesys\",\"data\":[2.0,1.5,1.5]},"
    "{\"name\":\"rate\",\"type\":\"normsys\",\"data\":{\"hi\":0.94,\"lo\":1.07}}]},"
    "{\"name\":\"sig\",\"data\":[4.0,9.0,13.0],\"modifiers\":["
    "{\"name\":\"lumi\",\"type\":\"lumi\",\"data\":null},"
    "{\"name\":\"mu\",\"type\":\"normfactor\",\"data\":null},"
    "{\"name\":\"scale\",\"type\":\"histosys\",\"data\":{\"hi_data\":[4.3,9.5,13.5],\"lo_data\":[3.6,8.7,12."
    "1]}},"
    "{\"name\":\"stat\",\"type\":\"staterror\",\"data\":[0.3,0.4,0.5]}]}]},"
    "{\"name\":\"control\",\"samples\":["
    "{\"name\":\"bkg\",\"data\":[140.0,80.0],\"modifiers\":["
    "{\"name\":\"lumi\",\"type\":\"lumi\",\"data\":null},"
    "{\"name\":\"rate\",\"type\":\"normsys\",\"data\":{\"hi\":1.1,\"lo\":0.93}},"
    "{\"name\":\"scale\",\"type\":\"histosys\",\"data\":{\"hi_data\":[146.0,85.0],\"lo_data\":[136.0,77.0]}}]"
    "},"
    "{\"name\":\"fakes\",\"data\":[20.0,20.0],\"modifiers\":[{\"name\":\"shape\",\"type\":\"shapefactor\","
    "\"data\":null}]}]}],"
    "\"observations\":[{\"name\":\"signal\",\"data\":[%s]},{\"name\":\"control\",\"data\":[191.0,88.0]}],"
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":["
    "{\"name\":\"lumi\",\"auxdata\":[1.0],\"bounds\":[[0.5,1.5]],\"inits\":[1.0],\"sigmas\":[0.017]},"
    "{\"name\":\"mu\",\"inits\":[1.0],\"bounds\":[[%s]]}%s]}}],"
    "\"version\":\"1.0.0\"}";

/* `observed`: of the three bins of the signal region; `bounds`: of mu. */
static inline struct fixture all_modifiers(const char *observed, const char *bounds)
{
    char text[8192];
    assert_true((size_t)snprintf(text, sizeof text, every_modifier, observed, bounds, "") < sizeof text);
    return make_fixture(text);
}

/* With templates, in a context of these options. */
static inline struct fixture make_templates(const paritas_options *open, const char *text, size_t n,
                                            const paritas_template *templates)
{
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.n_templates = n;
    options.templates = templates;
    struct fixture f = {0};
    if (paritas_open(open, &f.context) != PARITAS_OK ||
        paritas_workspace_parse(f.context, text, strlen(text), "test.json", &f.workspace) != PARITAS_OK ||
        paritas_model_create(f.context, f.workspace, &options, &f.model) != PARITAS_OK ||
        paritas_shared_fits_create(f.context, f.model, NULL, &f.shared) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f.context));
    return f;
}

/* The same with rates and variations of most samples as templates, in a context of these options. `changed`:
 * with interpolation codes and constraints beyond pyhf's. */
static inline struct fixture templates_of(const paritas_options *open, const char *observed, bool changed)
{
    static const char laws[] =
        ",{\"name\":\"stat\",\"constraint\":{\"type\":\"poisson\"}},"
        "{\"name\":\"sideband\",\"constraint\":{\"type\":\"gaussian\"}},"
        "{\"name\":\"rate\",\"constraint\":{\"type\":\"lognormal\",\"offset\":1,\"slope\":0.2},"
        "\"auxdata\":[0.05],\"sigmas\":[0.18]},"
        "{\"name\":\"scale\",\"constraint\":{\"type\":\"poisson\",\"offset\":1,\"slope\":0.2},"
        "\"auxdata\":[24],\"factors\":[25]}";
    static const char *const factors[] = {"2c", "6", "4", NULL}, *const shifts[] = {"4p", "2c", NULL};
    static const paritas_template templates[] = {{PARITAS_TEMPLATE_NOMINAL, "signal", "sig", NULL},
                                                 {PARITAS_TEMPLATE_NOMINAL, "signal", "bkg", NULL},
                                                 {PARITAS_TEMPLATE_NOMINAL, "signal", "other", NULL},
                                                 {PARITAS_TEMPLATE_HISTOSYS_UP, "signal", "sig", "scale"},
                                                 {PARITAS_TEMPLATE_HISTOSYS_DOWN, "signal", "sig", "scale"},
                                                 {PARITAS_TEMPLATE_HISTOSYS_UP, "control", "bkg", "scale"},
                                                 {PARITAS_TEMPLATE_HISTOSYS_DOWN, "signal", "bkg", "scale"},
                                                 {PARITAS_TEMPLATE_NOMINAL, "control", "fakes", NULL},
                                                 {PARITAS_TEMPLATE_NORMSYS_UP, "signal", "bkg", "rate"},
                                                 {PARITAS_TEMPLATE_NORMSYS_DOWN, "signal", "bkg", "rate"},
                                                 {PARITAS_TEMPLATE_NORMSYS_DOWN, "signal", "other", "rate"},
                                                 {PARITAS_TEMPLATE_STATERROR, "signal", "bkg", "stat"},
                                                 {PARITAS_TEMPLATE_STATERROR, "signal", "sig", "stat"},
                                                 {PARITAS_TEMPLATE_SHAPESYS, "signal", "other", "sideband"}};
    char plain[8192], text[8192];
    assert_true((size_t)snprintf(plain, sizeof plain, every_modifier, observed, "0.0,10.0",
                                 changed ? laws : "") < sizeof plain);
    if (changed)
        put_codes(plain, factors, shifts, text, sizeof text);
    else
        memcpy(text, plain, sizeof text);
    return make_templates(open, text, COUNT(templates), templates);
}

static inline struct fixture all_templates(const paritas_options *open, const char *observed)
{
    return templates_of(open, observed, false);
}

static inline size_t row_length(const paritas_model *model)
{
    return paritas_model_main_count(model) + paritas_model_aux_count(model) +
           paritas_model_template_count(model);
}

/* One row, k outputs. */
static inline void differentiate_one(const struct fixture *f, const paritas_gradient_options *options,
                                     double mu, const double *row, double *values, double *by_row,
                                     double *by_mu)
{
    paritas_fit_status status;
    const paritas_gradient to = {
        .size = sizeof(paritas_gradient), .values = values, .statuses = &status, .data = by_row, .at = by_mu};
    if (paritas_differentiate(f->context, f->model, options, NULL, 1, &mu, row, &to) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    assert_int_equal(status, PARITAS_FIT_CONVERGED);
}

#define DIFFERENCES 4 /* steps, each half the one before */

/* Derivatives by every number of the row, of k outputs, from central differences with Richardson's
 * extrapolation: all values in one call. `steps`: the largest step of each number; 0: it is left out, and its
 * derivative 0. */
static inline void differences(const struct fixture *f, const paritas_gradient_options *options, double mu,
                               const double *row, const double *steps, size_t k, double *by_row)
{
    const size_t r = row_length(f->model), n = r * DIFFERENCES * 2;
    double *rows = malloc(n * r * sizeof *rows), *values = malloc(n * k * sizeof *values),
           *at = malloc(n * sizeof *at);
    assert_true(rows && values && at);
    for (size_t i = 0; i < n; i++) {
        const size_t number = i / (2 * DIFFERENCES);
        memcpy(rows + i * r, row, r * sizeof *row);
        rows[i * r + number] += (i % 2 ? -1.0 : 1.0) * steps[number] / (double)(1u << (i / 2 % DIFFERENCES));
        at[i] = mu;
    }
    const paritas_gradient to = {.size = sizeof(paritas_gradient), .values = values};
    if (paritas_differentiate(f->context, f->model, options, NULL, n, at, rows, &to) != PARITAS_OK)
        fail_msg("%s", paritas_error_message(f->context));
    for (size_t number = 0; number < r; number++)
        for (size_t j = 0; j < k; j++) {
            double slope[DIFFERENCES];
            for (size_t d = 0; d < DIFFERENCES; d++) {
                const double *pair = values + (number * DIFFERENCES + d) * 2 * k;
                slope[d] = steps[number] > 0.0
                               ? (pair[j] - pair[k + j]) / (2.0 * steps[number] / (double)(1u << d))
                               : 0.0;
            }
            double factor = 4.0;
            for (size_t order = 1; order < DIFFERENCES; order++, factor *= 4.0)
                for (size_t d = 0; d + order < DIFFERENCES; d++)
                    slope[d] = (factor * slope[d + 1] - slope[d]) / (factor - 1.0);
            by_row[j * r + number] = slope[0];
        }
    free(at);
    free(values);
    free(rows);
}

/* Gradients of the row against differences, relative to the largest slope of each output. */
static inline void check_gradient(const struct fixture *f, const paritas_gradient_options *options, double mu,
                                  const double *row, const double *steps, size_t k, double tolerance)
{
    const size_t r = row_length(f->model);
    double values[PARITAS_QUANTITY_OUTPUTS], *exact = malloc(k * r * sizeof *exact),
                                             *by_row = malloc(k * r * sizeof *by_row);
    assert_true(exact && by_row);
    differentiate_one(f, options, mu, row, values, by_row, NULL);
    differences(f, options, mu, row, steps, k, exact);
    for (size_t j = 0; j < k; j++) {
        double largest = 0.0;
        for (size_t i = 0; i < r; i++) largest = fmax(largest, fabs(by_row[j * r + i]));
        assert_true(largest > 0.0);
        for (size_t i = 0; i < r; i++) {
            if (steps[i] == 0.0) continue;
            if (!(fabs(by_row[j * r + i] - exact[j * r + i]) <= tolerance * largest))
                fail_msg(
                    "%s, output %zu by number %zu: %.15g, by differences %.15g (of the largest slope: %.2g)",
                    paritas_quantity_name(options->quantity), j, i, by_row[j * r + i], exact[j * r + i],
                    fabs(by_row[j * r + i] - exact[j * r + i]) / largest);
        }
    }
    free(by_row);
    free(exact);
}

#endif
