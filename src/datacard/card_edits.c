/* card_edits.c: lines `nuisance edit`, applied in their order. */
#include "datacard/card.h"
#include "base/math/host_math.h"

/* Words of an edit: nuisance edit WHAT PROCESS CHANNEL NAME ... */
enum { AT_WHAT = 2, AT_PROCESS = 3, AT_CHANNEL = 4, AT_NAME = 5, AT_LAW = 6, AT_VALUE = 7 };

static paritas_status need_words(const struct card *card, const struct card_line *line, uint32_t n,
                                 const char *form)
{
    if (line->n >= n) return PARITAS_OK;
    return card_refuse(card, line, CARD_NONE, "this edit is: nuisance edit %s", form);
}

static bool has_option(const struct card_line *line, uint32_t from, const char *option)
{
    for (uint32_t i = from; i < line->n; i++)
        if (card_same(line->words[i].text, option)) return true;
    return false;
}

/* Fills `chosen`, one flag a column. */
static paritas_status choose_columns(struct card *card, const struct card_line *line, bool **chosen)
{
    bool any = false, *flags = *chosen = arena_array(card->arena, card->n_columns, sizeof *flags);
    if (!flags) return paritas_fail_memory(card->context);
    for (uint32_t k = 0; k < card->n_columns; k++) {
        const struct card_column *column = &card->columns[k];
        const enum card_match process =
            card_matches_expression(line->words[AT_PROCESS].text, column->process);
        const enum card_match channel =
            card_matches_expression(line->words[AT_CHANNEL].text, card->channels[column->channel].name);
        if (process == CARD_NO_PATTERN || channel == CARD_NO_PATTERN) {
            const uint32_t word = process == CARD_NO_PATTERN ? AT_PROCESS : AT_CHANNEL;
            return card_refuse(card, line, word,
                               "\"%.100s\" is not read as a regular expression: use letters, . * + ? [] and "
                               "choices (a|b), or * alone for all",
                               line->words[word].text);
        }
        flags[k] = process == CARD_MATCHES && channel == CARD_MATCHES;
        any = any || flags[k];
    }
    if (any) return PARITAS_OK;
    return card_refuse(card, line, AT_PROCESS,
                       "no process \"%.100s\" is in a channel \"%.100s\": mend the names",
                       line->words[AT_PROCESS].text, line->words[AT_CHANNEL].text);
}

/* The next line of that name behind `after`; NULL: from the first. */
static struct card_nuisance *find_nuisance(const struct card *card, const struct card_nuisance *after,
                                           const char *name)
{
    struct card_nuisance *at = after ? after->next : card->nuisances;
    while (at && !card_same(at->name, name)) at = at->next;
    return at;
}

static paritas_status refuse_unknown(const struct card *card, const struct card_line *line, uint32_t word)
{
    return card_refuse(card, line, word, "no nuisance is \"%.100s\": mend the name, or drop the edit",
                       line->words[word].text);
}

static paritas_status edit_add(struct card *card, const struct card_line *line)
{
    enum card_law law;
    bool *chosen;
    struct card_value value;
    TRY(need_words(card, line, AT_VALUE + 1, "add PROCESS CHANNEL NAME LAW VALUE [overwrite]"));
    if (!card_law_of(line->words[AT_LAW].text, &law) || law == CARD_GMN || law == CARD_UNIF)
        return card_refuse(
            card, line, AT_LAW,
            "an edit adds lnN, lnU, gmM, trG or a shape, not \"%.100s\": write a line of its own",
            line->words[AT_LAW].text);
    TRY(card_check_name(card, line, AT_NAME));
    TRY(card_read_value(card, line, AT_VALUE, law, &value));
    TRY(choose_columns(card, line, &chosen));
    const char *name = card_parameter_name(card, line->words[AT_NAME].text);
    if (!name) return paritas_fail_memory(card->context);
    struct card_nuisance *target = find_nuisance(card, NULL, name);
    if (!target) target = card_add_nuisance(card, line, name, law);
    if (!target) return paritas_fail_memory(card->context);
    if (target->law != law)
        return card_refuse(card, line, AT_LAW,
                           "\"%.100s\" is `%s` in line %u: add with its law, or change it "
                           "first by changepdf",
                           name, card_law_names[target->law], target->line->number);
    for (uint32_t k = 0; k < card->n_columns; k++) {
        if (!chosen[k]) continue;
        if (!target->values[k].none && !has_option(line, AT_VALUE + 1, "overwrite"))
            return card_refuse(card, line, AT_NAME,
                               "\"%.100s\" has a value for %.100s in %.100s already: add \"overwrite\" to "
                               "replace it",
                               name, card->columns[k].process, card->channels[card->columns[k].channel].name);
        target->values[k] = value;
    }
    return PARITAS_OK;
}

