/* card_combine_lines.c: nuisances by name, and the lines without columns. */
#include "datacard/card_combine.h"

#include <stdio.h>
#include <string.h>

static const struct card_line *lines_below_rate(const struct card_part *part)
{
    return part->card.rate->next;
}

/* Words between the law and the values. */
static uint32_t argument_count(const char *law)
{
    return card_same(law, "gmN") ? 1 : card_same(law, "unif") ? 2 : 0;
}

static bool is_nuisance(const struct card_line *line)
{
    enum card_law law;
    return !card_is_edit(line) && card_law_of(line->words[1].text, &law);
}

void card_joined_head(const struct card_joined *joined, size_t room, char *text)
{
    const char *a = argument_count(joined->law) > 0 ? joined->line->words[2].text : "";
    const char *b = argument_count(joined->law) > 1 ? joined->line->words[3].text : "";
    snprintf(text, room, "%s %s%s%s%s%s", joined->name, joined->law, *a ? " " : "", a, *b ? " " : "", b);
}

/* A lognormal and a shape of one name are `shape?`. NULL: the laws differ. */
static const char *common_law(const char *a, const char *b)
{
    const bool shapes = card_same(a, "shape") || card_same(a, "shape?") || card_same(a, "lnN"),
               others = card_same(b, "shape") || card_same(b, "shape?") || card_same(b, "lnN");
    return card_same(a, b) ? a : shapes && others ? "shape?" : NULL;
}

static bool same_arguments(const struct card_joined *joined, const struct card_line *line)
{
    bool same = true;
    for (uint32_t i = 2; i < 2 + argument_count(joined->law); i++)
        same = same && card_same(joined->line->words[i].text, line->words[i].text);
    return same;
}

/* The line that takes a part's values, new or not. */
static paritas_status find_joined(struct combination *all, const struct card_part *part,
                                  const struct card_line *line, struct card_joined **found)
{
    struct card *card = (struct card *)&part->card;
    const char *key = card_parameter_name(card, line->words[0].text), *law = line->words[1].text;
    struct card_joined **last = &all->nuisances;
    if (!key) return paritas_fail_memory(all->context);
    for (; *last; last = &(*last)->next) {
        struct card_joined *at = *last;
        if (at->last == part || !card_same(at->key, key)) continue;
        const char *common = common_law(at->law, law);
        if (!common || !same_arguments(at, line))
            return card_refuse(card, line, 1,
                               "\"%.200s\" is `%s` here, but otherwise in %s:%u: one name has one law; "
                               "give it another name in one of the cards",
                               key, law, at->part->card.path, at->line->number);
        at->law = common;
        at->last = part;
        *found = at;
        return PARITAS_OK;
    }
    struct card_joined *made = *found = *last = arena_array(all->arena, 1, sizeof *made);
    if (!made) return paritas_fail_memory(all->context);
    *made = (struct card_joined){
        .part = part, .last = part, .line = line, .name = line->words[0].text, .law = law, .key = key};
    made->values = arena_array(all->arena, all->n_columns, sizeof *made->values);
    return made->values ? PARITAS_OK : paritas_fail_memory(all->context);
}

paritas_status card_nuisances_join(struct combination *all)
{
    for (size_t i = 0; i < all->n_parts; i++) {
        const struct card_part *part = &all->parts[i];
        for (const struct card_line *line = lines_below_rate(part); line; line = line->next) {
            struct card_joined *joined = NULL;
            if (!is_nuisance(line)) continue;
            TRY(find_joined(all, part, line, &joined));
            const uint32_t first = 2 + argument_count(line->words[1].text);
            for (uint32_t k = 0; k < part->card.n_columns; k++) {
                const char *value = line->words[first + k].text;
                if (!card_is_dash(value)) joined->values[part->first_column + k] = value;
            }
        }
    }
    return PARITAS_OK;
}

static void write_words(const struct combination *all, const struct card_line *line, uint32_t from)
{
    for (uint32_t i = from; i < line->n; i++) text_format(all->out, " %s", line->words[i].text);
    text_format(all->out, "\n");
}

static bool same_line(const struct card_line *a, const struct card_line *b)
{
    bool same = a->n == b->n;
    for (uint32_t i = 0; i < a->n && same; i++) same = card_same(a->words[i].text, b->words[i].text);
    return same;
}

/* Has an earlier card the line? */
static bool is_known(const struct combination *all, const struct card_part *part,
                     const struct card_line *line)
{
    for (const struct card_part *other = all->parts; other < part; other++)
        for (const struct card_line *at = lines_below_rate(other); at; at = at->next)
            if (same_line(at, line)) return true;
    return false;
}

