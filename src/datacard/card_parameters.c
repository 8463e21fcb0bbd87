/* card_parameters.c: what floats: nuisances, rateParams, parameters of interest. */
#include "datacard/card_workspace.h"
#include "base/math/host_math.h"

static const double FAR = 1e4; /* bounds of a rateParam that has none, as a multiple of its value */

bool card_is_present(const struct card *card, uint32_t column)
{
    if (card->columns[column].rate != 0.0) return true;
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next)
        if (at->law == CARD_GMN && !at->values[column].none) return true;
    return false;
}

struct card_parameter *card_parameter_find(const struct card_build *build, const char *name)
{
    for (uint32_t i = 0; i < build->n_parameters; i++)
        if (card_same(build->parameters[i].name, name)) return &build->parameters[i];
    return NULL;
}

static bool has_effect(const struct card *card, const struct card_nuisance *nuisance)
{
    for (uint32_t k = 0; k < card->n_columns; k++)
        if (!nuisance->values[k].none && card_is_present(card, k)) return true;
    return false;
}

static bool scales_column(const struct card *card, const struct card_rate *rate, uint32_t k)
{
    const struct card_column *column = &card->columns[k];
    return rate->channel && card_matches_wildcard(rate->channel, card->channels[column->channel].name) &&
           card_matches_wildcard(rate->process, column->process);
}

static bool scales_anything(const struct card *card, const struct card_rate *rate)
{
    for (uint32_t k = 0; k < card->n_columns; k++)
        if (scales_column(card, rate, k) && card_is_present(card, k)) return true;
    return false;
}

/* Goes from N + 1 outwards to where Poisson(N | g) is 1e-12. */
static void gamma_range(double n, double *lower, double *upper)
{
    const double constant = n > 0.0 ? host_lgamma(n + 1.0) : 0.0;
    *upper = *lower = n + 1.0;
    while (n > 0.0 && n * host_log(*lower) - *lower - constant > -27.631021115928547) *lower *= 0.8;
    if (n == 0.0) *lower = 0.0;
    while ((n > 0.0 ? n * host_log(*upper) : 0.0) - *upper - constant > -27.631021115928547) *upper *= 1.2;
}

/* 1 + v x must stay above 0. */
static paritas_status cut_linear(const struct card *card, const struct card_nuisance *nuisance,
                                 struct card_parameter *made)
{
    for (uint32_t k = 0; k < card->n_columns; k++) {
        const double v = nuisance->values[k].low;
        if (nuisance->values[k].none) continue;
        if (!(v < 1.0 && v > -1.0))
            return card_refuse(
                card, nuisance->line,
                nuisance->first_word == CARD_NONE ? CARD_NONE : nuisance->first_word + k,
                "a value of `%s` must lie between -1 and 1: the rate would be 0 within one width",
                card_law_names[nuisance->law]);
        if (v > 0.0 && made->lower < -1.0 / v) made->lower = -1.0 / v;
        if (v < 0.0 && made->upper > -1.0 / v) made->upper = -1.0 / v;
    }
    return PARITAS_OK;
}

/* All columns of a gmM share one width. Combine prints both numbers of its law with six digits. */
static paritas_status gamma_width(const struct card *card, const struct card_nuisance *nuisance,
                                  struct card_parameter *made)
{
    double width = 0.0;
    for (uint32_t k = 0; k < card->n_columns; k++) {
        const double here = nuisance->values[k].low;
        if (nuisance->values[k].none) continue;
        if (width != 0.0 && here != width)
            return card_refuse(card, nuisance->line,
                               nuisance->first_word == CARD_NONE ? CARD_NONE : nuisance->first_word + k,
                               "all values of a `gmM` must be equal: use one line a width");
        width = here;
    }
    made->start = 1.0;
    made->scale = 1.0 / card_rounded(card, CARD_SIX_DIGITS, width * width);
    made->count = card_rounded(card, CARD_SIX_DIGITS, 1.0 / (width * width)) - 1.0;
    made->lower = 1.0 - 5.0 * width > 0.01 ? 1.0 - 5.0 * width : 0.01;
    made->upper = 1.0 + 5.0 * width;
    return PARITAS_OK;
}

