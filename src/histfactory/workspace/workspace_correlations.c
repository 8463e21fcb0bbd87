/* workspace_correlations.c: parameters whose measurements have a joint normal law.
 *
 *   hf_correlations_read ──► names, a symmetric matrix ──► hf_correlations_place ──► parameters, ties, draws
 *
 * Sigmas stay those of the parameters. The law's log-density is normalised as those of single constraints. */
#include "base/math/host_math.h"
#include "fit/cholesky.h"
#include "histfactory/workspace/workspace_read.h"

#include <math.h>
#include <string.h>

#define SAME 1e-9       /* elements of a correlation matrix that should be equal */
#define SAME_SIGMA 1e-6 /* the same of variances, relative: they are printed with fewer digits */
#define LEAST_PIVOT 1e-10

/* ---- the document ---- */

paritas_status hf_parameters_read(struct hf_raw *raw, const struct hf_place *place, const struct json *list,
                                  const char ***names)
{
    struct json_walk walk;
    uint32_t k = 0;
    *names = arena_array(raw->keep, list->count, sizeof **names);
    if (!*names) return paritas_fail_memory(raw->source.context);
    for (const struct json *item = json_walk_first(&walk, list); item; item = json_walk_next(&walk), k++) {
        TRY(hf_expect(HF_MEMBER_AT(place, "parameters", k), item, HF_STRING));
        (*names)[k] = item->text;
    }
    return PARITAS_OK;
}

static paritas_status check_count(const struct hf_place *place, const struct json *row, uint32_t n)
{
    TRY(hf_expect(place, row, HF_ARRAY));
    if (row->count == n) return PARITAS_OK;
    return hf_refuse(place, "must have %u numbers, one for each of the parameters, found %u", n, row->count);
}

paritas_status hf_row_read(const struct hf_place *place, const struct json *row, uint32_t n, double *numbers)
{
    struct json_walk walk;
    uint32_t k = 0;
    TRY(check_count(place, row, n));
    for (const struct json *item = json_walk_first(&walk, row); item; item = json_walk_next(&walk)) {
        TRY(hf_expect(HF_MEMBER_AT(place, "", k), item, HF_NUMBER));
        numbers[k++] = item->number;
    }
    return PARITAS_OK;
}

paritas_status hf_rows_read(struct hf_raw *raw, const struct hf_place *place, const char *key,
                            const struct json *rows, uint32_t n, double **matrix)
{
    struct json_walk walk;
    uint32_t i = 0;
    for (const struct json *row = json_walk_first(&walk, rows); row; row = json_walk_next(&walk))
        TRY(check_count(HF_MEMBER_AT(place, key, i++), row, n)); /* before memory for all */
    *matrix = arena_array(raw->keep, (size_t)rows->count * n, sizeof **matrix);
    if (!*matrix) return paritas_fail_memory(raw->source.context);
    i = 0;
    for (const struct json *row = json_walk_first(&walk, rows); row; row = json_walk_next(&walk), i++)
        TRY(hf_row_read(HF_MEMBER_AT(place, key, i), row, n, *matrix + (size_t)i * n));
    return PARITAS_OK;
}

/* Symmetric, with a diagonal of 1 or, of a covariance, above 0. The mean of both halves is taken. */
static paritas_status check_matrix(const struct hf_place *place, const char *key,
                                   const struct hf_raw_correlation *correlation)
{
    const uint32_t n = correlation->n;
    double *m = correlation->matrix;
    char found[32], other[32];
    for (uint32_t i = 0; i < n; i++) {
        const struct hf_place *row = HF_MEMBER_AT(place, key, i);
        if (correlation->is_covariance ? !(m[i * n + i] > 0.0) : !(fabs(m[i * n + i] - 1.0) <= SAME))
            return hf_refuse(HF_MEMBER_AT(row, "", i), "the diagonal must be %s, found %s",
                             correlation->is_covariance ? "greater than 0" : "1",
                             hf_number(m[i * n + i], found));
        for (uint32_t j = 0; j < i; j++) {
            const double scale = correlation->is_covariance ? sqrt(m[i * n + i] * m[j * n + j]) : 1.0;
            if (!(fabs(m[i * n + j] - m[j * n + i]) <= SAME * scale))
                return hf_refuse(HF_MEMBER_AT(row, "", j),
                                 "the matrix must be symmetric: [%u][%u] is %s, found %s", j, i,
                                 hf_number(m[j * n + i], other), hf_number(m[i * n + j], found));
            m[i * n + j] = m[j * n + i] = 0.5 * (m[i * n + j] + m[j * n + i]);
        }
    }
    return PARITAS_OK;
}

