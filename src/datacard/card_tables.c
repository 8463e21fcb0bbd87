/* card_tables.c: the header's tables: channels, processes, rates, and the counts that must agree. */
#include "datacard/card.h"

#include <string.h>

#define FOLLOWS_WORD 1 /* values stand behind the line's own word */

static paritas_status check_width(const struct card *card, const struct card_line *line, const char *what)
{
    const uint32_t wanted = card->columns_bin->n, found = line->n;
    if (found == wanted) return PARITAS_OK;
    return card_refuse(card, line, found > wanted ? wanted : CARD_NONE,
                       "`%s` has %u values, but `bin` in line %u has %u: give one for each process of each "
                       "channel",
                       what, found - FOLLOWS_WORD, card->columns_bin->number, wanted - FOLLOWS_WORD);
}

static uint32_t find_channel(const struct card *card, const char *name)
{
    for (uint32_t i = 0; i < card->n_channels; i++)
        if (card_same(card->channels[i].name, name)) return i;
    return CARD_NONE;
}

/* Channels in the order of the line `bin` above `observation`, or of the columns. */
static paritas_status read_channels(struct card *card)
{
    const struct card_line *line = card->bins ? card->bins : card->columns_bin;
    card->channels = arena_array(card->arena, line->n, sizeof *card->channels);
    if (!card->channels) return paritas_fail_memory(card->context);
    for (uint32_t i = FOLLOWS_WORD; i < line->n; i++) {
        const char *name = line->words[i].text;
        TRY(card_check_name(card, line, i));
        const bool known = find_channel(card, name) != CARD_NONE;
        if (known && card->bins)
            return card_refuse(card, line, i, "the channel \"%.200s\" is given twice: give each name once",
                               name);
        if (!known) card->channels[card->n_channels++] = (struct card_channel){.name = name};
    }
    return PARITAS_OK;
}

static paritas_status read_observation(struct card *card)
{
    const struct card_line *line = card->observation;
    if (!line) return PARITAS_OK;
    if (line->n - FOLLOWS_WORD != card->n_channels)
        return card_refuse(card, line, line->n > card->n_channels ? card->n_channels + 1 : CARD_NONE,
                           "`observation` has %u values for %u channels: give one for each",
                           line->n - FOLLOWS_WORD, card->n_channels);
    for (uint32_t i = FOLLOWS_WORD; i < line->n; i++) {
        struct card_channel *channel = &card->channels[i - FOLLOWS_WORD];
        channel->observed_word = &line->words[i];
        if (!card_number(line->words[i].text, &channel->observed))
            return card_refuse(card, line, i,
                               "`observation` must be a number of events, or -1 for the histogram's, found "
                               "\"%.100s\"",
                               line->words[i].text);
        if (channel->observed < 0.0 && channel->observed != -1.0)
            return card_refuse(card, line, i,
                               "`observation` must not be negative, except for -1, the histogram's; found "
                               "\"%.100s\"",
                               line->words[i].text);
    }
    return PARITAS_OK;
}

static bool is_whole(const char *text, double *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    return *digits != '\0' && strspn(digits, "0123456789") == strlen(digits) && card_number(text, value);
}

static bool begins_as_number(const char *text)
{
    text += *text == '-';
    return *text >= '0' && *text <= '9';
}

/* Names and numbers of processes may stand in either order. The first column decides. */
static void order_processes(struct card *card)
{
    const struct card_line *first = card->columns_process;
    if (!begins_as_number(first->words[FOLLOWS_WORD].text) ||
        begins_as_number(card->columns_number->words[FOLLOWS_WORD].text))
        return;
    card->columns_process = card->columns_number;
    card->columns_number = first;
}

static paritas_status read_column(struct card *card, uint32_t k)
{
    struct card_column *column = &card->columns[k - FOLLOWS_WORD];
    const char *channel = card->columns_bin->words[k].text;
    const char *number = card->columns_number->words[k].text, *rate = card->rate->words[k].text;
    double which;
    column->word = k;
    column->process = card->columns_process->words[k].text;
    column->channel = find_channel(card, channel);
    TRY(card_check_name(card, card->columns_process, k));
    if (column->channel == CARD_NONE)
        return card_refuse(card, card->columns_bin, k,
                           "the channel \"%.200s\" is not in the line `bin` above `observation` (line %u): "
                           "add it there, or mend the name",
                           channel, card->bins->number);
    if (!is_whole(number, &which))
        return card_refuse(card, card->columns_number, k,
                           "the number of a process must be an integer, 0 or less for signals and above 0 "
                           "for backgrounds; found \"%.100s\"",
                           number);
    column->signal = which <= 0.0;
    if (!card_number(rate, &column->rate))
        return card_refuse(card, card->rate, k,
                           "`rate` must be a number of events, or -1 for the histogram's, found \"%.100s\"",
                           rate);
    return PARITAS_OK;
}

