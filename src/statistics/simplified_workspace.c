/* simplified_workspace.c: moments become a workspace.
 *
 *   moments ─► expansion ─► theta = L u ─► channels: background by u, signal ─► measurement
 *
 * Quadratic rates are functions of correlated thetas, which cost least. Where the correlation has no inverse,
 * thetas are functions of u. */
#include "base/json/number.h"
#include "fit/cholesky.h"
#include "paritas_simplified.h"
#include "statistics/simplified.h"

#include <math.h>
#include <stdio.h>

#define ROOT_LEAST 1e-10      /* a pivot below is rounding of the moments */
#define SAME_CORRELATION 1e-6 /* a larger distance is noted */
#define TIED_LEAST 1e-6       /* a smaller pivot is no correlation of constraints */
#define NAME_ROOM 48

struct form {
    paritas_context *context;
    paritas_workspace *document;
    paritas_simplified form;
    struct simplified_moments moments;
    struct simplified_expansion expansion;
    size_t rank;
    double *root;     /* L: n rows of n, `rank` columns used */
    bool tied;        /* thetas are parameters */
    double *up, *low; /* of a channel */
};

static void name_of(const char *what, size_t k, char name[NAME_ROOM])
{
    snprintf(name, NAME_ROOM, "%s_%03zu", what, k); /* sorts as it counts */
}

/* ---- independent parameters ---- */

/* L L^T */
static double correlation_of(const struct form *f, size_t i, size_t j)
{
    const size_t n = f->moments.n;
    double sum = 0.0;
    for (size_t k = 0; k < f->rank; k++) sum += f->root[i * n + k] * f->root[j * n + k];
    return sum;
}

/* Rows of L get the length 1, which an indefinite correlation would not give. Returns the largest distance
 * from the correlation. */
static double normalise(const struct form *f)
{
    const size_t n = f->moments.n;
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double square = correlation_of(f, i, i);
        for (size_t k = 0; k < f->rank && square > 0.0; k++) f->root[i * n + k] /= sqrt(square);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            most = fmax(most, fabs(correlation_of(f, i, j) - f->expansion.correlation[i * n + j]));
    return most;
}

/* Whether the correlation has an inverse. The last column has the last pivot's root alone. */
static bool can_be_tied(const struct form *f)
{
    const size_t n = f->moments.n;
    double pivot = 0.0;
    for (size_t i = 0; i < n && f->rank == n; i++) pivot = fmax(pivot, fabs(f->root[i * n + n - 1]));
    return pivot * pivot > TIED_LEAST;
}

static paritas_status find_root(struct form *f)
{
    const size_t n = f->moments.n;
    struct simplified_expansion *e = &f->expansion;
    f->root = arena_array(&f->document->arena, n * n, sizeof *f->root);
    if (!f->root) return paritas_fail_memory(f->context);
    for (size_t i = 0; i < n; i++) { /* a bin without error has no theta */
        if (e->b[i] != 0.0 || e->c[i] != 0.0) continue;
        for (size_t j = 0; j < n; j++) e->correlation[i * n + j] = e->correlation[j * n + i] = 0.0;
    }
    f->rank = cholesky_with_pivots(n, e->correlation, ROOT_LEAST, f->root);
    const double distance = normalise(f);
    f->tied = f->form == PARITAS_SIMPLIFIED_QUADRATIC && can_be_tied(f);
    if (e->cut > 0)
        paritas_note(f->context,
                     "third moments of %zu bins are larger than the expansion reaches, and are cut there",
                     e->cut);
    if (distance > SAME_CORRELATION)
        paritas_note(f->context,
                     "the correlation of theta is not positive: that of the workspace differs by up to %.2g",
                     distance);
    return PARITAS_OK;
}

/* ---- pieces ---- */

static struct json *object(const struct form *f)
{
    return json_new(f->document, JSON_OBJECT);
}

static bool set(const struct form *f, struct json *to, const char *key, struct json *child)
{
    return json_set(f->document, to, key, child);
}