static paritas_status read_matrix(struct hf_raw *raw, const struct hf_place *place, const struct json *rows,
                                  struct hf_raw_correlation *correlation)
{
    const uint32_t n = correlation->n;
    const char *key = correlation->is_covariance ? "covariance" : "correlation";
    if (rows->count != n)
        return hf_refuse(HF_MEMBER(place, key), "must have %u rows, one for each of the parameters, found %u",
                         n, rows->count);
    TRY(hf_rows_read(raw, place, key, rows, n, &correlation->matrix));
    return check_matrix(place, key, correlation);
}

static paritas_status read_correlation(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_measurement *measurement = &raw->measurements[place->up->up->index];
    struct hf_raw_correlation *made = &measurement->correlations[place->index];
    const struct json *name, *parameters, *correlation, *covariance;
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name},
                  {"parameters", HF_FILLED_ARRAY, &parameters},
                  {"correlation", HF_ARRAY | HF_OPTIONAL, &correlation},
                  {"covariance", HF_ARRAY | HF_OPTIONAL, &covariance}));
    if (!correlation == !covariance)
        return hf_refuse(place, "must have either a correlation or a covariance");
    made->name = name->text;
    made->is_covariance = covariance;
    for (uint32_t k = 0; k < place->index; k++)
        if (hf_same(measurement->correlations[k].name, made->name))
            return hf_refuse(place, "the name \"%.200s\" is also that of " HF_CORRELATIONS_KEY "[%u]",
                             made->name, k);
    made->n = parameters->count;
    TRY(hf_parameters_read(raw, place, parameters, &made->parameters));
    return read_matrix(raw, place, covariance ? covariance : correlation, made);
}

paritas_status hf_correlations_read(struct hf_raw *raw, const struct hf_place *config,
                                    const struct json *list, struct hf_raw_measurement *measurement)
{
    measurement->n_correlations = list->count;
    measurement->correlations = arena_array(raw->keep, list->count, sizeof *measurement->correlations);
    if (!measurement->correlations) return paritas_fail_memory(raw->source.context);
    return hf_each(config, HF_CORRELATIONS_KEY, list, read_correlation, raw);
}

/* ---- the model ---- */

/* A correlation on its way to the spec. */
struct placing {
    struct hf_raw *raw;
    const struct hf_spec *spec;
    const struct hf_raw_correlation *from;
    const struct hf_place *place;
    struct hf_correlation *to;
    unsigned char *placed; /* by parameter: 1 where a correlation has it */
};

/* Parameter k: one number with a normal constraint, correlated nowhere else. */
static paritas_status place_parameter(const struct placing *p, uint32_t k)
{
    const char *text = p->from->parameters[k];
    const struct hf_place *at = HF_MEMBER_AT(p->place, "parameters", k);
    uint32_t member;
    const struct hf_set *set = hf_set_named(p->raw, p->spec, text, &member);
    if (!set)
        return hf_refuse(at,
                         "the model has no parameter \"%.200s\"; those of bins are named as \"%.200s[0]\"",
                         text, text);
    if (set->constraint != HF_GAUSSIAN || set->kind->action == HF_BIN_ERRORS)
        return hf_refuse(at, "\"%.200s\" is %s: only parameters with a normal constraint can be correlated",
                         text,
                         set->constraint != HF_GAUSSIAN ? hf_law(set)->inspected : "the factor of an mcstat");
    p->to->parameters[k] = set->first + member;
    p->to->data[k] = p->spec->n_main + set->first_aux + member;
    p->to->sigmas[k] = set->sigma[member];
    if (p->placed[set->first + member])
        return hf_refuse(
            at, "\"%.200s\" is correlated twice: put all that it is correlated with in one matrix", text);
    p->placed[set->first + member] = 1;
    return PARITAS_OK;
}

