/* unfold_penalty.c: patterns and options become a penalty, and a penalty a part of a workspace. */
#include "base/json/json.h"
#include "base/pattern.h"
#include "base/sized.h"
#include "statistics/unfold.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PENALTIES "penalties" /* of a measurement's configuration */
#define NAME "unfolding"

/* ---- truth bins ---- */

/* Numbers inside names count as numbers: mu_2 stands before mu_10. */
static int by_number(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            char *rest_a, *rest_b;
            const unsigned long left = strtoul(a, &rest_a, 10), right = strtoul(b, &rest_b, 10);
            if (left != right) return left < right ? -1 : 1;
            a = rest_a;
            b = rest_b;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

/* Puts a parameter among those from `first` on, in order. */
static void insert(struct unfold_penalty *p, size_t first, size_t parameter)
{
    const char *name = paritas_model_parameter_name(p->model, parameter);
    size_t at = p->n++;
    for (; at > first; at--) {
        const size_t before = p->parameters[at - 1];
        if (by_number(paritas_model_parameter_name(p->model, before), name) <= 0) break;
        p->parameters[at] = before;
    }
    p->parameters[at] = parameter;
}

static bool is_listed(const struct unfold_penalty *p, size_t parameter)
{
    for (size_t k = 0; k < p->n; k++)
        if (p->parameters[k] == parameter) return true;
    return false;
}

static paritas_status find_parameters(paritas_context *context, const paritas_unfold_options *o,
                                      struct unfold_penalty *p)
{
    if (o->n_parameters == 0 || !o->parameters)
        return paritas_refuse(context, "`parameters`: name the normfactors of the truth bins, such as mu_*");
    for (size_t k = 0; k < o->n_parameters; k++) {
        const size_t first = p->n;
        if (!o->parameters[k]) return paritas_refuse(context, "`parameters`: pattern %zu is NULL", k);
        for (size_t i = 0; i < paritas_model_parameter_count(p->model); i++)
            if (pattern_matches(o->parameters[k], paritas_model_parameter_name(p->model, i)) &&
                !is_listed(p, i))
                insert(p, first, i);
        if (p->n == first)
            return paritas_refuse(context,
                                  "`parameters`: no %sparameter matches \"%.200s\"; `inspect` lists them",
                                  p->n > 0 ? "further " : "", o->parameters[k]);
    }
    const size_t least = (size_t)o->by + 1;
    if (p->n < least)
        return paritas_refuse(context, "`parameters`: regularisation by %s needs %zu truth bins, found %zu",
                              paritas_regularise_name(o->by), least, p->n);
    return PARITAS_OK;
}

/* ---- the matrix ---- */

paritas_status unfold_check_numbers(paritas_context *context, const char *name, size_t n, size_t wanted,
                                    const double *values)
{
    if (!values && n == 0) return PARITAS_OK;
    if (!values || n != wanted)
        return paritas_refuse(context, "`%s`: must have %zu numbers, one for each truth bin, found %zu", name,
                              wanted, values ? n : 0);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i])) return paritas_refuse(context, "`%s`: number %zu is not finite", name, i);
    return PARITAS_OK;
}

static void fill(const paritas_unfold_options *o, struct unfold_penalty *p)
{
    static const double differences[][3] = {{1.0}, {-1.0, 1.0}, {1.0, -2.0, 1.0}};
    for (size_t r = 0; r < p->n_rows; r++)
        for (size_t k = 0; k <= (size_t)o->by; k++)
            p->rows[r * p->n + r + k] = differences[o->by][k] * (o->weights ? o->weights[r + k] : 1.0);
    for (size_t r = 0; r < p->n_rows; r++)
        for (size_t i = 0; i < p->n; i++)
            for (size_t j = 0; j < p->n; j++)
                p->ties[i * p->n + j] += p->rows[r * p->n + i] * p->rows[r * p->n + j];
}

paritas_status unfold_penalty_make(paritas_context *context, struct arena *arena, const paritas_model *model,
                                   const paritas_unfold_options *options, struct unfold_penalty *penalty)
{
    const size_t all = paritas_model_parameter_count(model);
    struct unfold_penalty *p = penalty;
    *p = (struct unfold_penalty){.model = model, .parameters = arena_array(arena, all, sizeof(size_t))};
    if (!p->parameters) return paritas_fail_memory(context);
    TRY(find_parameters(context, options, p));
    TRY(unfold_check_numbers(context, "weights", options->n_weights, p->n, options->weights));
    TRY(unfold_check_numbers(context, "centres", options->n_centres, p->n, options->centres));
    p->n_rows = p->n - (size_t)options->by;
    p->rows = arena_array(arena, p->n_rows * p->n, sizeof *p->rows);
    p->ties = arena_array(arena, p->n * p->n, sizeof *p->ties);
    double *centres = arena_array(arena, p->n, sizeof *centres);
    if (!p->rows || !p->ties || !centres) return paritas_fail_memory(context);
    for (size_t i = 0; i < p->n; i++) centres[i] = options->centres ? options->centres[i] : 1.0;
    p->centres = centres;
    fill(options, p);
    return PARITAS_OK;
}