static paritas_status edit_drop(struct card *card, const struct card_line *line)
{
    bool *chosen;
    TRY(need_words(card, line, AT_NAME + 1, "drop PROCESS CHANNEL NAME [ifexists]"));
    TRY(choose_columns(card, line, &chosen));
    const char *name = card_parameter_name(card, line->words[AT_NAME].text);
    if (!name) return paritas_fail_memory(card->context);
    struct card_nuisance *at = find_nuisance(card, NULL, name);
    if (!at && !has_option(line, AT_NAME + 1, "ifexists")) return refuse_unknown(card, line, AT_NAME);
    for (; at; at = find_nuisance(card, at, name))
        for (uint32_t k = 0; k < card->n_columns; k++)
            if (chosen[k]) at->values[k].none = true;
    return PARITAS_OK;
}

/* The chosen columns move to a line of the new name. */
static paritas_status edit_rename(struct card *card, const struct card_line *line)
{
    bool *chosen;
    TRY(need_words(card, line, AT_LAW + 1, "rename PROCESS CHANNEL OLD NEW [ifexists]"));
    TRY(card_check_name(card, line, AT_LAW));
    TRY(choose_columns(card, line, &chosen));
    const char *name = card_parameter_name(card, line->words[AT_NAME].text);
    const char *other = card_parameter_name(card, line->words[AT_LAW].text);
    if (!name || !other) return paritas_fail_memory(card->context);
    struct card_nuisance *at = find_nuisance(card, NULL, name);
    if (card_same(name, other))
        return card_refuse(card, line, AT_LAW, "the new name is the old one: drop the edit");
    if (!at && !has_option(line, AT_LAW + 1, "ifexists")) return refuse_unknown(card, line, AT_NAME);
    for (; at; at = find_nuisance(card, at, name)) {
        struct card_nuisance *made = card_add_nuisance(card, at->line, other, at->law);
        if (!made) return paritas_fail_memory(card->context);
        made->first_word = at->first_word;
        made->numbers[0] = at->numbers[0];
        made->numbers[1] = at->numbers[1];
        for (uint32_t k = 0; k < card->n_columns; k++) {
            if (!chosen[k]) continue;
            made->values[k] = at->values[k];
            at->values[k].none = true;
        }
    }
    return PARITAS_OK;
}

/* Laws whose values an edit can move to another name. */
static paritas_status check_movable(const struct card *card, const struct card_line *line,
                                    const struct card_nuisance *nuisance)
{
    if (nuisance->law != CARD_GMN && nuisance->law != CARD_UNIF) return PARITAS_OK;
    return card_refuse(card, line, AT_NAME,
                       "\"%.100s\" is `%s` (line %u), whose numbers stay with its name: "
                       "write the result into the lines",
                       nuisance->name, card_law_names[nuisance->law], nuisance->line->number);
}

/* The line of that name and law, new or not. */
static paritas_status find_target(struct card *card, const struct card_line *line, uint32_t word,
                                  enum card_law law, struct card_nuisance **target)
{
    const char *name = card_parameter_name(card, line->words[word].text);
    if (!name) return paritas_fail_memory(card->context);
    TRY(card_check_name(card, line, word));
    *target = find_nuisance(card, NULL, name);
    if (!*target) *target = card_add_nuisance(card, line, name, law);
    if (!*target) return paritas_fail_memory(card->context);
    if ((*target)->law == law) return PARITAS_OK;
    return card_refuse(card, line, word,
                       "\"%.100s\" is `%s` in line %u, and the other one `%s`: change one first by changepdf",
                       name, card_law_names[(*target)->law], (*target)->line->number, card_law_names[law]);
}

