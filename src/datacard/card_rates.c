/* card_rates.c: rateParam, extArg, param, autoMCStats. */
#include "datacard/card.h"

#include <string.h>

/* "[lo,hi]" */
static paritas_status read_range(struct card *card, const struct card_line *line, uint32_t word,
                                 struct card_rate *rate)
{
    const char *text = line->words[word].text, *comma = strchr(text, ',');
    const size_t length = strlen(text);
    bool good = comma && *text == '[' && text[length - 1] == ']';
    if (good) {
        const char *low = arena_text(card->arena, text + 1, (size_t)(comma - text) - 1);
        const char *high = arena_text(card->arena, comma + 1, (size_t)(text + length - comma) - 2);
        if (!low || !high) return paritas_fail_memory(card->context);
        good = card_number(low, &rate->lower) && card_number(high, &rate->upper) && rate->lower < rate->upper;
    }
    if (!good)
        return card_refuse(card, line, word,
                           "a range is [LOW,HIGH] without blanks, LOW below HIGH; found \"%.100s\"", text);
    if (rate->start >= rate->lower && rate->start <= rate->upper) return PARITAS_OK;
    return card_refuse(card, line, word, "the value %.40s lies outside of its range %.100s: mend one",
                       line->words[word - 1].text, text);
}

/* Behind a value stands a range or nothing. */
static paritas_status read_end(struct card *card, const struct card_line *line, uint32_t word,
                               struct card_rate *rate)
{
    if (word < line->n && line->words[word].text[0] == '[') TRY(read_range(card, line, word++, rate));
    if (word >= line->n) return PARITAS_OK;
    return card_refuse(card, line, word, "a range, [LOW,HIGH], ends this line, or nothing; found \"%.100s\"",
                       line->words[word].text);
}

static struct card_rate *add_rate(struct card *card, const struct card_line *line, const char *name)
{
    struct card_rate *made = arena_array(card->arena, 1, sizeof *made), **last = &card->rates;
    if (!made || !name) return NULL;
    *made = (struct card_rate){.line = line, .name = name, .lower = 0.0 / 0.0, .upper = 0.0 / 0.0};
    while (*last) last = &(*last)->next;
    return *last = made;
}

/* A pattern without any match is a slip of the pen. A process of other channels is none: cards that were put
 * together have such lines. */
static paritas_status check_patterns(const struct card *card, const struct card_rate *rate)
{
    bool channel = false, process = false;
    for (uint32_t k = 0; k < card->n_columns; k++) {
        const struct card_column *column = &card->columns[k];
        channel = channel || card_matches_wildcard(rate->channel, card->channels[column->channel].name);
        process = process || card_matches_wildcard(rate->process, column->process);
    }
    if (!channel)
        return card_refuse(card, rate->line, 2, "no channel is \"%.100s\": mend the name", rate->channel);
    if (process) return PARITAS_OK;
    return card_refuse(card, rate->line, 3, "no process is \"%.100s\": mend the name", rate->process);
}

static bool is_same_formula(const struct card_rate *a, const struct card_rate *b)
{
    if (!card_same(a->formula, b->formula) || a->n_arguments != b->n_arguments) return false;
    for (uint32_t i = 0; i < a->n_arguments; i++)
        if (!card_same(a->arguments[i], b->arguments[i])) return false;
    return true;
}

static bool is_same_number(double a, double b)
{
    return a == b || (a != a && b != b);
}

/* Do two lines without channels say the same? */
static bool is_same_argument(const struct card_rate *a, const struct card_rate *b)
{
    return is_same_number(a->start, b->start) && is_same_number(a->lower, b->lower) &&
           is_same_number(a->upper, b->upper) && is_same_number(a->widths[0], b->widths[0]) &&
           is_same_number(a->widths[1], b->widths[1]) && a->constant == b->constant;
}

/* One name may stand in several lines. Formulas must be the same, and all of a param or extArg; of a
 * rateParam the first value holds. */
static paritas_status check_twin(const struct card *card, const struct card_rate *made)
{
    for (const struct card_rate *other = card->rates; other != made; other = other->next) {
        if (!card_same(other->name, made->name) || !other->channel != !made->channel) continue;
        if (!made->channel && !is_same_argument(other, made))
            return card_refuse(card, made->line, 0,
                               "\"%.100s\" is given otherwise in line %u: one name has one value, width and "
                               "range; leave one line out",
                               made->name, other->line->number);
        if ((!other->formula && !made->formula) || is_same_formula(other, made)) continue;
        return card_refuse(card, made->line, 0,
                           "\"%.100s\" is given otherwise in line %u: one name has one formula", made->name,
                           other->line->number);
    }
    return PARITAS_OK;
}

static const struct card_rate *argument_named(const struct card *card, const char *name)
{
    const struct card_rate *at = card->rates;
    while (at && (at->channel || !card_same(at->name, name))) at = at->next;
    return at;
}

void card_join_rates(struct card *card)
{
    for (struct card_rate *at = card->rates; at; at = at->next) {
        const struct card_rate *argument = at->channel ? argument_named(card, at->name) : NULL;
        if (!argument) continue;
        at->formula = NULL;
        at->expression = (struct expression){0};
        at->start = argument->start;
        at->lower = argument->lower;
        at->upper = argument->upper;
        at->widths[0] = argument->widths[0];
        at->widths[1] = argument->widths[1];
        at->constant = argument->constant;
        at->frozen = at->frozen || argument->frozen;
    }
}