static bool set_text(const struct form *f, struct json *to, const char *key, const char *text)
{
    return set(f, to, key, json_new_text(f->document, text));
}

static bool set_numbers(const struct form *f, struct json *to, const char *key, size_t n,
                        const double *values)
{
    return set(f, to, key, json_new_numbers(f->document, n, values));
}

static struct json *modifier(const struct form *f, const char *name, const char *type, struct json *data)
{
    struct json *made = object(f);
    return set_text(f, made, "name", name) && set_text(f, made, "type", type) && set(f, made, "data", data)
               ? made
               : NULL;
}

/* Adds a sample with the modifiers. */
static bool add_sample(const struct form *f, struct json *samples, const char *name, struct json *modifiers,
                       size_t n, const double *rates)
{
    struct json *sample = object(f);
    return set_text(f, sample, "name", name) && set_numbers(f, sample, "data", n, rates) &&
           set(f, sample, "modifiers", modifiers) && json_append(samples, sample);
}

static bool add_factor(const struct form *f, struct json *modifiers, const char *name)
{
    return json_append(modifiers, modifier(f, name, "normfactor", json_new(f->document, JSON_NULL)));
}

static bool add_shift(const struct form *f, struct json *modifiers, const char *name, size_t n)
{
    struct json *data = object(f);
    return set_numbers(f, data, "hi_data", n, f->up) && set_numbers(f, data, "lo_data", n, f->low) &&
           json_append(modifiers, modifier(f, name, "histosys", data));
}

/* ---- backgrounds of the bins from `first` on ---- */

/* One histosys for each column of L that acts on the channel. */
static bool add_linear(const struct form *f, struct json *samples, size_t first, size_t n)
{
    const struct simplified_expansion *e = &f->expansion;
    struct json *modifiers = json_new(f->document, JSON_ARRAY);
    char name[NAME_ROOM];
    for (size_t k = 0; modifiers && k < f->rank; k++) {
        bool acts = false;
        for (size_t b = 0; b < n; b++) {
            const size_t i = first + b;
            const double shift = e->b[i] * f->root[i * f->moments.n + k];
            f->up[b] = e->a[i] + shift;
            f->low[b] = e->a[i] - shift;
            acts = acts || shift != 0.0;
        }
        name_of("simplified", k, name);
        if (acts && !add_shift(f, modifiers, name, n)) return false;
    }
    return add_sample(f, samples, "background", modifiers, n, e->a + first);
}

/* Names as ATLAS' simplify writes them. */
static bool add_common(const struct form *f, struct json *samples, size_t first, size_t n)
{
    const struct simplified_expansion *e = &f->expansion;
    struct json *modifiers = json_new(f->document, JSON_ARRAY);
    for (size_t b = 0; b < n; b++) {
        f->up[b] = e->a[first + b] + e->b[first + b];
        f->low[b] = e->a[first + b] - e->b[first + b];
    }
    return modifiers && add_shift(f, modifiers, "totalError", n) &&
           add_sample(f, samples, "Bkg", modifiers, n, e->a + first);
}

/* A sample a bin, with the rate as a factor. */
static bool add_quadratic(const struct form *f, struct json *samples, size_t first, size_t n)
{
    char sample[NAME_ROOM], factor[NAME_ROOM];
    for (size_t b = 0; b < n; b++) {
        struct json *modifiers = json_new(f->document, JSON_ARRAY);
        for (size_t other = 0; other < n; other++) f->up[other] = other == b;
        name_of("background", first + b, sample);
        name_of("rate", first + b, factor);
        if (!modifiers || !add_factor(f, modifiers, factor) ||
            !add_sample(f, samples, sample, modifiers, n, f->up))
            return false;
    }
    return true;
}