/* Adds the squares of logarithms; the sum goes where `a` goes. False: they go in two directions. */
static bool add_squares(double a, double b, double *sum)
{
    const double first = host_log(a), second = host_log(b);
    const double size = host_exp(host_sqrt(first * first + second * second));
    *sum = a > 1.0 ? size : 1.0 / size;
    return !(first * second < 0.0);
}

static paritas_status add_in_quadrature(const struct card *card, const struct card_line *line,
                                        const struct card_nuisance *target, uint32_t column,
                                        const struct card_value *more)
{
    struct card_value *value = &target->values[column];
    const char *process = card->columns[column].process;
    if (value->none) {
        *value = *more;
        return PARITAS_OK;
    }
    if (target->law != CARD_LNN && target->law != CARD_LNU)
        return card_refuse(
            card, line, AT_NAME,
            "\"%.100s\" and the other one both have a value for %.100s, and `%s` is not added in "
            "quadrature: only lnN and lnU are",
            target->name, process, card_law_names[target->law]);
    const bool two = value->two || more->two;
    const double low = value->two || !two ? value->low : 1.0 / value->low,
                 other = more->two || !two ? more->low : 1.0 / more->low;
    value->two = two;
    if (add_squares(low, other, &value->low) && add_squares(value->high, more->high, &value->high))
        return PARITAS_OK;
    return card_refuse(card, line, AT_NAME,
                       "\"%.100s\" and the other one go in two directions for %.100s: they have no sum",
                       target->name, process);
}

/* The other one's values join those of the first, in quadrature. */
static paritas_status edit_merge(struct card *card, const struct card_line *line)
{
    bool *chosen;
    struct card_nuisance *target;
    TRY(need_words(card, line, AT_LAW + 1, "merge PROCESS CHANNEL NAME OTHER [ifexists]"));
    TRY(choose_columns(card, line, &chosen));
    const char *other = card_parameter_name(card, line->words[AT_LAW].text);
    if (!other) return paritas_fail_memory(card->context);
    struct card_nuisance *at = find_nuisance(card, NULL, other);
    if (!at && !has_option(line, AT_LAW + 1, "ifexists")) return refuse_unknown(card, line, AT_LAW);
    for (; at; at = find_nuisance(card, at, other)) {
        TRY(check_movable(card, line, at));
        TRY(find_target(card, line, AT_NAME, at->law, &target));
        if (card_same(target->name, other))
            return card_refuse(card, line, AT_LAW, "both names are one: drop the edit");
        for (uint32_t k = 0; k < card->n_columns; k++) {
            if (!chosen[k] || at->values[k].none) continue;
            TRY(add_in_quadrature(card, line, target, k, &at->values[k]));
            at->values[k].none = true;
        }
    }
    return PARITAS_OK;
}

/* Two names with one value each take the place of a nuisance, where it acts. */
static paritas_status edit_split(struct card *card, const struct card_line *line)
{
    enum { AT_FIRST = AT_LAW, AT_SECOND, AT_VALUES };
    bool *chosen;
    TRY(need_words(card, line, AT_VALUES + 2,
                   "split PROCESS CHANNEL OLD NEW1 NEW2 VALUE1 VALUE2 [ifexists]"));
    TRY(choose_columns(card, line, &chosen));
    const char *old = card_parameter_name(card, line->words[AT_NAME].text);
    if (!old) return paritas_fail_memory(card->context);
    struct card_nuisance *at = find_nuisance(card, NULL, old);
    if (!at && !has_option(line, AT_VALUES + 2, "ifexists")) return refuse_unknown(card, line, AT_NAME);
    for (; at; at = find_nuisance(card, at, old)) {
        TRY(check_movable(card, line, at));
        for (uint32_t i = 0; i < 2; i++) {
            struct card_nuisance *made;
            struct card_value value;
            TRY(find_target(card, line, AT_FIRST + i, at->law, &made));
            if (card_same(made->name, old))
                return card_refuse(card, line, AT_FIRST + i, "a new name is the old one: take another");
            TRY(card_read_value(card, line, AT_VALUES + i, at->law, &value));
            for (uint32_t k = 0; k < card->n_columns; k++)
                if (chosen[k] && !at->values[k].none && !value.none) made->values[k] = value;
        }
        for (uint32_t k = 0; k < card->n_columns; k++)
            if (chosen[k]) at->values[k].none = true;
    }
    return PARITAS_OK;
}