static paritas_status read_factor(struct card *card, struct card_rate *rate)
{
    const struct card_line *line = rate->line;
    const char *text = line->words[4].text;
    if (card_number(text, &rate->start)) return read_end(card, line, 5, rate);
    if (strstr(text, ".root:") || strchr(text, ':'))
        return card_refuse(card, line, 4,
                           "\"%.100s\" stands in a RooFit workspace, which is not read: give a number or a "
                           "formula with its arguments",
                           text);
    return card_read_formula(card, rate, 4);
}

paritas_status card_read_rate(struct card *card, const struct card_line *line)
{
    if (line->n < 5)
        return card_refuse(card, line, CARD_NONE,
                           "a rateParam is NAME rateParam CHANNEL PROCESS VALUE [LOW,HIGH], or a formula and "
                           "its arguments in place of the value");
    struct card_rate *rate = add_rate(card, line, card_parameter_name(card, line->words[0].text));
    if (!rate) return paritas_fail_memory(card->context);
    TRY(card_check_name(card, line, 0));
    rate->channel = line->words[2].text;
    rate->process = line->words[3].text;
    TRY(read_factor(card, rate));
    TRY(check_patterns(card, rate));
    return check_twin(card, rate);
}

/* "0.15", or "-0.1/+0.3": below and above. */
static bool read_widths(struct card *card, const char *text, double widths[2])
{
    const char *slash = strchr(text, '/');
    if (!slash) {
        if (!card_number(text, &widths[0])) return false;
        widths[1] = widths[0];
        return widths[0] > 0.0;
    }
    const char *low = arena_text(card->arena, text, (size_t)(slash - text));
    if (!low || !card_number(low, &widths[0]) || !card_number(slash + 1, &widths[1])) return false;
    widths[0] = -widths[0];
    return widths[0] > 0.0 && widths[1] > 0.0;
}

paritas_status card_read_argument(struct card *card, const struct card_line *line)
{
    const bool measured = card_same(line->words[1].text, "param");
    const uint32_t words = measured ? 4 : 3;
    struct card_rate *rate = add_rate(card, line, card_parameter_name(card, line->words[0].text));
    if (!rate) return paritas_fail_memory(card->context);
    TRY(card_check_name(card, line, 0));
    if (line->n < words)
        return card_refuse(card, line, CARD_NONE,
                           measured ? "a param is NAME param MEAN WIDTH [LOW,HIGH]"
                                    : "an extArg is NAME extArg VALUE, with [LOW,HIGH] or [const] behind it");
    if (!measured && strchr(line->words[2].text, ':'))
        return card_refuse(card, line, 2,
                           "\"%.100s\" stands in a RooFit workspace, which is not read: give its value",
                           line->words[2].text);
    if (!card_number(line->words[2].text, &rate->start))
        return card_refuse(card, line, 2, "a number is wanted here, found \"%.100s\"", line->words[2].text);
    if (measured && !read_widths(card, line->words[3].text, rate->widths))
        return card_refuse(card, line, 3, "a width is a number above 0, or -BELOW/+ABOVE; found \"%.100s\"",
                           line->words[3].text);
    rate->constant = !measured && line->n > words && card_same(line->words[words].text, "[const]");
    TRY(read_end(card, line, words + rate->constant, rate));
    if (measured && line->n == words) {
        rate->lower = rate->start - 4.0 * rate->widths[0];
        rate->upper = rate->start + 4.0 * rate->widths[1];
    }
    return check_twin(card, rate);
}

static paritas_status read_flag(const struct card *card, const struct card_line *line, uint32_t word,
                                double least, double most, double *value)
{
    if (word >= line->n) return PARITAS_OK;
    const char *text = line->words[word].text;
    if (card_number(text, value) && *value >= least && *value <= most && *value == (double)(int)*value)
        return PARITAS_OK;
    return card_refuse(card, line, word, "autoMCStats has an integer from %g to %g here, found \"%.100s\"",
                       least, most, text);
}

paritas_status card_read_auto_stats(struct card *card, const struct card_line *line)
{
    double threshold = 0.0, with_signal = 0.0, mode = 1.0;
    bool found = false;
    if (line->n < 3)
        return card_refuse(card, line, CARD_NONE,
                           "autoMCStats needs its threshold: CHANNEL autoMCStats 10 [SIGNAL] [MODE]");
    if (!card_number(line->words[2].text, &threshold) || threshold < -1.0)
        return card_refuse(card, line, 2, "the threshold is a number from -1 on, found \"%.100s\"",
                           line->words[2].text);
    TRY(read_flag(card, line, 3, 0.0, 1.0, &with_signal));
    TRY(read_flag(card, line, 4, 0.0, 2.0, &mode));
    if (mode == 0.0)
        return card_refuse(
            card, line, 4,
            "hist-mode 0 is not read: it multiplies whole histograms by a factor that no shape "
            "means; write 1, the default, or 2");
    for (uint32_t c = 0; c < card->n_channels; c++) {
        struct card_channel *channel = &card->channels[c];
        if (!card_matches_wildcard(line->words[0].text, channel->name)) continue;
        found = true;
        channel->monte_carlo = true;
        channel->threshold = threshold;
        channel->with_signal = with_signal != 0.0;
        channel->mode = (int)mode;
    }
    if (found || strchr(line->words[0].text, '*')) return PARITAS_OK; /* a pattern may match nothing */
    return card_refuse(card, line, 0, "no channel is \"%.100s\": mend the name", line->words[0].text);
}