static bool add_channel(const struct form *f, struct json *channels, struct json *observations, size_t c,
                        size_t first)
{
    static bool (*const add[])(const struct form *, struct json *, size_t,
                               size_t) = {[PARITAS_SIMPLIFIED_LINEAR] = add_linear,
                                          [PARITAS_SIMPLIFIED_QUADRATIC] = add_quadratic,
                                          [PARITAS_SIMPLIFIED_COMMON] = add_common};
    const struct simplified_moments *m = &f->moments;
    const size_t n = m->sizes[c];
    struct json *channel = object(f), *observation = object(f), *samples = json_new(f->document, JSON_ARRAY),
                *modifiers = json_new(f->document, JSON_ARRAY);
    return samples && modifiers && add_factor(f, modifiers, m->poi) &&
           add_sample(f, samples, "signal", modifiers, n, m->signal ? m->signal + first : NULL) &&
           add[f->form](f, samples, first, n) && set_text(f, channel, "name", m->names[c]) &&
           set(f, channel, "samples", samples) && json_append(channels, channel) &&
           set_text(f, observation, "name", m->names[c]) &&
           set_numbers(f, observation, "data", n, m->observed + first) &&
           json_append(observations, observation);
}

/* ---- the measurement ---- */

static bool add_function(const struct form *f, struct json *functions, const char *name,
                         const struct text *text)
{
    struct json *function = object(f);
    char *expression = text->failed ? NULL : arena_text(&f->document->arena, text->bytes, text->length);
    return expression && set_text(f, function, "name", name) &&
           set_text(f, function, "expression", expression) && json_append(functions, function);
}

/* " + 0.5 * NAME" behind what is there; an empty name: the number alone. */
static void add_term(struct text *text, double factor, const char *name)
{
    char number[40];
    number_write(fabs(factor), number);
    text_format(text, "%s%s%s%s",
                factor < 0.0       ? " - "
                : text->length > 0 ? " + "
                                   : "",
                number, name[0] ? " * " : "", name);
}

static bool add_functions(const struct form *f, struct json *functions, size_t i)
{
    const struct simplified_expansion *e = &f->expansion;
    char theta[NAME_ROOM], rate[NAME_ROOM], name[NAME_ROOM + 4];
    struct text text;
    name_of(f->tied ? "simplified" : "theta", i, theta);
    name_of("rate", i, rate);
    text_open(&text, &f->context->allocator);
    for (size_t k = 0; k < f->rank && !f->tied; k++) {
        name_of("simplified", k, name);
        if (f->root[i * f->moments.n + k] != 0.0) add_term(&text, f->root[i * f->moments.n + k], name);
    }
    const bool moves = f->tied || text.length > 0;
    bool good = text.length == 0 || add_function(f, functions, theta, &text);
    text.length = 0;
    add_term(&text, e->a[i], "");
    if (moves) add_term(&text, e->b[i], theta);
    snprintf(name, sizeof name, "%s^2", theta);
    if (moves && e->c[i] != 0.0) add_term(&text, e->c[i], name);
    good = good && add_function(f, functions, rate, &text);
    text_free(&text);
    return good;
}

static bool add_correlations(const struct form *f, struct json *config)
{
    const size_t n = f->moments.n;
    struct json *list = json_new(f->document, JSON_ARRAY), *one = object(f),
                *names = json_new(f->document, JSON_ARRAY), *rows = json_new(f->document, JSON_ARRAY);
    bool good = list && one && names && rows;
    for (size_t i = 0; good && i < n; i++) {
        char name[NAME_ROOM];
        name_of("simplified", i, name);
        for (size_t j = 0; j < n; j++) f->up[j] = i == j ? 1.0 : correlation_of(f, i, j);
        good = json_append(names, json_new_text(f->document, name)) &&
               json_append(rows, json_new_numbers(f->document, n, f->up));
    }
    return good && set_text(f, one, "name", "theta") && set(f, one, "parameters", names) &&
           set(f, one, "correlation", rows) && json_append(list, one) && set(f, config, "correlations", list);
}

