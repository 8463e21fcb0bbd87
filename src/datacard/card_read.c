/* card_read.c: which line is what. */
#include "datacard/card.h"

#include <string.h>

/* How many letters must change to make one word of the other, up to 3. */
static unsigned letters_apart(const char *a, const char *b)
{
    enum { LONGEST = 16 };
    const size_t n = strlen(a), m = strlen(b);
    unsigned row[LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return 3;
    for (size_t j = 0; j <= m; j++) row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            const unsigned change = corner + (a[i - 1] != b[j - 1]);
            const unsigned step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            corner = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[m];
}

/* A line is missing; another one may be misspelt. */
static paritas_status refuse_missing(const struct card *card, const char *word, const char *what)
{
    const struct card_line *last = card->lines;
    for (const struct card_line *line = card->lines; line; line = line->next) {
        const unsigned apart = letters_apart(line->words[0].text, word);
        if (apart > 0 && (apart <= 2 || card_same_word(line->words[0].text, word)))
            return card_refuse(card, line, 0, "unknown word \"%.100s\": did you mean `%s`?",
                               line->words[0].text, word);
        last = line;
    }
    if (!last)
        return paritas_fail(card->context, PARITAS_INVALID_INPUT, "%s:1:1: the file is empty", card->path);
    return card_refuse(card, last, 0, "the card ends without %s `%s`: add it", what, word);
}

static paritas_status keep_once(const struct card *card, const struct card_line **kept,
                                const struct card_line *line)
{
    if (*kept)
        return card_refuse(card, line, 0, "`%s` is given twice, first in line %u: drop one",
                           line->words[0].text, (*kept)->number);
    *kept = line;
    return PARITAS_OK;
}

/* The first and the second of the kind. */
static paritas_status keep_twice(const struct card *card, const struct card_line **first,
                                 const struct card_line **second, const struct card_line *line)
{
    if (!*first) {
        *first = line;
        return PARITAS_OK;
    }
    if (*second)
        return card_refuse(card, line, 0, "`%s` is given three times, first in lines %u and %u: drop one",
                           line->words[0].text, (*first)->number, (*second)->number);
    *second = line;
    return PARITAS_OK;
}

static paritas_status read_shapes(struct card *card, const struct card_line *line, struct card_shapes ***last)
{
    if (line->n < 4)
        return card_refuse(card, line, CARD_NONE,
                           "`shapes` needs a process, a channel, a file and the name of a histogram: "
                           "shapes * * FILE $CHANNEL/$PROCESS $CHANNEL/$PROCESS_$SYSTEMATIC");
    struct card_shapes *shapes = arena_array(card->arena, 1, sizeof *shapes);
    if (!shapes) return paritas_fail_memory(card->context);
    *shapes = (struct card_shapes){.line = line,
                                   .process = line->words[1].text,
                                   .channel = line->words[2].text,
                                   .file = line->words[3].text,
                                   .nominal = line->n > 4 ? line->words[4].text : NULL,
                                   .systematic = line->n > 5 ? line->words[5].text : NULL};
    if (!shapes->nominal && !card_same(shapes->file, "FAKE"))
        return card_refuse(card, line, CARD_NONE,
                           "`shapes` needs the name of a histogram behind the file: $CHANNEL/$PROCESS");
    for (const struct card_shapes *other = card->shapes; other; other = other->next)
        if (card_same(other->process, shapes->process) && card_same(other->channel, shapes->channel))
            return card_refuse(card, line, 0,
                               "`shapes %.100s %.100s` is given twice, first in line %u: drop one",
                               shapes->process, shapes->channel, other->line->number);
    **last = shapes;
    *last = &shapes->next;
    return PARITAS_OK;
}

/* Lines without a known first word are titles and remarks. */
static paritas_status read_header_line(struct card *card, const struct card_line *line,
                                       struct card_shapes ***last_shapes)
{
    static const char *const counts[CARD_COUNTS] = {"imax", "jmax", "kmax"};
    const char *word = line->words[0].text;
    for (int i = 0; i < CARD_COUNTS; i++)
        if (card_same(word, counts[i])) return keep_once(card, &card->counts[i], line);
    if (card_same(word, "shapes")) return read_shapes(card, line, last_shapes);
    if (card_same(word, "observation") || card_same(word, "Observation"))
        return keep_once(card, &card->observation, line);
    if (card_same(word, "bin")) return keep_twice(card, &card->bins, &card->columns_bin, line);
    if (card_same(word, "process"))
        return keep_twice(card, &card->columns_process, &card->columns_number, line);
    return PARITAS_OK;
}

/* Reads up to `rate`; *line: what follows. */
static paritas_status read_header(struct card *card, const struct card_line **line)
{
    struct card_shapes **last_shapes = &card->shapes;
    const struct card_line *at = card->lines;
    for (; at && !card_same(at->words[0].text, "rate"); at = at->next)
        TRY(read_header_line(card, at, &last_shapes));
    card->rate = at;
    if (!card->columns_bin) {
        card->columns_bin = card->bins;
        card->bins = NULL;
    }
    if (!card->columns_bin) return refuse_missing(card, "bin", "the line");
    if (!card->columns_process) return refuse_missing(card, "process", "the line");
    if (!card->columns_number) return refuse_missing(card, "process", "the second line");
    if (!card->rate) return refuse_missing(card, "rate", "the line");
    *line = at->next;
    return PARITAS_OK;
}

/* The first that may be meant; NULL: none. */
static const char *nearest(const char *word, const char *const *known, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (letters_apart(word, known[i]) <= (strlen(known[i]) > 4 ? 2u : 1u)) return known[i];
    return NULL;
}

/* Kinds that need RooFit, or that no rule here covers. */
static paritas_status refuse_kind(const struct card *card, const struct card_line *line)
{
    static const struct {
        const char *word, *advice;
    } kinds[] = {
        {"discrete",
         "a choice between functions in a RooFit workspace; fit each choice as a card of its own"},
        {"constr", "a constraint by a formula; use `param` for a measured parameter"},
        {"dFD", "a template of RooFit's; use `lnN`"},
        {"dFD2", "a template of RooFit's; use `lnN`"},
        {"trFD", "a template of RooFit's; use `trG`"},
        {"shape*", "a morph of ratios; use `shape`, or `shapeN`"},
        {"shapeL", "a morph that Combine dropped; use `shape`"},
        {"shapeN2", "a morph of logarithms; use `shape`, which morphs the fractions themselves"},
        {"shape2N", "a morph of logarithms; use `shape`, which morphs the fractions themselves"},
        {"shapeN?", "a morph of logarithms; use `shape?`, which morphs the fractions themselves"},
        {"shapeStat", "deviations bin by bin; use autoMCStats"},
        {"gmN2", "two control counts; use `gmN`"},
    };
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (card_same(line->words[1].text, kinds[i].word))
            return card_refuse(card, line, 1, "`%s` is not read: it is %s", kinds[i].word, kinds[i].advice);
    static const char *const headers[] = {"shapes", "bin", "observation", "process", "rate"};
    for (size_t i = 0; i < COUNT_OF(headers); i++)
        if (card_same(line->words[0].text, headers[i]))
            return card_refuse(card, line, 0, "`%s` stands above `rate` (line %u): move the line there",
                               headers[i], card->rate->number);
    static const char *const others[] = {"param", "extArg", "rateParam", "autoMCStats", "group", "flatParam"};
    const char *near = nearest(line->words[1].text, card_law_names, CARD_LAWS);
    if (!near) near = nearest(line->words[1].text, others, COUNT_OF(others));
    return card_refuse(card, line, 1, "unknown word \"%.100s\" behind the name \"%.100s\"%s%s%s",
                       line->words[1].text, line->words[0].text, near ? ": did you mean `" : "",
                       near ? near : ": a nuisance has its law there, as lnN, gmN or shape",
                       near ? "`?" : "");
}

static paritas_status read_group(const struct card *card, const struct card_line *line)
{
    const bool sign =
        line->n > 2 && (card_same(line->words[2].text, "=") || card_same(line->words[2].text, "+="));
    if (sign) return PARITAS_OK;
    return card_refuse(card, line, 2, "a group is NAME group = NUISANCE ..., or += for more of them");
}

bool card_is_edit(const struct card_line *line)
{
    return line->n > 1 && card_same(line->words[0].text, "nuisance") &&
           card_same(line->words[1].text, "edit");
}

/* A line below `rate`, which has two words or more. */
static paritas_status read_line(struct card *card, const struct card_line *line)
{
    enum card_law law;
    const char *word = line->words[1].text;
    if (card_is_edit(line)) {
        card->edited = true;
        return card_edit(card, line);
    }
    if (card_law_of(word, &law)) return card_read_nuisance(card, line);
    if (card_same(word, "rateParam")) return card_read_rate(card, line);
    if (card_same(word, "param")) {
        card->n_nuisance_lines++;
        return card_read_argument(card, line);
    }
    if (card_same(word, "extArg")) return card_read_argument(card, line);
    if (card_same(word, "autoMCStats")) return card_read_auto_stats(card, line);
    if (card_same(word, "group")) return read_group(card, line);
    if (card_same(word, "flatParam")) return PARITAS_OK;
    return refuse_kind(card, line);
}

paritas_status card_read(struct card *card)
{
    const struct card_line *first = NULL;
    TRY(read_header(card, &first));
    TRY(card_read_tables(card));
    for (const struct card_line *line = first; line; line = line->next) TRY(read_line(card, line));
    if (!card->edited) TRY(card_check_nuisance_count(card));
    card_join_rates(card);
    return card_find_values(card);
}
