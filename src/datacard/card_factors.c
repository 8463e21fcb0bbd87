/* card_factors.c: what multiplies a process: lognormals, counts of control regions, rateParams. */
#include "datacard/card_workspace.h"

struct card_effect *card_effect_of(struct card_build *build, struct card_sample *sample,
                                   struct card_parameter *parameter)
{
    for (uint32_t i = 0; i < sample->n_effects; i++)
        if (sample->effects[i].parameter == parameter) return &sample->effects[i];
    if (!sample->effects)
        sample->effects = arena_array(build->arena, build->n_parameters, sizeof *sample->effects);
    if (!sample->effects) return NULL;
    struct card_effect *made = &sample->effects[sample->n_effects++];
    *made = (struct card_effect){.parameter = parameter, .high = 1.0, .low = 1.0, .lognormal = true};
    return made;
}

const struct card_nuisance *card_control_count(const struct card *card, uint32_t column)
{
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next)
        if (at->law == CARD_GMN && !at->values[column].none) return at;
    return NULL;
}

static double distance(double a, double b)
{
    return a > b ? a - b : b - a;
}

/* The rate must be about alpha N. */
static paritas_status check_control_rate(const struct card *card, const struct card_nuisance *control,
                                         uint32_t column, double rate)
{
    const double alpha = control->values[column].low, wanted = alpha * control->numbers[0];
    const double part = 0.05 * (rate > 1.0 ? rate : 1.0);
    if (distance(rate, wanted) <= (part > alpha ? part : alpha)) return PARITAS_OK;
    return card_refuse(
        card, card->rate, card->columns[column].word,
        "the rate is %.6g, but the `gmN` \"%.200s\" in line %u has %.6g events times %.6g: make "
        "the rate their product",
        rate, control->name, control->line->number, control->numbers[0], alpha);
}

/* A process without any factor has its rate printed with six digits. */
paritas_status card_rate_find(const struct card *card, const struct card_sample *sample, double integral,
                              double *rate)
{
    const uint32_t column = sample->column;
    const struct card_column *at = &card->columns[column];
    const struct card_nuisance *control = card_control_count(card, column);
    *rate = at->rate;
    if (at->rate == -1.0 && integral != integral)
        return card_refuse(
            card, card->rate, at->word,
            "-1 means a histogram's integral, and the channel \"%.200s\" has no histograms: give "
            "the rate, or a line `shapes`",
            card->channels[at->channel].name);
    if (at->rate == -1.0) *rate = integral;
    if (control) TRY(check_control_rate(card, control, column, *rate));
    if (integral == integral && at->rate > 0.0 && !control &&
        distance(at->rate, integral) > 0.01 * (at->rate > 1.0 ? at->rate : 1.0))
        return card_refuse(
            card, card->rate, at->word,
            "the rate is %.6g, but the histogram of \"%.200s\" in \"%.200s\" has %.6g events: make "
            "them agree, or write -1%s",
            at->rate, at->process, card->channels[at->channel].name, integral,
            card_shapes_has_mass(card, card->channels[at->channel].name, at->process)
                ? "; -m MASS gives another histogram"
                : "");
    if (control)
        *rate = control->values[column].low;
    else if (sample->n_effects == 0)
        *rate = card_rounded(card, CARD_SIX_DIGITS, *rate);
    return PARITAS_OK;
}

static paritas_status refuse_second(const struct card *card, const struct card_nuisance *nuisance,
                                    uint32_t column)
{
    return card_refuse(
        card, nuisance->line, 1,
        "\"%.200s\" has two values for %.200s in %.200s: a `%s` has one; drop one of the lines",
        nuisance->name, card->columns[column].process, card->channels[card->columns[column].channel].name,
        card_law_names[nuisance->law]);
}

/* lo first; equal effects up and down are one number, also within rounding. */
static void multiply_lognormal(const struct card *card, struct card_effect *effect,
                               const struct card_value *value)
{
    const double product = value->low * value->high;
    const bool equal = !card->exact && product > 1.0 - 1e-5 && product < 1.0 + 1e-5;
    const bool symmetric = !value->two || equal;
    effect->high *= value->high;
    effect->low *= symmetric ? 1.0 / value->high : value->low;
}

paritas_status card_factor_add(struct card_build *build, struct card_sample *sample,
                               const struct card_nuisance *nuisance)
{
    const struct card_value *value = &nuisance->values[sample->column];
    const uint32_t before = sample->n_effects;
    struct card_effect *effect = card_effect_of(build, sample, nuisance->parameter);
    if (!effect) return paritas_fail_memory(build->card->context);
    if (nuisance->law == CARD_LNN || nuisance->law == CARD_LNU || nuisance->law == CARD_SHAPE_OR_LNN) {
        multiply_lognormal(build->card, effect, value);
        return PARITAS_OK;
    }
    if (sample->n_effects == before) return refuse_second(build->card, nuisance, sample->column);
    effect->lognormal = false;
    effect->factor = nuisance->law == CARD_GMN || nuisance->law == CARD_GMM;
    effect->high = 1.0 + value->low;
    effect->low = 1.0 - value->low;
    return PARITAS_OK;
}

static paritas_status check_one_control(const struct card *card, uint32_t column)
{
    const struct card_nuisance *first = NULL;
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next) {
        if (at->law != CARD_GMN || at->values[column].none) continue;
        if (first)
            return card_refuse(
                card, at->line, at->first_word == CARD_NONE ? 0 : at->first_word + column,
                "%.200s in %.200s has a `gmN` already, \"%.200s\" in line %u: a process has one",
                card->columns[column].process, card->channels[card->columns[column].channel].name,
                first->name, first->line->number);
        first = at;
    }
    return PARITAS_OK;
}

static paritas_status add_free_factor(struct card_build *build, struct card_sample *sample, const char *name)
{
    struct card_parameter *parameter = card_parameter_find(build, name);
    struct card_effect *effect = parameter ? card_effect_of(build, sample, parameter) : NULL;
    if (!effect) return paritas_fail_memory(build->card->context);
    effect->factor = true;
    return PARITAS_OK;
}

paritas_status card_factors_find(struct card_build *build, struct card_sample *sample)
{
    struct card *card = build->card;
    const struct card_column *column = &card->columns[sample->column];
    TRY(check_one_control(card, sample->column));
    if (column->poi) TRY(add_free_factor(build, sample, column->poi->name));
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next)
        if (!at->values[sample->column].none && !card_is_shape(at->law))
            TRY(card_factor_add(build, sample, at));
    for (const struct card_rate *at = card->rates; at; at = at->next) {
        const bool here = at->channel &&
                          card_matches_wildcard(at->channel, card->channels[column->channel].name) &&
                          card_matches_wildcard(at->process, column->process);
        if (here) TRY(add_free_factor(build, sample, at->name));
    }
    return PARITAS_OK;
}
