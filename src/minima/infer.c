/* infer.c: what all fits of a statistic share (infer.h). */
#include "minima/infer.h"
#include "base/sized.h"
#include "fit/fit_evaluate.h"
#include "fit/fit_rows.h"

#include <math.h>
#include <string.h>

double paritas_widest_bound(const paritas_model *model, size_t parameter)
{
    if (parameter >= paritas_model_parameter_count(model)) return (double)NAN;
    return widening_widest(paritas_model_lower_bounds(model)[parameter],
                           paritas_model_upper_bounds(model)[parameter]);
}

static paritas_status find_widths(struct infer *infer, const struct frozen *frozen)
{
    infer->widths = frozen->width;
    if (frozen->n_templates == 0) return PARITAS_OK;
    TRY(rows_check_templates(infer->context, frozen, infer->base.data, "data"));
    double *widths = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memcpy(widths, frozen->width, infer->n_parameters * sizeof *widths);
    frozen->family->constraint_widths(frozen, frozen_templates(frozen, infer->base.data), widths);
    infer->widths = widths;
    return PARITAS_OK;
}

static paritas_status find_pois(struct infer *infer)
{
    const bool own = infer->base.pois != NULL && infer->base.n_pois > 0;
    infer->pois = own ? infer->base.pois : paritas_model_pois(infer->model);
    infer->n_pois = own ? infer->base.n_pois : paritas_model_poi_count(infer->model);
    for (size_t k = 0; k < infer->n_pois; k++)
        if (infer->pois[k] >= infer->n_parameters)
            return paritas_refuse(infer->context, "pois[%zu]: the model has no parameter %zu", k,
                                  infer->pois[k]);
    return PARITAS_OK;
}

/* Bounds that the job gives are the caller's own, unless it says which are. */
static paritas_status find_widening(struct infer *infer, bool own)
{
    const size_t n = infer->n_parameters;
    unsigned char *kept = infer_array(infer, n, 1);
    double *widest = infer_reals(infer, n, 1);
    TRY(infer_memory(infer));
    for (size_t i = 0; i < n; i++) {
        kept[i] = infer->base.kept ? infer->base.kept[i] : own;
        widest[i] = widening_widest(infer->base.lower[i], infer->upper_given[i]);
    }
    infer->base.kept = kept;
    infer->widening = (struct widening){infer->n_pois, infer->pois, kept, infer->base.lower, widest};
    return PARITAS_OK;
}