/* A parameter that an earlier card has with other numbers has no meaning in both. */
static paritas_status check_known(const struct combination *all, const struct card_part *part,
                                  const struct card_line *line)
{
    static const char *const words[] = {"param", "extArg", "flatParam"};
    for (const struct card_part *other = all->parts; other < part; other++)
        for (const struct card_line *at = lines_below_rate(other); at; at = at->next)
            for (size_t k = 0; k < COUNT_OF(words) && at->n > 1; k++)
                if (card_same(at->words[1].text, words[k]) &&
                    card_same(at->words[0].text, line->words[0].text) && !same_line(at, line))
                    return card_refuse(&part->card, line, 1,
                                       "\"%.100s\" is written otherwise in %s:%u: give one of them another "
                                       "name, or both one line",
                                       line->words[0].text, other->card.path, at->number);
    return PARITAS_OK;
}

/* Has an earlier card, or line, the group? */
static bool is_known_group(const struct combination *all, const struct card_line *line)
{
    for (const struct card_part *other = all->parts;; other++)
        for (const struct card_line *at = lines_below_rate(other); at; at = at->next) {
            if (at == line) return false;
            if (card_same(at->words[0].text, line->words[0].text) && card_same(at->words[1].text, "group"))
                return true;
        }
}

/* Is there a process in this channel that the pattern means? */
static bool has_process(const struct card *card, uint32_t channel, const char *pattern)
{
    for (uint32_t k = 0; k < card->n_columns; k++)
        if (card->columns[k].channel == channel && card_matches_wildcard(pattern, card->columns[k].process))
            return true;
    return false;
}

static paritas_status carry_line(const struct combination *all, const struct card_part *part,
                                 const struct card_line *line)
{
    const struct card *card = &part->card;
    const char *name = line->words[0].text, *word = line->words[1].text;
    const bool rate = card_same(word, "rateParam");
    if (card_same(word, "group")) {
        text_format(all->out, "%s group %s", name, is_known_group(all, line) ? "+=" : "=");
        write_words(all, line, 3);
    } else if (rate || card_same(word, "autoMCStats")) {
        for (uint32_t c = 0; c < card->n_channels; c++) {
            const char *pattern = rate ? line->words[2].text : name;
            if (!card_matches_wildcard(pattern, card->channels[c].name)) continue;
            if (rate && !has_process(card, c, line->words[3].text)) continue;
            text_format(all->out, "%s %s", rate ? name : part->names[c], word);
            if (rate) text_format(all->out, " %s", part->names[c]);
            write_words(all, line, rate ? 3 : 2);
        }
    } else if (!is_known(all, part, line)) {
        TRY(check_known(all, part, line));
        text_format(all->out, "%s", name);
        write_words(all, line, 1);
    }
    return PARITAS_OK;
}

/* A name in an expression: bytes that mean something there follow a backslash. */
static void write_literal(const struct combination *all, const char *name)
{
    for (; *name != '\0'; name++)
        text_format(all->out, "%s%c", strchr(".*+?[](){}|^$\\", *name) ? "\\" : "", *name);
}

/* The part's channels that the edit means, as an expression. */
static void write_channels(const struct combination *all, const struct card_part *part,
                           const char *expression)
{
    bool any = false;
    text_format(all->out, " (");
    for (uint32_t c = 0; c < part->card.n_channels; c++) {
        if (card_matches_expression(expression, part->card.channels[c].name) != CARD_MATCHES) continue;
        if (any) text_format(all->out, "|");
        any = true;
        write_literal(all, part->names[c]);
    }
    text_format(all->out, ")");
}

static void carry_edit(const struct combination *all, const struct card_part *part,
                       const struct card_line *line)
{
    const char *what = line->words[2].text;
    const bool by_name = card_same(what, "changepdf") || card_same(what, "freeze");
    text_format(all->out, "nuisance edit %s", what);
    if (!by_name) {
        text_format(all->out, " %s", line->words[3].text);
        write_channels(all, part, line->words[4].text);
    }
    write_words(all, line, by_name ? 3 : 5);
}

paritas_status card_lines_carry(struct combination *all)
{
    for (size_t i = 0; i < all->n_parts; i++)
        for (const struct card_line *line = lines_below_rate(&all->parts[i]); line; line = line->next)
            if (!is_nuisance(line) && !card_is_edit(line)) TRY(carry_line(all, &all->parts[i], line));
    for (size_t i = 0; i < all->n_parts; i++)
        for (const struct card_line *line = lines_below_rate(&all->parts[i]); line; line = line->next)
            if (card_is_edit(line)) carry_edit(all, &all->parts[i], line);
    return all->out->failed ? paritas_fail_memory(all->context) : PARITAS_OK;
}
