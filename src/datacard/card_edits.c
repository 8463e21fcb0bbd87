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

static paritas_status refuse_pattern(const struct card *card, const struct card_line *line, uint32_t word)
{
    return card_refuse(card, line, word,
                       "\"%.100s\" is not read as a regular expression: use letters, . * + ? [] and "
                       "choices (a|b), or * alone for all",
                       line->words[word].text);
}

/* Edits of all channels, and those with "ifexists", may find nothing. */
static bool may_find_nothing(const struct card_line *line, uint32_t options)
{
    return card_same(line->words[AT_CHANNEL].text, "*") || has_option(line, options, "ifexists");
}

/* Said, unless the card says `ifexists`: a misspelt name would do nothing without a word. */
static void note_nothing(const struct card *card, const struct card_line *line)
{
    if (!has_option(line, AT_NAME, "ifexists"))
        paritas_note(card->context, "%s:%u: the edit matches nothing, and changes nothing", card->path,
                     line->number);
}

static paritas_status refuse_unknown(const struct card *card, const struct card_line *line, uint32_t word)
{
    return card_refuse(card, line, word, "no nuisance is \"%.100s\": mend the name, or drop the edit",
                       line->words[word].text);
}

/* What an edit that found nothing comes to. */
static paritas_status found_nothing(const struct card *card, const struct card_line *line, bool may_lack,
                                    uint32_t word)
{
    if (!may_lack) return refuse_unknown(card, line, word);
    note_nothing(card, line);
    return PARITAS_OK;
}