static paritas_status change_law(const struct card *card, const struct card_line *line, enum card_law law,
                                 struct card_nuisance *nuisance)
{
    const bool lognormal = nuisance->law == CARD_LNN || nuisance->law == CARD_LNU;
    const bool shape = card_is_shape(nuisance->law) && card_is_shape(law);
    const bool one = lognormal && (law == CARD_TRG || law == CARD_GMM);
    if (law == nuisance->law) return PARITAS_OK;
    if (!shape && !(lognormal && (law == CARD_LNN || law == CARD_LNU)) && !one)
        return card_refuse(card, line, 4,
                           "`%s` of line %u cannot become `%.100s`: write the line again with its "
                           "values",
                           card_law_names[nuisance->law], nuisance->line->number, line->words[4].text);
    for (uint32_t k = 0; one && k < card->n_columns; k++) {
        struct card_value *value = &nuisance->values[k];
        if (value->none) continue;
        if (value->two)
            return card_refuse(card, line, 4,
                               "`%s` has one number a column, but line %u has two: write the line "
                               "again",
                               card_law_names[law], nuisance->line->number);
        value->low = value->high = card_six_decimals(host_log(value->low));
    }
    nuisance->law = law;
    return PARITAS_OK;
}

static paritas_status edit_law(struct card *card, const struct card_line *line)
{
    enum card_law law;
    TRY(need_words(card, line, 5, "changepdf NAME LAW"));
    const char *name = card_parameter_name(card, line->words[3].text);
    if (!name) return paritas_fail_memory(card->context);
    if (!card_law_of(line->words[4].text, &law))
        return card_refuse(card, line, 4, "unknown law \"%.100s\": use lnN, lnU, trG, gmM or a shape",
                           line->words[4].text);
    struct card_nuisance *at = find_nuisance(card, NULL, name);
    if (!at) return refuse_unknown(card, line, 3);
    for (; at; at = find_nuisance(card, at, name)) TRY(change_law(card, line, law, at));
    return PARITAS_OK;
}

static paritas_status edit_freeze(struct card *card, const struct card_line *line)
{
    TRY(need_words(card, line, 4, "freeze NAME"));
    const char *name = card_parameter_name(card, line->words[3].text);
    if (!name) return paritas_fail_memory(card->context);
    struct card_nuisance *at = find_nuisance(card, NULL, name);
    if (!at && !has_option(line, 4, "ifexists")) return refuse_unknown(card, line, 3);
    for (; at; at = find_nuisance(card, at, name)) at->frozen = true;
    return PARITAS_OK;
}

paritas_status card_edit(struct card *card, const struct card_line *line)
{
    static const struct {
        const char *word;
        paritas_status (*edit)(struct card *card, const struct card_line *line);
    } edits[] = {{"add", edit_add},      {"drop", edit_drop},   {"rename", edit_rename},
                 {"merge", edit_merge},  {"split", edit_split}, {"changepdf", edit_law},
                 {"freeze", edit_freeze}};
    TRY(need_words(card, line, AT_WHAT + 1, "add, drop, rename, merge, split, changepdf or freeze"));
    for (size_t i = 0; i < COUNT_OF(edits); i++)
        if (card_same(line->words[AT_WHAT].text, edits[i].word)) return edits[i].edit(card, line);
    return card_refuse(
        card, line, AT_WHAT,
        "the edit \"%.100s\" is not read: there are add, drop, rename, merge, split, changepdf and "
        "freeze; "
        "write what it does into the lines themselves",
        line->words[AT_WHAT].text);
}