/* Configures u_k, or theta_k, as the alpha of a histosys. */
static struct json *configuration(const struct form *f, size_t k)
{
    static const double bounds[2] = {-5.0, 5.0}, zero = 0.0, one = 1.0;
    char name[NAME_ROOM];
    struct json *made = object(f), *law = object(f), *pairs = json_new(f->document, JSON_ARRAY);
    name_of("simplified", k, name);
    return set_text(f, law, "type", "gaussian") &&
                   json_append(pairs, json_new_numbers(f->document, 2, bounds)) &&
                   set_text(f, made, "name", name) && set(f, made, "constraint", law) &&
                   set_numbers(f, made, "auxdata", 1, &zero) && set_numbers(f, made, "sigmas", 1, &one) &&
                   set_numbers(f, made, "inits", 1, &zero) && set(f, made, "bounds", pairs)
               ? made
               : NULL;
}

static bool add_measurement(const struct form *f, struct json *root)
{
    paritas_workspace *d = f->document;
    const bool quadratic = f->form == PARITAS_SIMPLIFIED_QUADRATIC;
    struct json *list = json_new(d, JSON_ARRAY), *measurement = object(f), *config = object(f),
                *parameters = json_new(d, JSON_ARRAY), *functions = json_new(d, JSON_ARRAY);
    bool good = list && measurement && config && parameters && functions;
    for (size_t k = 0; good && quadratic && k < f->rank; k++)
        good = json_append(parameters, configuration(f, k));
    for (size_t i = 0; good && quadratic && i < f->moments.n; i++) good = add_functions(f, functions, i);
    good = good && set_text(f, config, "poi", f->moments.poi) && set(f, config, "parameters", parameters) &&
           (!quadratic || set(f, config, "functions", functions)) &&
           (!f->tied || add_correlations(f, config)) && set_text(f, measurement, "name", "simplified") &&
           set(f, measurement, "config", config);
    return good && json_append(list, measurement) && set(f, root, "measurements", list);
}

static paritas_status make(struct form *f)
{
    paritas_workspace *d = f->document;
    const struct simplified_moments *m = &f->moments;
    struct json *root = d->root = object(f), *channels = json_new(d, JSON_ARRAY),
                *observations = json_new(d, JSON_ARRAY);
    f->up = arena_array(&d->arena, m->n, sizeof *f->up);
    f->low = arena_array(&d->arena, m->n, sizeof *f->low);
    bool good = root && channels && observations && f->up && f->low;
    for (size_t c = 0, first = 0; good && c < m->n_channels; first += m->sizes[c++])
        good = add_channel(f, channels, observations, c, first);
    good = good && set(f, root, "channels", channels) && set(f, root, "observations", observations) &&
           add_measurement(f, root) && set_text(f, root, "version", "1.0.0");
    return good ? PARITAS_OK : paritas_fail_memory(f->context);
}

static paritas_status read_moments(struct form *f, const paritas_workspace *moments)
{
    struct simplified_moments *m = &f->moments;
    TRY(simplified_read(f->context, moments, &f->document->arena, m));
    if (f->form == PARITAS_SIMPLIFIED_QUADRATIC && !m->third)
        return paritas_fail(f->context, PARITAS_INVALID_INPUT,
                            "%s: third_moments: is missing; a linear form does without", moments->label);
    if (f->form != PARITAS_SIMPLIFIED_QUADRATIC) m->third = NULL;
    return simplified_expand(&f->document->arena, m, &f->expansion) ? find_root(f)
                                                                    : paritas_fail_memory(f->context);
}

paritas_status paritas_simplified_workspace(paritas_context *context, const paritas_workspace *moments,
                                            paritas_simplified form, paritas_workspace **workspace)
{
    REQUIRE(context, workspace);
    *workspace = NULL;
    REQUIRE(context, moments);
    if (!paritas_enumeration_word(paritas_enumeration_find("paritas_simplified"), (int)form))
        return paritas_refuse(context, "form %d: there is none", (int)form);
    struct form f = {.context = context, .form = form};
    f.document = json_open(context, moments->label);
    if (!f.document) return paritas_fail_memory(context);
    paritas_status status = read_moments(&f, moments);
    if (status == PARITAS_OK) status = make(&f);
    return json_hand_out(status, f.document, workspace);
}
