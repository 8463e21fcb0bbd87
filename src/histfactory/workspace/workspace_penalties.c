/* workspace_penalties.c: quadratic terms of parameters that no measurement gives, as regularised unfolding
 * has them.
 *
 *   hf_penalties_read ──► names, rows, centres ──► hf_penalties_place ──► parameters, ties, centres
 *
 * Twice the NLL gets strength * sum over rows of (row (x - centre))^2. */
#include "histfactory/workspace/workspace_read.h"

#include <math.h>

static paritas_status check_names(const struct hf_place *place, const struct hf_raw_penalty *made)
{
    for (uint32_t k = 0; k < made->n; k++)
        for (uint32_t i = 0; i < k; i++)
            if (hf_same(made->parameters[i], made->parameters[k]))
                return hf_refuse(HF_MEMBER_AT(place, "parameters", k), "\"%.200s\" is already parameters[%u]",
                                 made->parameters[k], i);
    return PARITAS_OK;
}

static paritas_status read_penalty(void *user, const struct hf_place *place, const struct json *node)
{
    struct hf_raw *raw = user;
    struct hf_raw_measurement *measurement = &raw->measurements[place->up->up->index];
    struct hf_raw_penalty *made = &measurement->penalties[place->index];
    const struct json *name, *parameters, *rows, *centre, *strength;
    char found[32];
    TRY(HF_FIELDS(place, node, false, {"name", HF_STRING, &name},
                  {"parameters", HF_FILLED_ARRAY, &parameters}, {"rows", HF_FILLED_ARRAY, &rows},
                  {"centre", HF_ARRAY | HF_OPTIONAL, &centre},
                  {"strength", HF_NUMBER | HF_OPTIONAL, &strength}));
    made->name = name->text;
    made->strength = strength ? strength->number : 1.0;
    if (!(made->strength >= 0.0))
        return hf_refuse(HF_MEMBER(place, "strength"), "must be at least 0, found %s",
                         hf_number(made->strength, found));
    for (uint32_t k = 0; k < place->index; k++)
        if (hf_same(measurement->penalties[k].name, made->name))
            return hf_refuse(place, "the name \"%.200s\" is also that of " HF_PENALTIES_KEY "[%u]",
                             made->name, k);
    made->n = parameters->count;
    made->n_rows = rows->count;
    TRY(hf_parameters_read(raw, place, parameters, &made->parameters));
    TRY(check_names(place, made));
    TRY(hf_rows_read(raw, place, "rows", rows, made->n, &made->rows));
    made->centres = arena_array(raw->keep, made->n, sizeof *made->centres);
    if (!made->centres) return paritas_fail_memory(raw->source.context);
    return centre ? hf_row_read(HF_MEMBER(place, "centre"), centre, made->n, made->centres) : PARITAS_OK;
}

paritas_status hf_penalties_read(struct hf_raw *raw, const struct hf_place *config, const struct json *list,
                                 struct hf_raw_measurement *measurement)
{
    measurement->n_penalties = list->count;
    measurement->penalties = arena_array(raw->keep, list->count, sizeof *measurement->penalties);
    if (!measurement->penalties) return paritas_fail_memory(raw->source.context);
    return hf_each(config, HF_PENALTIES_KEY, list, read_penalty, raw);
}

static paritas_status place(const struct hf_raw *raw, const struct hf_place *at,
                            const struct hf_raw_penalty *from, const struct hf_spec *spec,
                            struct hf_correlation *to)
{
    const uint32_t n = from->n;
    *to = (struct hf_correlation){.n = n,
                                  .parameters = arena_array(raw->keep, n, sizeof *to->parameters),
                                  .ties = arena_array(raw->keep, (size_t)n * n, sizeof *to->ties),
                                  .centres = from->centres};
    if (!to->parameters || !to->ties) return paritas_fail_memory(raw->source.context);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t member;
        const struct hf_set *set = hf_set_named(raw, spec, from->parameters[k], &member);
        if (!set || set->kind->action == HF_BIN_ERRORS)
            return hf_refuse(
                HF_MEMBER_AT(at, "parameters", k),
                set ? "\"%.200s\" is the factor of an mcstat, which takes no penalty"
                    : "the model has no parameter \"%.200s\"; `inspect` lists them, and those of "
                      "bins are named as x[0]",
                from->parameters[k]);
        to->parameters[k] = set->first + member;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (uint32_t r = 0; r < from->n_rows; r++)
                sum += from->rows[(size_t)r * n + i] * from->rows[(size_t)r * n + j];
            to->ties[(size_t)i * n + j] = from->strength * sum;
            if (!isfinite(to->ties[(size_t)i * n + j]))
                return hf_refuse(at, "strength times the squares of its rows is not finite");
        }
    return PARITAS_OK;
}

paritas_status hf_penalties_place(const struct hf_raw *raw, uint32_t measurement, struct hf_spec *spec)
{
    const struct hf_raw_measurement *from = &raw->measurements[measurement];
    const struct hf_place *config =
        HF_MEMBER(HF_MEMBER_AT(HF_ROOT(&raw->source), "measurements", measurement), "config");
    for (uint32_t k = 0; k < from->n_penalties; k++) {
        TRY(place(raw, HF_MEMBER_AT(config, HF_PENALTIES_KEY, k), &from->penalties[k], spec,
                  &spec->correlations[spec->n_correlations]));
        spec->n_correlations++;
    }
    return PARITAS_OK;
}
