/* simplified.c: the expansion of moments, and their document. */
#include "statistics/simplified.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SAME_COVARIANCE 1e-6  /* tables of publications are rounded */
#define CORRELATION_MOST 1.01 /* a correlation of 1, if variances and covariance have three digits */

/* ---- the expansion ---- */

/* The root of 6 variance c - 4 c^3 = third, as near to 0 as c^2 <= variance / 2. Newton's steps come from the
 * side of 0 and never pass the root. */
static double quadratic_part(double variance, double third, size_t *cut)
{
    const double size = fabs(third), most = sqrt(variance / 2.0);
    double c = 0.0;
    if (!(variance > 0.0) || size == 0.0) return 0.0;
    if (size >= 4.0 * variance * most) {
        *cut += size > 4.0 * variance * most * (1.0 + SAME_COVARIANCE);
        return copysign(most, third);
    }
    for (unsigned step = 0; step < 200; step++) {
        const double slope = 6.0 * variance - 12.0 * c * c,
                     next = c + (size - c * (6.0 * variance - 4.0 * c * c)) / slope;
        if (!(next > c) || !(next < most)) break;
        c = next;
    }
    return copysign(c, third);
}

static double correlation_of(const struct simplified_expansion *e, double covariance, size_t i, size_t j)
{
    const double first = e->b[i] * e->b[j], second = 8.0 * e->c[i] * e->c[j] * covariance,
                 root = first * first + second > 0.0 ? sqrt(first * first + second) : 0.0;
    if (i == j) return 1.0;
    if (!(first + root > 0.0)) return 0.0;
    return fmax(-1.0, fmin(1.0, 2.0 * covariance / (first + root)));
}

bool simplified_expand(struct arena *arena, const struct simplified_moments *m,
                       struct simplified_expansion *e)
{
    *e = (struct simplified_expansion){.a = arena_array(arena, m->n, sizeof(double)),
                                       .b = arena_array(arena, m->n, sizeof(double)),
                                       .c = arena_array(arena, m->n, sizeof(double)),
                                       .correlation = arena_array(arena, m->n * m->n, sizeof(double))};
    if (!e->a || !e->b || !e->c || !e->correlation) return false;
    for (size_t i = 0; i < m->n; i++) {
        const double variance = m->covariance[i * m->n + i];
        e->c[i] = m->third ? quadratic_part(variance, m->third[i], &e->cut) : 0.0;
        e->b[i] = sqrt(fmax(0.0, variance - 2.0 * e->c[i] * e->c[i]));
        e->a[i] = m->mean[i] - e->c[i];
    }
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            e->correlation[i * m->n + j] = correlation_of(e, m->covariance[i * m->n + j], i, j);
    return true;
}

/* ---- writing ---- */

static struct json *rows(paritas_workspace *document, size_t n, const double *values)
{
    struct json *array = json_new(document, JSON_ARRAY);
    for (size_t i = 0; i < n; i++)
        if (!json_append(array, json_new_numbers(document, n, values + i * n))) return NULL;
    return array;
}

static struct json *channels(paritas_workspace *document, const struct simplified_moments *m)
{
    struct json *array = json_new(document, JSON_ARRAY);
    for (size_t c = 0; c < m->n_channels; c++) {
        struct json *one = json_new(document, JSON_OBJECT);
        if (!json_set(document, one, "name", json_new_text(document, m->names[c])) ||
            !json_set(document, one, "bins", json_new_count(document, m->sizes[c])) ||
            !json_append(array, one))
            return NULL;
    }
    return array;
}

static struct json *expansion(paritas_workspace *document, const struct simplified_moments *m)
{
    struct simplified_expansion e;
    struct json *object = json_new(document, JSON_OBJECT);
    const bool good = simplified_expand(&document->arena, m, &e) &&
                      json_set(document, object, "a", json_new_numbers(document, m->n, e.a)) &&
                      json_set(document, object, "b", json_new_numbers(document, m->n, e.b)) &&
                      json_set(document, object, "c", json_new_numbers(document, m->n, e.c)) &&
                      json_set(document, object, "correlation", rows(document, m->n, e.correlation));
    return good ? object : NULL;
}