static paritas_status fill_law(const struct card *card, const struct card_nuisance *nuisance,
                               struct card_parameter *made)
{
    double range = 7.0;
    switch (nuisance->law) {
    case CARD_GMN:
        made->constraint = CARD_POISSON;
        made->start = nuisance->numbers[0] + 1.0;
        made->count = nuisance->numbers[0];
        made->scale = 1.0;
        gamma_range(nuisance->numbers[0], &made->lower, &made->upper);
        return PARITAS_OK;
    case CARD_GMM:
        made->constraint = CARD_POISSON;
        return gamma_width(card, nuisance, made);
    case CARD_UNIF:
        made->constraint = CARD_FREE;
        made->lower = nuisance->numbers[0];
        made->upper = nuisance->numbers[1];
        made->start = 0.5 * (made->lower + made->upper);
        return cut_linear(card, nuisance, made);
    case CARD_LNU:
    case CARD_SHAPE_U:
        made->constraint = CARD_FREE;
        range = 1.0;
        break;
    case CARD_SHAPE:
        range = 4.0;
        break;
    default:
        break;
    }
    made->lower = -range;
    made->upper = range;
    return nuisance->law == CARD_TRG ? cut_linear(card, nuisance, made) : PARITAS_OK;
}

/* Laws of a standard normal constraint. Combine refuses `lnN` beside `shape`, but not beside its variants. */
static bool are_one_law(enum card_law a, enum card_law b)
{
    static const bool standard[CARD_LAWS] = {[CARD_LNN] = true,
                                             [CARD_SHAPE] = true,
                                             [CARD_SHAPE_N] = true,
                                             [CARD_SHAPE_2] = true,
                                             [CARD_SHAPE_OR_LNN] = true};
    const bool refused = (a == CARD_LNN && b == CARD_SHAPE) || (a == CARD_SHAPE && b == CARD_LNN);
    return standard[a] && standard[b] && !refused;
}

/* Lines of one name are one parameter. */
static paritas_status join_line(const struct card *card, const struct card_nuisance *nuisance,
                                const struct card_parameter *known)
{
    const struct card_nuisance *first = known->nuisance;
    const bool same = first && first->law == nuisance->law && first->numbers[0] == nuisance->numbers[0] &&
                      first->numbers[1] == nuisance->numbers[1];
    if (same || (first && are_one_law(first->law, nuisance->law))) return PARITAS_OK;
    return card_refuse(
        card, nuisance->line, 1,
        "\"%.200s\" is %s%s%s in line %u: one name has one law; give this line another name%s", known->name,
        first ? "`" : "a parameter of interest", first ? card_law_names[first->law] : "", first ? "`" : "",
        first ? first->line->number : card->rate->number,
        first && card_is_shape(first->law) != card_is_shape(nuisance->law) ? ", or write `shape?` for both"
                                                                           : "");
}

static paritas_status add_nuisance(struct card_build *build, struct card_nuisance *nuisance)
{
    struct card_parameter *known = nuisance->parameter = card_parameter_find(build, nuisance->name);
    if (known) {
        TRY(join_line(build->card, nuisance, known));
        if (nuisance->law != CARD_TRG && nuisance->law != CARD_UNIF) return PARITAS_OK;
        return cut_linear(build->card, nuisance, known);
    }
    struct card_parameter *made = nuisance->parameter = &build->parameters[build->n_parameters++];
    *made = (struct card_parameter){.name = nuisance->name,
                                    .law = nuisance->law,
                                    .nuisance = nuisance,
                                    .constraint = CARD_GAUSS,
                                    .frozen = nuisance->frozen};
    return fill_law(build->card, nuisance, made);
}

static paritas_status add_rate(struct card_build *build, const struct card_rate *rate);

static paritas_status add_arguments(struct card_build *build, const struct card_rate *rate)
{
    const struct expression *expression = &rate->expression;
    for (uint32_t i = 0; i < expression->n_names; i++) {
        const struct card_rate *argument = card_rate_named(build->card, expression->names[i]);
        if (argument)
            TRY(add_rate(build, argument));
        else if (!card_parameter_find(build, expression->names[i]))
            return card_refuse(
                build->card, rate->line, 5,
                "the argument \"%.200s\" acts on no process, so it is no parameter: write it as "
                "`param` or `extArg`",
                expression->names[i]);
    }
    return PARITAS_OK;
}

/* Bounds that are not given: far away, and not below 0 where the value is above. */
static void fill_range(double start, struct card_parameter *made)
{
    const double size = start > 1.0 ? start : start < -1.0 ? -start : 1.0;
    made->lower = start > 0.0 ? 0.0 : -FAR * size;
    made->upper = FAR * size;
}