/* ---- the document ---- */

static struct json *describe(paritas_workspace *document, const struct unfold_penalty *p)
{
    struct json *object = json_new(document, JSON_OBJECT), *names = json_new(document, JSON_ARRAY),
                *rows = json_new(document, JSON_ARRAY);
    bool good = true;
    for (size_t i = 0; good && i < p->n; i++)
        good = json_append(names,
                           json_new_text(document, paritas_model_parameter_name(p->model, p->parameters[i])));
    for (size_t r = 0; good && r < p->n_rows; r++)
        good = json_append(rows, json_new_numbers(document, p->n, p->rows + r * p->n));
    good = good && json_set(document, object, "name", json_new_text(document, NAME)) &&
           json_set(document, object, "parameters", names) && json_set(document, object, "rows", rows) &&
           json_set(document, object, "centre", json_new_numbers(document, p->n, p->centres));
    return good ? object : NULL;
}

static struct json *config_of(const paritas_workspace *document, const char *measurement)
{
    const struct json *one = json_get(document->root, "measurements")->first;
    while (measurement && !json_text_is(json_get(one, "name"), measurement)) one = one->next;
    return (struct json *)json_get(one, "config");
}

paritas_status unfold_penalty_add(paritas_context *context, paritas_workspace *document,
                                  const char *measurement, const struct unfold_penalty *penalty,
                                  struct json **strength)
{
    struct json *config = config_of(document, measurement),
                *list = (struct json *)json_get(config, PENALTIES), *made = describe(document, penalty);
    for (const struct json *one = list ? list->first : NULL; one; one = one->next)
        if (json_text_is(json_get(one, "name"), NAME))
            return paritas_refuse(context, "%s: the measurement has a penalty \"" NAME "\" already",
                                  document->label);
    if (!list) {
        list = json_new(document, JSON_ARRAY);
        if (!json_set(document, config, PENALTIES, list)) return paritas_fail_memory(context);
    }
    *strength = made;
    return json_append(list, made) ? PARITAS_OK : paritas_fail_memory(context);
}

bool unfold_set_strength(paritas_workspace *document, struct json *strength, double tau)
{
    return json_set(document, strength, "strength", json_new_number(document, tau));
}

static paritas_status penalise(paritas_context *context, struct arena *arena, const paritas_model *model,
                               const char *measurement, const paritas_unfold_options *options, double tau,
                               paritas_workspace *document)
{
    struct unfold_penalty penalty;
    struct json *strength;
    TRY(unfold_penalty_make(context, arena, model, options, &penalty));
    TRY(unfold_penalty_add(context, document, measurement, &penalty, &strength));
    return unfold_set_strength(document, strength, tau) ? PARITAS_OK : paritas_fail_memory(context);
}

paritas_status paritas_penalise(paritas_context *context, const paritas_workspace *workspace,
                                const paritas_model_options *model_options,
                                const paritas_unfold_options *given, double tau,
                                paritas_workspace **penalised)
{
    paritas_unfold_options options = PARITAS_UNFOLD_OPTIONS_DEFAULT;
    paritas_model *model;
    struct arena arena;
    REQUIRE(context, penalised);
    *penalised = NULL;
    REQUIRE(context, workspace);
    TRY(OPTIONS_READ(context, paritas_unfold_options, "options", given, &options));
    if (!(tau >= 0.0 && tau < (double)INFINITY))
        return paritas_refuse(context, "`tau` must be at least 0, found %g", tau);
    TRY(paritas_model_create(context, workspace, model_options, &model));
    arena_open(&arena, &context->allocator);
    paritas_workspace *made = NULL;
    paritas_status status = json_copy_as(context, workspace, &made, "penalised");
    if (status == PARITAS_OK)
        status = penalise(context, &arena, model, model_options ? model_options->measurement : NULL, &options,
                          tau, made);
    arena_free(&arena);
    paritas_model_free(model);
    return json_hand_out(status, made, penalised);
}
