/* session_ranges.c: bounds of parameters, and ranges within them. */
#include "session/session.h"

#include <math.h>
#include <string.h>

struct range bounds_of(const struct session *session, size_t parameter)
{
    const double *lower = session->job.lower, *upper = session->job.upper;
    return (struct range){(lower ? lower : paritas_model_lower_bounds(session->model))[parameter],
                          (upper ? upper : paritas_model_upper_bounds(session->model))[parameter]};
}

bool is_of_interest(const struct session *session, size_t parameter)
{
    const size_t n = session->job.n_pois;
    const size_t *pois = n > 0 ? session->job.pois : paritas_model_pois(session->model);
    for (size_t k = 0; k < (n > 0 ? n : paritas_model_poi_count(session->model)); k++)
        if (pois[k] == parameter) return true;
    return false;
}

bool upper_gives_way(const struct session *session, size_t parameter)
{
    return is_of_interest(session, parameter) && !(session->job.kept && session->job.kept[parameter]);
}

/* NAME=LO:HI */
static paritas_status read_bounds(struct session *session, const char *text, double *lower, double *upper,
                                  unsigned char *kept)
{
    char *copy = arena_copied(session, text, strlen(text));
    TRY(allocated(session));
    char *equals = strrchr(copy, '='), *colon = equals ? strchr(equals, ':') : NULL;
    struct range range;
    size_t i;
    if (colon) *equals = *colon = '\0';
    if (!colon || equals == copy || !number_of_text(equals + 1, &range.lower) ||
        !number_of_text(colon + 1, &range.upper) || range.lower > range.upper)
        return usage_failure(session, "--range takes NAME=LO:HI, not '%s'", text);
    TRY(paritas_model_parameter_index(session->context, session->model, copy, &i));
    lower[i] = range.lower;
    upper[i] = range.upper;
    kept[i] = 1;
    return PARITAS_OK;
}

paritas_status read_ranges(struct session *session)
{
    const size_t n = session->n_parameters;
    size_t at = 0;
    if (!option_given(session, "--range")) return PARITAS_OK;
    double *lower = arena_numbers(session, n), *upper = arena_numbers(session, n);
    unsigned char *kept = arena_elements(session, n, 1);
    TRY(allocated(session));
    memcpy(lower, paritas_model_lower_bounds(session->model), n * sizeof *lower);
    memcpy(upper, paritas_model_upper_bounds(session->model), n * sizeof *upper);
    for (const struct given *given; (given = option_next(session, "--range", &at));)
        TRY(read_bounds(session, given->text, lower, upper, kept));
    session->job.lower = lower;
    session->job.upper = upper;
    session->job.kept = kept;
    return PARITAS_OK;
}

paritas_status check_ranges(struct session *session)
{
    for (size_t i = 0; session->job.lower && i < session->n_parameters; i++) {
        const double start = session->job.start[i];
        const struct range bounds = bounds_of(session, i);
        if (session->job.fixed[i] || in_range(bounds, start)) continue;
        return paritas_refuse(session->context,
                              "--range %s=%.10g:%.10g: its start, %.10g, lies outside; --init %s=V gives "
                              "another",
                              parameter_name(session, i), bounds.lower, bounds.upper, start,
                              parameter_name(session, i));
    }
    return PARITAS_OK;
}

bool in_range(struct range range, double value)
{
    return value >= range.lower && value <= range.upper;
}

double clamped(struct range range, double value)
{
    return value < range.lower ? range.lower : value > range.upper ? range.upper : value;
}

struct range range_around(const struct session *session, size_t parameter, double best, double error,
                          double errors, double part)
{
    const struct range bounds = bounds_of(session, parameter);
    const double reach = error > 0.0 ? errors * error : part * (bounds.upper - bounds.lower);
    return (struct range){best - reach > bounds.lower ? best - reach : bounds.lower,
                          best + reach < bounds.upper ? best + reach : bounds.upper};
}

double range_value(struct range range, size_t k, size_t n)
{
    if (n == 1) return range.lower;
    const double part = (double)k / (double)(n - 1), width = range.upper - range.lower;
    if (k + 1 == n) return range.upper;
    /* a width beyond all numbers has parts that are none */
    return isfinite(width) ? range.lower + width * part : range.lower * (1.0 - part) + range.upper * part;
}