static paritas_status add_rate(struct card_build *build, const struct card_rate *rate)
{
    const struct card_parameter *known = card_parameter_find(build, rate->name);
    if (known && known->rate) return PARITAS_OK;
    if (known)
        return card_refuse(build->card, rate->line, 0, "\"%.200s\" is also %s: give one of them another name",
                           rate->name, known->nuisance ? "a nuisance" : "a parameter of interest");
    const bool measured = rate->widths[0] > 0.0;
    if (rate->formula) TRY(add_arguments(build, rate));
    struct card_parameter *made = &build->parameters[build->n_parameters++];
    *made = (struct card_parameter){.name = rate->name,
                                    .law = CARD_LAWS,
                                    .rate = rate,
                                    .constraint = measured ? CARD_GAUSS : CARD_FREE,
                                    .start = rate->start,
                                    .lower = rate->lower,
                                    .upper = rate->upper,
                                    .frozen = rate->constant || rate->frozen};
    if (made->lower != made->lower) fill_range(rate->start, made);
    made->used = !rate->channel || rate->formula; /* by formulas, or not at all */
    return PARITAS_OK;
}

/* Without a range it is constant. */
static void add_poi(struct card_build *build, const struct card_poi *poi)
{
    struct card_parameter *made = &build->parameters[build->n_parameters++];
    *made = (struct card_parameter){.name = poi->name,
                                    .law = CARD_LAWS,
                                    .constraint = CARD_FREE,
                                    .start = poi->start,
                                    .lower = poi->lower,
                                    .upper = poi->upper,
                                    .frozen = poi->fixed};
    if (poi->fixed) fill_range(poi->start, made);
}

paritas_status card_parameters_collect(struct card_build *build)
{
    struct card *card = build->card;
    uint32_t most = 0;
    for (const struct card_poi *at = card->pois; at; at = at->next) most++;
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next) most++;
    for (const struct card_rate *at = card->rates; at; at = at->next) most++;
    build->parameters = arena_array(build->arena, most, sizeof *build->parameters);
    if (!build->parameters) return paritas_fail_memory(card->context);
    for (const struct card_poi *at = card->pois; at; at = at->next) add_poi(build, at);
    for (struct card_nuisance *at = card->nuisances; at; at = at->next)
        if (has_effect(card, at)) TRY(add_nuisance(build, at));
    for (const struct card_rate *at = card->rates; at; at = at->next)
        if (scales_anything(card, at)) TRY(add_rate(build, at));
    return PARITAS_OK;
}

static void write_parameter(struct card_build *build, struct json *list, const struct card_parameter *one)
{
    struct json *config = card_append_object(build, list);
    card_put_text(build, config, "name", one->name);
    card_put_numbers(build, config, "inits", 1, &one->start);
    card_put_range(build, card_put_array(build, config, "bounds"), one->lower, one->upper);
    if (one->frozen) card_put(build, config, "fixed", json_new(build->document, JSON_TRUE));
    const bool own = one->nuisance ? one->constraint != CARD_GAUSS : one->constraint != CARD_FREE;
    if (!own) return; /* the modifier's law */
    static const char *const words[] = {
        [CARD_GAUSS] = "gaussian", [CARD_FREE] = "none", [CARD_POISSON] = "poisson"};
    const bool two = one->rate && one->rate->widths[0] != one->rate->widths[1];
    struct json *law = card_put_object(build, config, "constraint");
    card_put_text(build, law, "type", two ? "bifurcated" : words[one->constraint]);
    if (two) card_put_number(build, law, "ratio", one->rate->widths[1] / one->rate->widths[0]);
    if (one->constraint == CARD_FREE) return;
    const bool count = one->constraint == CARD_POISSON;
    card_put_numbers(build, config, "auxdata", 1, count ? &one->count : &one->start);
    card_put_numbers(build, config, count ? "factors" : "sigmas", 1,
                     count ? &one->scale : &one->rate->widths[0]);
}

static bool is_function(const struct card_parameter *one)
{
    return one->rate && one->rate->formula;
}

static paritas_status write_functions(struct card_build *build, struct json *config)
{
    struct json *list = NULL;
    for (uint32_t i = 0; i < build->n_parameters; i++) {
        const struct card_parameter *one = &build->parameters[i];
        const char *text;
        if (!is_function(one)) continue;
        if (!list) list = card_put_array(build, config, "functions");
        TRY(card_formula_text(build->card, one->rate, &text));
        struct json *function = card_append_object(build, list);
        card_put_text(build, function, "name", one->name);
        card_put_text(build, function, "expression", text);
    }
    return PARITAS_OK;
}

paritas_status card_parameters_write(struct card_build *build, struct json *config)
{
    struct json *list = card_put_array(build, config, "parameters");
    for (uint32_t i = 0; i < build->n_parameters; i++)
        if (!is_function(&build->parameters[i])) write_parameter(build, list, &build->parameters[i]);
    for (uint32_t i = 0; i < build->n_samples; i++) card_counts_write(build, list, &build->samples[i]);
    return write_functions(build, config);
}
