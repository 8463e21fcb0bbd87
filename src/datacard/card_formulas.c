/* card_formulas.c: rateParams that are formulas of others. */
#include "datacard/card.h"

#include <stdio.h>
#include <string.h>

/* "a,b": names between commas. */
static paritas_status read_arguments(struct card *card, struct card_rate *rate, uint32_t word)
{
    const struct card_line *line = rate->line;
    const char *at = line->words[word].text;
    uint32_t most = 1;
    for (const char *comma = at; (comma = strchr(comma, ',')); comma++) most++;
    rate->arguments = arena_array(card->arena, most, sizeof *rate->arguments);
    if (!rate->arguments) return paritas_fail_memory(card->context);
    while (true) {
        const size_t length = strcspn(at, ",");
        const char *name = arena_text(card->arena, at, length);
        if (!name || !(name = card_parameter_name(card, name))) return paritas_fail_memory(card->context);
        if (length == 0)
            return card_refuse(card, line, word, "an argument is missing between commas: found \"%.100s\"",
                               line->words[word].text);
        rate->arguments[rate->n_arguments++] = name;
        if (at[length] == '\0') return PARITAS_OK;
        at += length + 1;
    }
}

paritas_status card_read_formula(struct card *card, struct card_rate *rate, uint32_t word)
{
    const struct card_line *line = rate->line;
    uint32_t column = 1;
    rate->formula = line->words[word].text;
    if (line->n <= word + 1)
        return card_refuse(card, line, word,
                           "\"%.100s\" is no number; a formula needs its arguments behind it: @0*@1 a,b",
                           rate->formula);
    TRY(read_arguments(card, rate, word + 1));
    const paritas_status status = expression_parse(card->context, card->arena, rate->formula, rate->arguments,
                                                   rate->n_arguments, &rate->expression, &column);
    if (status != PARITAS_INVALID_INPUT) return status;
    char reason[512];
    snprintf(reason, sizeof reason, "%.511s", card->context->message);
    return paritas_fail(card->context, PARITAS_INVALID_INPUT, "%s:%u:%u: in the formula: %s", card->path,
                        line->number, line->words[word].column + column - 1, reason);
}

struct card_rate *card_rate_named(const struct card *card, const char *name)
{
    struct card_rate *at = card->rates;
    while (at && !card_same(at->name, name)) at = at->next;
    return at;
}

static const struct card_nuisance *nuisance_named(const struct card *card, const char *name)
{
    const struct card_nuisance *at = card->nuisances;
    while (at && !card_same(at->name, name)) at = at->next;
    return at;
}

static double nuisance_start(const struct card_nuisance *nuisance)
{
    switch (nuisance->law) {
    case CARD_GMN:
        return nuisance->numbers[0] + 1.0;
    case CARD_GMM:
        return 1.0;
    case CARD_UNIF:
        return 0.5 * (nuisance->numbers[0] + nuisance->numbers[1]);
    default:
        return 0.0;
    }
}

enum { DEPTH_MOST = 100 }; /* of formulas in formulas */

static paritas_status find_value(struct card *card, struct card_rate *rate, unsigned depth);

static paritas_status find_argument(struct card *card, const struct card_rate *rate, const char *name,
                                    unsigned depth, double *value)
{
    struct card_rate *argument = card_rate_named(card, name);
    const struct card_nuisance *nuisance = argument ? NULL : nuisance_named(card, name);
    *value = card_same(name, "r") ? 1.0 : 0.0;
    if (argument && argument->open)
        return card_refuse(card, rate->line, 0,
                           "a cycle of formulas: \"%.100s\" (line %u) leads back to itself", name,
                           argument->line->number);
    if (argument) {
        TRY(find_value(card, argument, depth + 1));
        *value = argument->start;
    } else if (nuisance) {
        *value = nuisance_start(nuisance);
    } else if (!card_same(name, "r")) {
        return card_refuse(card, rate->line, 5,
                           "no rateParam, param, extArg or nuisance is \"%.100s\": add one, or mend the name",
                           name);
    }
    return PARITAS_OK;
}

static paritas_status find_value(struct card *card, struct card_rate *rate, unsigned depth)
{
    if (!rate->formula || rate->known) return PARITAS_OK;
    if (depth > DEPTH_MOST)
        return card_refuse(card, rate->line, 0, "formulas are nested more than %d deep: put some together",
                           DEPTH_MOST);
    const struct expression *expression = &rate->expression;
    double *values = arena_array(card->arena, expression->n_names + expression->depth + 1, sizeof *values);
    if (!values) return paritas_fail_memory(card->context);
    rate->open = true;
    for (uint32_t i = 0; i < expression->n_names; i++)
        TRY(find_argument(card, rate, expression->names[i], depth, &values[i]));
    rate->open = false;
    rate->known = true;
    rate->start = expression_value(expression, values, values + expression->n_names);
    if (rate->start - rate->start == 0) return PARITAS_OK;
    return card_refuse(card, rate->line, 4,
                       "the formula has no value at the start values of its arguments: "
                       "mend it, or their values");
}

paritas_status card_find_values(struct card *card)
{
    for (struct card_rate *at = card->rates; at; at = at->next) TRY(find_value(card, at, 0));
    return PARITAS_OK;
}

paritas_status card_formula_text(struct card *card, const struct card_rate *rate, const char **text)
{
    *text = expression_name_arguments(card->arena, rate->formula, rate->arguments, rate->n_arguments);
    return *text ? PARITAS_OK : paritas_fail_memory(card->context);
}