paritas_status infer_open(struct infer *infer, paritas_context *context, const paritas_model *model,
                          const paritas_job *job, bool needs_poi)
{
    memset(infer, 0, sizeof *infer);
    infer->context = context;
    infer->model = model;
    arena_open(&infer->arena, &context->allocator);
    infer->base = (paritas_job)PARITAS_JOB_DEFAULT;
    TRY(OPTIONS_READ(context, paritas_job, "job", job, &infer->base));
    infer->starts = infer->base.starts;
    infer->n_parameters = paritas_model_parameter_count(model);
    infer->n_data = paritas_model_main_count(model) + paritas_model_aux_count(model) +
                    paritas_model_template_count(model);
    if (infer->base.data == NULL) infer->base.data = paritas_model_data(model);
    if (infer->base.start == NULL) infer->base.start = paritas_model_suggested_init(model);
    if (infer->base.lower == NULL) infer->base.lower = paritas_model_lower_bounds(model);
    if (infer->base.fixed == NULL) infer->base.fixed = paritas_model_suggested_fixed(model);
    const bool own = infer->base.upper != NULL;
    const double *upper = own ? infer->base.upper : paritas_model_upper_bounds(model);
    infer->upper_given = upper;
    infer->upper = infer_reals(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memcpy(infer->upper, upper, infer->n_parameters * sizeof *upper);
    infer->base.upper = infer->upper;
    TRY(find_widths(infer, paritas_model_frozen(model)));
    infer->poi = infer->n_parameters;
    infer->tests = needs_poi;
    TRY(find_pois(infer));
    TRY(find_widening(infer, own));
    if (!needs_poi) return PARITAS_OK;
    if (infer->n_pois == 0) return paritas_refuse(context, "the model has no parameter of interest");
    infer->poi = infer->pois[0];
    if (infer->base.fixed[infer->poi])
        return paritas_refuse(context, "the parameter of interest '%s' is fixed",
                              paritas_model_parameter_name(model, infer->poi));
    return PARITAS_OK;
}

paritas_status infer_open_for_toys(struct infer *infer, paritas_context *context, const paritas_model *model,
                                   const paritas_job *job, bool needs_poi)
{
    TRY(infer_open(infer, context, model, job, needs_poi));
    if (paritas_model_template_count(model) == 0) return PARITAS_OK;
    return paritas_refuse(context,
                          "toys of a model with templates are not drawn: make a model from a workspace "
                          "with the numbers in question");
}

static void note_minima(const struct infer *infer)
{
    const paritas_minima *m = &infer->minima;
    if (m->met < 2 || !m->parameter[0]) return;
    paritas_note(infer->context,
                 "a fit met %zu minima, the two lowest %.3g apart in 2 NLL: there %s is %.4g and %.4g",
                 m->met, m->next, m->parameter, m->at_lowest, m->at_next);
}

void infer_close(struct infer *infer)
{
    note_minima(infer);
    arena_free(&infer->arena);
}

paritas_fit_status infer_worse(paritas_fit_status a, paritas_fit_status b)
{
    return a > b ? a : b;
}

paritas_fit_status infer_place_status(const struct infer *infer, ptrdiff_t held, bool has_rates,
                                      paritas_fit_status status)
{
    if (status != PARITAS_FIT_NON_FINITE || !has_rates) return status;
    for (size_t i = 0; i < infer->n_parameters; i++)
        if (!infer->base.fixed[i] && (ptrdiff_t)i != held) return status;
    return PARITAS_FIT_CONVERGED;
}

paritas_status infer_check_tested(const struct infer *infer, size_t parameter, double value)
{
    const double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    if (value != 0.0 || (lower <= 0.0 && upper >= 0.0)) return infer_check_value(infer, parameter, value);
    const char *name = paritas_model_parameter_name(infer->model, parameter);
    return paritas_refuse(infer->context,
                          "a test compares with the background alone, where the parameter of interest is 0; "
                          "%s is bounded to [%.10g, %.10g], so it is no signal strength",
                          name, lower, upper);
}

paritas_status infer_check_value(const struct infer *infer, size_t parameter, double value)
{
    double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    if (value >= lower && value <= upper) return PARITAS_OK;
    return paritas_refuse(infer->context,
                          "%s = %.10g lies outside its bounds [%.10g, %.10g]: give it wider ones",
                          paritas_model_parameter_name(infer->model, parameter), value, lower, upper);
}

static bool is_poi(const struct infer *infer, size_t parameter)
{
    for (size_t k = 0; k < infer->n_pois; k++)
        if (infer->pois[k] == parameter) return true;
    return false;
}

static void widen(struct infer *infer, size_t poi, double mu)
{
    widening_reach(infer->base.lower[poi], infer->widening.widest[poi], mu, &infer->upper[poi]);
}

void infer_widen(struct infer *infer, double mu)
{
    widen(infer, infer->pois[0], mu);
}

bool infer_gives_way(struct infer *infer, const unsigned char *fixed, const double *end)
{
    for (size_t k = 0; k < infer->n_pois; k++) {
        const size_t poi = infer->pois[k];
        infer->fit_beyond = infer->fit_beyond || (!fixed[poi] && end[poi] > infer->upper_given[poi]);
    }
    return widening_gives(&infer->widening, fixed, end, infer->upper);
}

bool infer_doubles(struct infer *infer, size_t parameter)
{
    return is_poi(infer, parameter) && widening_doubles(&infer->widening, parameter, infer->upper);
}

bool infer_upper_gives_way(const struct infer *infer, size_t parameter)
{
    return is_poi(infer, parameter) && !infer->widening.kept[parameter];
}

paritas_status infer_keep_bounds(struct infer *infer, bool kept)
{
    unsigned char *flags = infer_array(infer, infer->n_parameters, 1);
    TRY(infer_memory(infer));
    memset(flags, kept, infer->n_parameters);
    infer_put_kept(infer, flags);
    return PARITAS_OK;
}

void infer_put_kept(struct infer *infer, const unsigned char *kept)
{
    infer->base.kept = infer->widening.kept = kept;
}

bool infer_is_widened(const struct infer *infer, size_t parameter)
{
    return infer->upper[parameter] > infer->upper_given[parameter];
}

paritas_status infer_check_profiled(const struct infer *infer, size_t k, const size_t *parameters)
{
    paritas_context *context = infer->context;
    if (k < 1 || k > INFER_FIXED_MAX)
        return paritas_refuse(context, "a scan takes 1 to %d parameters, not %zu", INFER_FIXED_MAX, k);
    for (size_t j = 0; j < k; j++) {
        if (parameters[j] >= infer->n_parameters)
            return paritas_refuse(context, "the model has no parameter %zu", parameters[j]);
        if (infer->base.fixed[parameters[j]])
            return paritas_refuse(context, "'%s' is fixed and cannot be scanned",
                                  paritas_model_parameter_name(infer->model, parameters[j]));
        for (size_t i = 0; i < j; i++)
            if (parameters[i] == parameters[j])
                return paritas_refuse(context, "a scan takes different parameters, not '%s' twice",
                                      paritas_model_parameter_name(infer->model, parameters[j]));
    }
    return PARITAS_OK;
}

paritas_status infer_make_room(struct infer *infer, size_t parameter, double value)
{
    if (!is_poi(infer, parameter) || !(value > infer->upper[parameter])) return PARITAS_OK;
    const double widest = infer->widening.widest[parameter];
    if (value > widest)
        return paritas_refuse(infer->context,
                              "%s = %.10g lies outside its bounds [%.10g, %.10g], which are widened up to "
                              "%.10g at most",
                              paritas_model_parameter_name(infer->model, parameter), value,
                              infer->base.lower[parameter], infer->upper_given[parameter], widest);
    widen(infer, parameter, value);
    return PARITAS_OK;
}

void infer_put_bound(const struct infer *infer, double *upper_bound, paritas_truth *bound_widened)
{
    *upper_bound = infer->n_pois > 0 ? infer->upper[infer->pois[0]] : (double)NAN;
    *bound_widened = infer->n_pois > 0 && infer_is_widened(infer, infer->pois[0]);
}

void infer_put_best(const struct infer *infer, const struct infer_profile *profile, paritas_fit_result *best,
                    double *parameters)
{
    *best = profile->result;
    best->size = sizeof *best;
    if (parameters) memcpy(parameters, profile->parameters, infer->n_parameters * sizeof *parameters);
}

void infer_note_widening(const struct infer *infer)
{
    for (size_t k = 0; k < infer->n_pois; k++) {
        const size_t poi = infer->pois[k];
        if (infer_is_widened(infer, poi))
            paritas_note(infer->context,
                         "the upper bound of %s was widened from %.6g to %.6g, as %s lies beyond",
                         paritas_model_parameter_name(infer->model, poi), infer->upper_given[poi],
                         infer->upper[poi], infer->fit_beyond ? "a best fit" : "a tested value");
    }
}

void *infer_array(struct infer *infer, size_t n, size_t size)
{
    void *array = arena_array(&infer->arena, n, size);
    if (!array) infer->out_of_memory = true;
    return array;
}

double *infer_reals(struct infer *infer, size_t n, size_t p)
{
    return infer_array(infer, n, p * sizeof(double));
}

paritas_status infer_memory(const struct infer *infer)
{
    return infer->out_of_memory ? paritas_fail_memory(infer->context) : PARITAS_OK;
}

double infer_bounded(const struct infer *infer, size_t parameter, double value)
{
    const double lower = infer->base.lower[parameter], upper = infer->base.upper[parameter];
    const double from_lower = value < lower ? lower : value;
    return from_lower > upper ? upper : from_lower;
}

paritas_status infer_evaluate(struct infer *infer, size_t n, const double *points, const double *data,
                              double *twice_nll, double *gradient, double *hessian)
{
    return fit_evaluate(
        infer->context, infer->context->host, infer->model, n, points, 1, data,
        &(paritas_evaluate_answers){.twice_nll = twice_nll, .gradient = gradient, .hessian = hessian});
}

paritas_status infer_expected(struct infer *infer, const double *point, double *expected)
{
    return family_expected_data(infer->context, infer->context->host, infer->model, 1, point,
                                infer->base.data, expected);
}

paritas_status infer_judge_place(struct infer *infer, ptrdiff_t held, const double *parameters,
                                 paritas_fit_status *status)
{
    if (infer_place_status(infer, held, true, *status) == *status) return PARITAS_OK;
    double *expected = infer_reals(infer, infer->n_data, 1);
    bool has_rates = true;
    TRY(infer_memory(infer));
    TRY(infer_expected(infer, parameters, expected));
    for (size_t k = 0; k < paritas_model_main_count(infer->model); k++)
        has_rates = has_rates && isfinite(expected[k]) && expected[k] >= 0.0;
    *status = infer_place_status(infer, held, has_rates, *status);
    return PARITAS_OK;
}

unsigned char *infer_fixed_flags(struct infer *infer, const struct infer_point *point)
{
    unsigned char *fixed = infer_array(infer, infer->n_parameters, 1);
    if (!fixed) return NULL;
    memcpy(fixed, infer->base.fixed, infer->n_parameters);
    for (size_t j = 0; point && j < point->k; j++) fixed[point->parameter[j]] = 1;
    return fixed;
}

struct infer_point infer_point_at(const struct infer *infer, struct infer_profile *profile, double mu)
{
    return (struct infer_point){.profile = profile, .k = 1, .parameter = {infer->poi}, .value = {mu}};
}

bool infer_same_parameters(const struct infer_point *a, const struct infer_point *b)
{
    return a->k == b->k && memcmp(a->parameter, b->parameter, a->k * sizeof a->parameter[0]) == 0;
}

bool infer_is_free(const struct infer_profile *profile, size_t parameter)
{
    const paritas_parameter_state state = profile->states[parameter];
    return state == PARITAS_PARAMETER_FREE || state == PARITAS_PARAMETER_AT_KINK;
}

void infer_add_minima(paritas_minima *minima, const paritas_minima *others)
{
    const size_t met = others->met > minima->met ? others->met : minima->met;
    const double apart = fmax(minima->apart, others->apart);
    if (others->parameter[0] && (!minima->parameter[0] || others->next < minima->next)) *minima = *others;
    minima->met = met;
    minima->apart = apart;
}

static size_t most_different(const struct infer *infer, const double *lowest, const double *next)
{
    double most = 0.0;
    size_t differs = 0;
    for (size_t i = 0; i < infer->n_parameters; i++) {
        const double scale = infer->widths[i] > 0.0 ? infer->widths[i] : fmax(1.0, fabs(lowest[i])),
                     apart = fabs(next[i] - lowest[i]) / scale;
        if (!(apart > most)) continue;
        most = apart;
        differs = i;
    }
    return differs;
}

/* The name, or its start up to a whole letter. */
static void put_name(const char *name, char to[PARITAS_MINIMA_NAME])
{
    size_t length = strlen(name);
    if (length > PARITAS_MINIMA_NAME - 1) length = PARITAS_MINIMA_NAME - 1;
    while (name[length] != '\0' && ((unsigned char)name[length] & 0xc0) == 0x80) length--;
    memcpy(to, name, length);
    to[length] = '\0';
}

void infer_note_minima(struct infer *infer, const paritas_minima *found, const double *lowest,
                       const double *next)
{
    const size_t differs = most_different(infer, lowest, next);
    paritas_minima named = *found;
    put_name(paritas_model_parameter_name(infer->model, differs), named.parameter);
    named.at_lowest = lowest[differs];
    named.at_next = next[differs];
    infer_add_minima(&infer->minima, &named);
}

void infer_forget_minima(struct infer *infer)
{
    infer->search = NULL;
    infer->minima = (paritas_minima){0};
}

paritas_status infer_check_members(const struct infer *infer, size_t n, const unsigned char *members)
{
    for (size_t j = 0; j < n; j++)
        if (members[j * infer->n_parameters + infer->poi])
            return paritas_refuse(infer->context, "group %zu: the parameter of interest '%s' cannot be held",
                                  j, paritas_model_parameter_name(infer->model, infer->poi));
    return PARITAS_OK;
}

paritas_status infer_constraint_centres(struct infer *infer, double *centres)
{
    size_t n = infer->n_parameters, main_count = paritas_model_main_count(infer->model);
    const double *widths = infer->widths, *at = paritas_model_suggested_init(infer->model);
    for (size_t i = 0; i < n; i++) centres[i] = (double)NAN;
    if (main_count == infer->n_data) return PARITAS_OK;
    double *expected = infer_reals(infer, infer->n_data, 1);
    TRY(infer_memory(infer));
    if (!paritas_model_frozen(infer->model)->no_expectation)
        TRY(infer_expected(infer, at, expected));
    else /* auxiliary data measure the parameters */
        for (size_t i = 0, k = main_count; i < n; i++)
            if (!isnan(widths[i])) expected[k++] = at[i];
    /* auxiliary data are in parameter order; a datum expects the parameter or tau times it */
    size_t aux = main_count;
    for (size_t i = 0; i < n; i++) {
        if (isnan(widths[i]) || aux == infer->n_data) continue;
        double datum = infer->base.data[aux];
        centres[i] = expected[aux] == at[i] ? datum : datum * (at[i] / expected[aux]);
        aux++;
    }
    const struct frozen *frozen = paritas_model_frozen(infer->model);
    if (frozen->family->constraint_centres)
        frozen->family->constraint_centres(frozen, infer->base.data, centres);
    return PARITAS_OK;
}

paritas_status paritas_constraint_centres(paritas_context *context, const paritas_model *model,
                                          const double *data, double *centres)
{
    REQUIRE(context, model, centres);
    struct infer infer;
    paritas_job job = PARITAS_JOB_DEFAULT;
    job.data = data;
    paritas_status status = infer_open(&infer, context, model, &job, false);
    if (status == PARITAS_OK) status = infer_constraint_centres(&infer, centres);
    infer_close(&infer);
    return status;
}