/* Fills `chosen`, one flag a column. */
static paritas_status choose_columns(struct card *card, const struct card_line *line, bool may_lack,
                                     bool **chosen)
{
    bool any = false, *flags = *chosen = arena_array(card->arena, card->n_columns, sizeof *flags);
    if (!flags) return paritas_fail_memory(card->context);
    for (uint32_t k = 0; k < card->n_columns; k++) {
        const struct card_column *column = &card->columns[k];
        const enum card_match process =
            card_matches_expression(line->words[AT_PROCESS].text, column->process);
        const enum card_match channel =
            card_matches_expression(line->words[AT_CHANNEL].text, card->channels[column->channel].name);
        if (process == CARD_NO_PATTERN) return refuse_pattern(card, line, AT_PROCESS);
        if (channel == CARD_NO_PATTERN) return refuse_pattern(card, line, AT_CHANNEL);
        flags[k] = process == CARD_MATCHES && channel == CARD_MATCHES;
        any = any || flags[k];
    }
    if (!any && may_lack) note_nothing(card, line);
    if (any || may_lack) return PARITAS_OK;
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

/* Does the word, a regular expression, mean this name? */
static paritas_status matches(const struct card *card, const struct card_line *line, uint32_t word,
                              const char *name, bool *does)
{
    const enum card_match match = card_matches_expression(line->words[word].text, name);
    *does = match == CARD_MATCHES;
    return match == CARD_NO_PATTERN ? refuse_pattern(card, line, word) : PARITAS_OK;
}

static paritas_status find_target(struct card *card, const struct card_line *line, uint32_t word,
                                  enum card_law law, struct card_nuisance **target)
{
    const char *name = card_parameter_name(card, line->words[word].text);
    if (!name) return paritas_fail_memory(card->context);
    TRY(card_check_name(card, line, word));
    *target = find_nuisance(card, NULL, name);
    for (struct card_nuisance *at = *target; at; at = find_nuisance(card, at, name)) *target = at;
    if (!*target) *target = card_add_nuisance(card, line, name, law);
    if (!*target) return paritas_fail_memory(card->context);
    if ((*target)->law == law) return PARITAS_OK;
    return card_refuse(card, line, word,
                       "\"%.100s\" is `%s` in line %u, not `%s`: add with its law, or change it first by "
                       "changepdf",
                       name, card_law_names[(*target)->law], (*target)->line->number, card_law_names[law]);
}

/* 1 is no effect for an edit, also of a shape. */
static bool is_nothing(const struct card_value *value)
{
    return value->none || (!value->two && value->low == 1.0);
}

/* Two lognormals become one: the root of the sum of the squared logarithms. */
static double add_squares(double a, double b)
{
    const double first = host_log(a), second = host_log(b);
    const double both = host_exp(host_sqrt(first * first + second * second));
    return a > 1.0 ? both : 1.0 / both;
}

static paritas_status add_in_quadrature(const struct card *card, const struct card_line *line,
                                        const struct card_nuisance *target, struct card_value *value,
                                        const struct card_value *more)
{
    const double low = more->two || !value->two ? more->low : 1.0 / more->low;
    const double own = value->two || !more->two ? value->low : 1.0 / value->low;
    const bool lognormal = target->law == CARD_LNN || target->law == CARD_LNU;
    if (!lognormal || (own > 1.0) != (low > 1.0) || (value->high > 1.0) != (more->high > 1.0))
        return card_refuse(
            card, line, CARD_NONE,
            "the values of \"%.100s\" do not add in quadrature: it needs lognormals that go in "
            "the same direction",
            target->name);
    value->low = add_squares(own, low);
    value->high = add_squares(value->high, more->high);
    value->two = value->two || more->two;
    return PARITAS_OK;
}

enum how { ALONE, OVERWRITE, IN_QUADRATURE };

static paritas_status put_value(const struct card *card, const struct card_line *line,
                                struct card_nuisance *target, uint32_t k, const struct card_value *value,
                                enum how how)
{
    struct card_value *there = &target->values[k];
    if (is_nothing(value)) return PARITAS_OK;
    if (is_nothing(there) || how == OVERWRITE) {
        *there = *value;
        return PARITAS_OK;
    }
    if (how == IN_QUADRATURE) return add_in_quadrature(card, line, target, there, value);
    return card_refuse(
        card, line, AT_NAME,
        "\"%.100s\" has a value for %.100s in %.100s already: add \"overwrite\" to replace it, "
        "or \"addq\" to add in quadrature",
        target->name, card->columns[k].process, card->channels[card->columns[k].channel].name);
}

static paritas_status edit_add(struct card *card, const struct card_line *line)
{
    enum card_law law;
    bool *chosen;
    struct card_value value;
    struct card_nuisance *target;
    TRY(need_words(card, line, AT_VALUE + 1, "add PROCESS CHANNEL NAME LAW VALUE [overwrite]"));
    if (!card_law_of(line->words[AT_LAW].text, &law) || law == CARD_GMN || law == CARD_UNIF)
        return card_refuse(
            card, line, AT_LAW,
            "an edit adds lnN, lnU, gmM, trG or a shape, not \"%.100s\": write a line of its own",
            line->words[AT_LAW].text);
    TRY(card_read_value(card, line, AT_VALUE, law, &value));
    TRY(choose_columns(card, line, true, &chosen));
    TRY(find_target(card, line, AT_NAME, law, &target));
    const enum how how = has_option(line, AT_VALUE + 1, "addq")        ? IN_QUADRATURE
                         : has_option(line, AT_VALUE + 1, "overwrite") ? OVERWRITE
                                                                       : ALONE;
    for (uint32_t k = 0; k < card->n_columns; k++)
        if (chosen[k]) TRY(put_value(card, line, target, k, &value, how));
    return PARITAS_OK;
}

static paritas_status edit_drop(struct card *card, const struct card_line *line)
{
    bool *chosen, found = false, does;
    TRY(need_words(card, line, AT_NAME + 1, "drop PROCESS CHANNEL NAME [ifexists]"));
    const bool may_lack = may_find_nothing(line, AT_NAME + 1);
    TRY(choose_columns(card, line, may_lack, &chosen));
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        TRY(matches(card, line, AT_NAME, at->name, &does));
        found = found || does;
        for (uint32_t k = 0; does && k < card->n_columns; k++)
            if (chosen[k]) at->values[k].none = true;
    }
    return found ? PARITAS_OK : found_nothing(card, line, may_lack, AT_NAME);
}

/* Histograms keep the name that the nuisance had. */
static void keep_histogram(const struct card_nuisance *nuisance, struct card_value *value)
{
    if (!value->histogram) value->histogram = nuisance->name;
}

/* nuisance edit rename OLD NEW: everywhere, also a `param`. */
static paritas_status rename_all(struct card *card, const struct card_line *line)
{
    enum { OLD = 3, NEW = 4 };
    bool found = false;
    const char *name = card_parameter_name(card, line->words[OLD].text);
    const char *other = card_parameter_name(card, line->words[NEW].text);
    if (!name || !other) return paritas_fail_memory(card->context);
    TRY(card_check_name(card, line, NEW));
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        if (!card_same(at->name, name)) continue;
        for (uint32_t k = 0; k < card->n_columns; k++) keep_histogram(at, &at->values[k]);
        at->name = other;
        found = true;
    }
    for (struct card_rate *at = card->rates; at; at = at->next) {
        if (at->channel || at->widths[0] == 0.0 || !card_same(at->name, name)) continue;
        at->name = other;
        found = true;
    }
    return found ? PARITAS_OK : refuse_unknown(card, line, OLD);
}