paritas_status simplified_write(paritas_context *context, const struct simplified_moments *m,
                                paritas_workspace **out)
{
    paritas_workspace *d = json_open(context, "moments");
    if (!d) return paritas_fail_memory(context);
    struct json *root = d->root = json_new(d, JSON_OBJECT);
    const bool good = json_set(d, root, "channels", channels(d, m)) &&
                      json_set(d, root, "poi", json_new_text(d, m->poi)) &&
                      json_set(d, root, "observed", json_new_numbers(d, m->n, m->observed)) &&
                      json_set(d, root, "background", json_new_numbers(d, m->n, m->mean)) &&
                      json_set(d, root, "covariance", rows(d, m->n, m->covariance)) &&
                      json_set(d, root, "third_moments", json_new_numbers(d, m->n, m->third)) &&
                      json_set(d, root, "signal", json_new_numbers(d, m->n, m->signal)) &&
                      json_set(d, root, "expansion", expansion(d, m));
    return json_hand_out(good ? PARITAS_OK : paritas_fail_memory(context), d, out);
}

/* ---- reading ---- */

struct reading {
    paritas_context *context;
    const paritas_workspace *document;
    struct arena *arena;
    size_t n;
};

static paritas_status wrong(const struct reading *r, const char *key, const char *reason)
{
    return paritas_fail(r->context, PARITAS_INVALID_INPUT, "%s: %s: %s", r->document->label, key, reason);
}

/* Numbers of one array into to[n]. `key` names it. */
static paritas_status read_numbers(const struct reading *r, const struct json *array, const char *key,
                                   double *to)
{
    struct json_walk walk;
    char what[96];
    size_t i = 0;
    if (!json_is(array, JSON_ARRAY)) return wrong(r, key, "must be an array of numbers");
    snprintf(what, sizeof what, "has %u numbers, but `background` has %zu", array->count, r->n);
    if (array->count != r->n) return wrong(r, key, what);
    for (const struct json *item = json_walk_first(&walk, array); item; item = json_walk_next(&walk), i++) {
        snprintf(what, sizeof what, "[%zu] must be a number, not %s", i, json_type_name(item));
        if (!json_is(item, JSON_NUMBER)) return wrong(r, key, what);
        to[i] = item->number;
    }
    return PARITAS_OK;
}

static paritas_status read_key(const struct reading *r, const char *key, bool needed, double **to)
{
    const struct json *array = json_get(r->document->root, key);
    *to = NULL;
    if (!array) return needed ? wrong(r, key, "is missing") : PARITAS_OK;
    *to = arena_array(r->arena, r->n, sizeof **to);
    return *to ? read_numbers(r, array, key, *to) : paritas_fail_memory(r->context);
}

static paritas_status read_covariance(const struct reading *r, double **to)
{
    const struct json *array = json_get(r->document->root, "covariance");
    struct json_walk walk;
    char key[64];
    if (!json_is(array, JSON_ARRAY) || array->count != r->n)
        return wrong(r, "covariance", "must be as many rows as `background` has numbers");
    double *at = *to = arena_array(r->arena, r->n * r->n, sizeof **to);
    if (!at) return paritas_fail_memory(r->context);
    size_t i = 0;
    for (const struct json *row = json_walk_first(&walk, array); row; row = json_walk_next(&walk), i++) {
        snprintf(key, sizeof key, "covariance[%zu]", i);
        TRY(read_numbers(r, row, key, at + i * r->n));
    }
    return PARITAS_OK;
}