/* The correlation matrix; variances of a covariance must be those of the parameters. */
static paritas_status scale(const struct placing *p, double *matrix)
{
    const uint32_t n = p->from->n;
    const double *m = p->from->matrix;
    char found[32], wanted[32];
    for (uint32_t i = 0; i < n; i++) {
        const double variance = p->to->sigmas[i] * p->to->sigmas[i], given = m[i * n + i];
        if (p->from->is_covariance && !(fabs(given - variance) <= SAME_SIGMA * variance))
            return hf_refuse(HF_MEMBER_AT(HF_MEMBER_AT(p->place, "covariance", i), "", i),
                             "the variance of \"%.200s\" is %s, by its sigma, found %s",
                             p->from->parameters[i], hf_number(variance, wanted), hf_number(given, found));
        for (uint32_t j = 0; j < n; j++)
            matrix[i * n + j] = i == j                   ? 1.0
                                : p->from->is_covariance ? m[i * n + j] / sqrt(given * m[j * n + j])
                                                         : m[i * n + j];
    }
    return PARITAS_OK;
}

/* matrix := L, matrix = L L^T; above the diagonal 0. */
static paritas_status factor(const struct placing *p, double *a)
{
    const uint32_t n = p->from->n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double v = a[i * n + j];
            for (uint32_t k = 0; k < j && j <= i; k++) v -= a[i * n + k] * a[j * n + k];
            if (j == i && !(v >= LEAST_PIVOT)) {
                char left[32];
                return hf_refuse(p->place,
                                 "the matrix is not positive definite: beside those before it \"%.200s\" has "
                                 "%s of its variance left, and at least 1e-10 is needed",
                                 p->from->parameters[i], hf_number(v, left));
            }
            a[i * n + j] = j > i ? 0.0 : j == i ? sqrt(v) : v / a[j * n + j];
        }
    return PARITAS_OK;
}

static paritas_status place(struct placing *p, struct hf_spec *spec)
{
    const uint32_t n = p->from->n;
    struct arena *keep = p->raw->keep;
    struct hf_correlation *to = p->to;
    *to = (struct hf_correlation){.n = n,
                                  .parameters = arena_array(keep, n, sizeof *to->parameters),
                                  .data = arena_array(keep, n, sizeof *to->data),
                                  .sigmas = arena_array(keep, n, sizeof *to->sigmas),
                                  .ties = arena_array(keep, (size_t)n * n, sizeof *to->ties),
                                  .draws = arena_array(keep, (size_t)n * n, sizeof *to->draws)};
    if (!to->parameters || !to->data || !to->sigmas || !to->ties || !to->draws)
        return paritas_fail_memory(p->raw->source.context);
    for (uint32_t k = 0; k < n; k++) TRY(place_parameter(p, k));
    TRY(scale(p, to->draws));
    memcpy(to->ties, to->draws, (size_t)n * n * sizeof *to->ties);
    TRY(factor(p, to->draws));
    invert_positive(n, to->ties);
    for (uint32_t i = 0; i < n; i++) {
        to->ties[i * n + i] -= 1.0;
        spec->correlation_constant += host_log(to->draws[i * n + i]);
        for (uint32_t j = 0; j < n; j++) {
            to->ties[i * n + j] /= to->sigmas[i] * to->sigmas[j];
            to->draws[i * n + j] *= to->sigmas[i] / to->sigmas[j];
        }
    }
    return PARITAS_OK;
}

paritas_status hf_correlations_place(struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec)
{
    const struct hf_raw_measurement *from = &raw->measurements[measurement];
    const struct hf_place *config =
        HF_MEMBER(HF_MEMBER_AT(HF_ROOT(&raw->source), "measurements", measurement), "config");
    if (from->n_correlations + from->n_penalties == 0) return PARITAS_OK;
    unsigned char *placed = arena_array(raw->scratch, spec->n_parameters, sizeof *placed);
    spec->correlations =
        arena_array(raw->keep, (size_t)from->n_correlations + from->n_penalties, sizeof *spec->correlations);
    if (!placed || !spec->correlations) return paritas_fail_memory(raw->source.context);
    for (uint32_t k = 0; k < from->n_correlations; k++) {
        struct placing p = {.raw = raw,
                            .spec = spec,
                            .from = &from->correlations[k],
                            .place = HF_MEMBER_AT(config, HF_CORRELATIONS_KEY, k),
                            .to = &spec->correlations[k],
                            .placed = placed};
        TRY(place(&p, spec));
        spec->n_correlations++;
    }
    return PARITAS_OK;
}