static paritas_status rename_columns(struct card *card, const struct card_line *line,
                                     struct card_nuisance *from, const bool *chosen)
{
    struct card_nuisance *to;
    TRY(find_target(card, line, AT_LAW, from->law, &to));
    if (to->first_word == CARD_NONE) { /* new: messages name the line of the values */
        to->line = from->line;
        to->first_word = from->first_word;
        to->numbers[0] = from->numbers[0];
        to->numbers[1] = from->numbers[1];
    }
    for (uint32_t k = 0; k < card->n_columns; k++) {
        if (!chosen[k]) continue;
        to->values[k] = from->values[k];
        keep_histogram(from, &to->values[k]);
        from->values[k].none = true;
    }
    return PARITAS_OK;
}

/* The chosen columns move to a line of the new name. */
static paritas_status edit_rename(struct card *card, const struct card_line *line)
{
    bool *chosen;
    if (line->n == 5) return rename_all(card, line);
    TRY(need_words(card, line, AT_LAW + 1, "rename PROCESS CHANNEL OLD NEW [ifexists], or rename OLD NEW"));
    const bool may_lack = has_option(line, AT_LAW + 1, "ifexists");
    TRY(choose_columns(card, line, may_lack, &chosen));
    const char *name = card_parameter_name(card, line->words[AT_NAME].text);
    if (!name) return paritas_fail_memory(card->context);
    if (card_same(line->words[AT_NAME].text, line->words[AT_LAW].text))
        return card_refuse(card, line, AT_LAW, "the new name is the old one: drop the edit");
    struct card_nuisance *at = find_nuisance(card, NULL, name);
    if (!at && !may_lack) return refuse_unknown(card, line, AT_NAME);
    for (; at; at = find_nuisance(card, at, name)) TRY(rename_columns(card, line, at, chosen));
    return PARITAS_OK;
}

/* A new line of these laws would lack its numbers. */
static paritas_status refuse_numbers(const struct card *card, const struct card_line *line,
                                     const struct card_nuisance *nuisance)
{
    if (nuisance->law != CARD_GMN && nuisance->law != CARD_UNIF) return PARITAS_OK;
    return card_refuse(card, line, AT_WHAT,
                       "\"%.100s\" is `%s`, which cannot be part of this edit: write "
                       "the lines that it would make",
                       nuisance->name, card_law_names[nuisance->law]);
}

/* Values of one nuisance go into another, in quadrature. */
static paritas_status edit_merge(struct card *card, const struct card_line *line)
{
    bool *chosen, found = false, does;
    TRY(need_words(card, line, AT_LAW + 1, "merge PROCESS CHANNEL NAME OTHER [ifexists]"));
    const bool may_lack = may_find_nothing(line, AT_LAW + 1);
    TRY(choose_columns(card, line, may_lack, &chosen));
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        struct card_nuisance *target;
        TRY(matches(card, line, AT_LAW, at->name, &does));
        if (!does) continue;
        found = true;
        TRY(refuse_numbers(card, line, at));
        TRY(find_target(card, line, AT_NAME, at->law, &target));
        for (uint32_t k = 0; k < card->n_columns; k++) {
            if (!chosen[k] || target == at) continue;
            TRY(put_value(card, line, target, k, &at->values[k], IN_QUADRATURE));
            at->values[k].none = true;
        }
    }
    return found ? PARITAS_OK : found_nothing(card, line, may_lack, AT_LAW);
}

/* Each value becomes two, of two nuisances. */
static paritas_status edit_split(struct card *card, const struct card_line *line)
{
    bool *chosen, found = false, does;
    TRY(need_words(card, line, 10, "split PROCESS CHANNEL OLD FIRST SECOND VALUE VALUE [ifexists]"));
    const bool may_lack = may_find_nothing(line, 10);
    TRY(choose_columns(card, line, may_lack, &chosen));
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        TRY(matches(card, line, AT_NAME, at->name, &does));
        if (!does) continue;
        found = true;
        TRY(refuse_numbers(card, line, at));
        for (uint32_t part = 0; part < 2; part++) {
            struct card_nuisance *target;
            struct card_value value;
            TRY(card_read_value(card, line, 8 + part, at->law, &value));
            TRY(find_target(card, line, 6 + part, at->law, &target));
            for (uint32_t k = 0; k < card->n_columns; k++)
                if (chosen[k] && !is_nothing(&at->values[k]))
                    TRY(put_value(card, line, target, k, &value, OVERWRITE));
        }
        for (uint32_t k = 0; k < card->n_columns; k++)
            if (chosen[k]) at->values[k].none = true;
    }
    return found ? PARITAS_OK : found_nothing(card, line, may_lack, AT_NAME);
}