/* Rounded numbers become symmetric. */
static paritas_status check_covariance(const struct reading *r, double *covariance)
{
    char key[80];
    double largest = 1.0;
    for (size_t i = 0; i < r->n; i++) {
        snprintf(key, sizeof key, "covariance[%zu][%zu]", i, i);
        if (covariance[i * r->n + i] < 0.0) return wrong(r, key, "is a variance, which is not negative");
    }
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; j < i; j++) {
            double *one = covariance + i * r->n + j, *other = covariance + j * r->n + i;
            const double scale = sqrt(covariance[i * r->n + i]) * sqrt(covariance[j * r->n + j]);
            snprintf(key, sizeof key, "covariance[%zu][%zu]", i, j);
            if (fabs(*one - *other) > SAME_COVARIANCE * scale) return wrong(r, key, "must be symmetric");
            *one = *other = 0.5 * (*one + *other);
            if (fabs(*one) > scale * CORRELATION_MOST)
                return wrong(r, key, "is more than the variances of its bins allow");
            if (!(fabs(*one) > scale)) continue;
            largest = fmax(largest, fabs(*one) / scale);
            *one = *other = copysign(scale, *one);
        }
    if (largest > 1.0 + SAME_COVARIANCE)
        paritas_note(r->context,
                     "%s: covariance: correlations of up to %.6g were taken as 1, from rounded numbers",
                     r->document->label, largest);
    return PARITAS_OK;
}

static paritas_status read_channels(const struct reading *r, struct simplified_moments *m)
{
    const struct json *array = json_get(r->document->root, "channels");
    const size_t room = array ? array->count : 1;
    const char **names = arena_array(r->arena, room + 1, sizeof *names);
    size_t *sizes = arena_array(r->arena, room + 1, sizeof *sizes), total = 0;
    if (!names || !sizes) return paritas_fail_memory(r->context);
    m->names = names;
    m->sizes = sizes;
    m->n_channels = room;
    names[0] = "bins";
    sizes[0] = r->n;
    if (!array) return PARITAS_OK;
    if (!json_is(array, JSON_ARRAY) || array->packed || array->count == 0)
        return wrong(r, "channels", "must be an array of {\"name\", \"bins\"}");
    const struct json *one = array->first;
    for (size_t c = 0; one; one = one->next, c++) {
        const struct json *name = json_get(one, "name"), *bins = json_get(one, "bins");
        if (!json_is(name, JSON_STRING) || !json_is(bins, JSON_NUMBER) ||
            !(bins->number >= 1.0 && bins->number <= (double)r->n) || bins->number != floor(bins->number))
            return wrong(r, "channels", "must be an array of {\"name\", \"bins\"}");
        names[c] = name->text;
        sizes[c] = (size_t)bins->number;
        total += sizes[c];
    }
    return total == r->n ? PARITAS_OK
                         : wrong(r, "channels", "their bins must be as many as the numbers of `background`");
}

paritas_status simplified_read(paritas_context *context, const paritas_workspace *document,
                               struct arena *arena, struct simplified_moments *m)
{
    const struct json *background = json_get(document->root, "background"),
                      *poi = json_get(document->root, "poi");
    struct reading r = {context, document, arena, 0};
    if (!json_is(background, JSON_ARRAY) || background->count == 0)
        return wrong(&r, "background", "must be an array of numbers, one a bin");
    r.n = background->count;
    *m = (struct simplified_moments){.n = r.n, .poi = "mu"};
    if (poi && (!json_is(poi, JSON_STRING) || poi->length == 0)) return wrong(&r, "poi", "must be a name");
    if (poi) m->poi = poi->text;
    TRY(read_key(&r, "background", true, &m->mean));
    TRY(read_key(&r, "observed", true, &m->observed));
    TRY(read_key(&r, "signal", false, &m->signal));
    TRY(read_key(&r, "third_moments", false, &m->third));
    TRY(read_covariance(&r, &m->covariance));
    TRY(check_covariance(&r, m->covariance));
    return read_channels(&r, m);
}