/* One process is a signal or a background everywhere, and stands once in a channel. */
static paritas_status check_column(const struct card *card, uint32_t k)
{
    const struct card_column *column = &card->columns[k];
    for (uint32_t i = 0; i < k; i++) {
        const struct card_column *other = &card->columns[i];
        if (!card_same(column->process, other->process)) continue;
        if (column->signal != other->signal)
            return card_refuse(card, card->columns_number, column->word,
                               "\"%.200s\" is a %s here and a %s in column %u: a process is one of both in "
                               "all channels",
                               column->process, column->signal ? "signal" : "background",
                               other->signal ? "signal" : "background", i + 1);
        if (column->channel == other->channel)
            return card_refuse(card, card->columns_process, column->word,
                               "the process \"%.200s\" stands twice in the channel \"%.200s\": join the two "
                               "columns, or rename one",
                               column->process, card->channels[column->channel].name);
    }
    return PARITAS_OK;
}

static paritas_status check_channels(const struct card *card)
{
    for (uint32_t c = 0; c < card->n_channels; c++) {
        uint32_t k = 0;
        while (k < card->n_columns && card->columns[k].channel != c) k++;
        if (k == card->n_columns)
            return card_refuse(card, card->bins, c + FOLLOWS_WORD,
                               "the channel \"%.200s\" has no process in line %u: add one, or drop the "
                               "channel",
                               card->channels[c].name, card->columns_bin->number);
    }
    return PARITAS_OK;
}

static uint32_t count_processes(const struct card *card)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < card->n_columns; k++) {
        uint32_t i = 0;
        while (i < k && !card_same(card->columns[i].process, card->columns[k].process)) i++;
        n += i == k;
    }
    return n;
}

/* imax, jmax, kmax: a number that must be right, or "*". */
static paritas_status check_count(const struct card *card, enum card_count which, uint32_t found,
                                  const char *what)
{
    const struct card_line *line = card->counts[which];
    double given;
    if (!line || line->n < 2 || card_same(line->words[1].text, "*")) return PARITAS_OK;
    if (!is_whole(line->words[1].text, &given))
        return card_refuse(card, line, 1, "`%s` must be an integer or *, found \"%.100s\"",
                           line->words[0].text, line->words[1].text);
    if (given == found || given == -1.0) return PARITAS_OK;
    return card_refuse(card, line, 1, "`%s` is %.100s, but there are %u %s: mend the number, or write *",
                       line->words[0].text, line->words[1].text, found, what);
}

paritas_status card_read_tables(struct card *card)
{
    TRY(check_width(card, card->columns_process, "process"));
    TRY(check_width(card, card->columns_number, "process"));
    TRY(check_width(card, card->rate, "rate"));
    if (card->columns_bin->n == FOLLOWS_WORD)
        return card_refuse(card, card->columns_bin, 0, "`bin` names no channel: give one for each process");
    order_processes(card);
    TRY(read_channels(card));
    TRY(read_observation(card));
    card->n_columns = card->columns_bin->n - FOLLOWS_WORD;
    card->columns = arena_array(card->arena, card->n_columns, sizeof *card->columns);
    if (!card->columns) return paritas_fail_memory(card->context);
    for (uint32_t k = 0; k < card->n_columns; k++) TRY(read_column(card, k + FOLLOWS_WORD));
    for (uint32_t k = 0; k < card->n_columns; k++) TRY(check_column(card, k));
    TRY(check_channels(card));
    TRY(check_count(card, CARD_IMAX, card->n_channels, "channels"));
    return check_count(card, CARD_JMAX, count_processes(card) - 1, "processes beside the first");
}

paritas_status card_check_nuisance_count(const struct card *card)
{
    return check_count(card, CARD_KMAX, card->n_nuisance_lines, "nuisance lines");
}