/* Turns lognormals over: p2n those that grow, n2p those that fall. */
static paritas_status edit_flip(struct card *card, const struct card_line *line)
{
    bool *chosen, found = false, does;
    TRY(need_words(card, line, AT_NAME + 2, "flip PROCESS CHANNEL NAME p2n|n2p [ifexists]"));
    const bool may_lack = may_find_nothing(line, AT_NAME + 1);
    const bool falls = has_option(line, AT_NAME + 1, "p2n"), grows = has_option(line, AT_NAME + 1, "n2p");
    if (!falls && !grows) return card_refuse(card, line, AT_NAME + 1, "flip needs p2n or n2p, or both");
    TRY(choose_columns(card, line, may_lack, &chosen));
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        TRY(matches(card, line, AT_NAME, at->name, &does));
        if (!does) continue;
        found = true;
        if (at->law != CARD_LNN)
            return card_refuse(card, line, AT_NAME, "flip turns lnN over, and \"%.100s\" is `%s`", at->name,
                               card_law_names[at->law]);
        for (uint32_t k = 0; k < card->n_columns; k++) {
            struct card_value *value = &at->values[k];
            const bool up = value->two ? value->low < 1.0 : value->high > 1.0;
            if (!chosen[k] || is_nothing(value) || !(up ? falls : grows)) continue;
            value->low = 1.0 / value->low;
            value->high = 1.0 / value->high;
        }
    }
    return found ? PARITAS_OK : found_nothing(card, line, may_lack, AT_NAME);
}

static paritas_status change_law(const struct card *card, const struct card_line *line, enum card_law law,
                                 struct card_nuisance *nuisance)
{
    const bool lognormal = nuisance->law == CARD_LNN || nuisance->law == CARD_LNU;
    const bool shape = card_is_shape(nuisance->law) && card_is_shape(law);
    const bool one = lognormal && law == CARD_TRG;
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
        value->low = value->high = card_rounded(card, CARD_SIX_DECIMALS, host_log(value->low));
    }
    nuisance->law = law;
    return PARITAS_OK;
}

static paritas_status edit_law(struct card *card, const struct card_line *line)
{
    enum card_law law;
    TRY(need_words(card, line, 5, "changepdf NAME LAW"));
    bool found = false, does;
    if (!card_law_of(line->words[4].text, &law))
        return card_refuse(card, line, 4, "unknown law \"%.100s\": use lnN, lnU, trG, gmM or a shape",
                           line->words[4].text);
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        TRY(matches(card, line, 3, at->name, &does));
        found = found || does;
        if (does) TRY(change_law(card, line, law, at));
    }
    if (!found) note_nothing(card, line);
    return PARITAS_OK;
}

static paritas_status edit_freeze(struct card *card, const struct card_line *line)
{
    bool found = false, does;
    TRY(need_words(card, line, 4, "freeze NAME [ifexists]"));
    for (struct card_rate *at = card->rates; at; at = at->next) {
        TRY(matches(card, line, 3, at->name, &does));
        at->frozen = at->frozen || does;
        found = found || does;
    }
    for (struct card_nuisance *at = card->nuisances; at; at = at->next) {
        TRY(matches(card, line, 3, at->name, &does));
        at->frozen = at->frozen || does;
        found = found || does;
    }
    return found || has_option(line, 4, "ifexists") ? PARITAS_OK : refuse_unknown(card, line, 3);
}

paritas_status card_edit(struct card *card, const struct card_line *line)
{
    static const struct {
        const char *word;
        paritas_status (*edit)(struct card *card, const struct card_line *line);
    } edits[] = {{"add", edit_add},       {"drop", edit_drop},    {"rename", edit_rename},
                 {"merge", edit_merge},   {"split", edit_split},  {"flip", edit_flip},
                 {"changepdf", edit_law}, {"freeze", edit_freeze}};
    TRY(need_words(card, line, AT_WHAT + 1, "add, drop, rename, changepdf, freeze, merge, split or flip"));
    for (size_t i = 0; i < COUNT_OF(edits); i++)
        if (card_same(line->words[AT_WHAT].text, edits[i].word)) return edits[i].edit(card, line);
    return card_refuse(
        card, line, AT_WHAT,
        "there is no edit \"%.100s\": use add, drop, rename, changepdf, freeze, merge, split or "
        "flip",
        line->words[AT_WHAT].text);
}
