/* card_nuisances.c: lines with a law and a value a column. */
#include "datacard/card.h"

#include <string.h>

const char *const card_law_names[CARD_LAWS] = {[CARD_LNN] = "lnN",
                                               [CARD_LNU] = "lnU",
                                               [CARD_GMN] = "gmN",
                                               [CARD_GMM] = "gmM",
                                               [CARD_TRG] = "trG",
                                               [CARD_UNIF] = "unif",
                                               [CARD_SHAPE] = "shape",
                                               [CARD_SHAPE_N] = "shapeN",
                                               [CARD_SHAPE_U] = "shapeU",
                                               [CARD_SHAPE_2] = "shape2",
                                               [CARD_SHAPE_OR_LNN] = "shape?"};

bool card_law_of(const char *text, enum card_law *law)
{
    for (int i = 0; i < CARD_LAWS; i++) {
        if (!card_same(text, card_law_names[i])) continue;
        *law = (enum card_law)i;
        return true;
    }
    const char *number = strncmp(text, "shape", 5) == 0 ? text + 5 : "";
    *law = CARD_SHAPE_2;
    return *number != '\0' && strspn(number, "0123456789") == strlen(number);
}

bool card_is_shape(enum card_law law)
{
    return law >= CARD_SHAPE;
}

/* low/high of a lognormal; one number is both. */
static paritas_status read_numbers(struct card *card, const struct card_line *line, uint32_t word,
                                   enum card_law law, struct card_value *value)
{
    const char *text = line->words[word].text, *slash = strchr(text, '/');
    const bool pairs = law == CARD_LNN || law == CARD_LNU || law == CARD_SHAPE_OR_LNN;
    bool good = false;
    if (!slash) {
        good = card_number(text, &value->low);
        value->high = value->low;
    } else if (pairs) {
        const char *low = arena_text(card->arena, text, (size_t)(slash - text));
        if (!low) return paritas_fail_memory(card->context);
        value->two = true;
        good = card_number(low, &value->low) && card_number(slash + 1, &value->high);
    }
    if (good) return PARITAS_OK;
    return card_refuse(card, line, word, "a value of `%s` must be a number%s or -, found \"%.100s\"",
                       card_law_names[law], pairs ? ", LOW/HIGH" : "", text);
}

static paritas_status refuse_range(const struct card *card, const struct card_line *line, uint32_t word,
                                   enum card_law law, const char *wanted)
{
    return card_refuse(card, line, word, "a value of `%s` must be %s, found \"%.100s\"; - means no effect",
                       card_law_names[law], wanted, line->words[word].text);
}

static bool is_lognormal(enum card_law law)
{
    return law == CARD_LNN || law == CARD_LNU;
}

paritas_status card_read_value(struct card *card, const struct card_line *line, uint32_t word,
                               enum card_law law, struct card_value *value)
{
    *value = (struct card_value){.none = true};
    if (card_is_dash(line->words[word].text)) return PARITAS_OK;
    TRY(read_numbers(card, line, word, law, value));
    const bool positive = value->low > 0.0 && value->high > 0.0;
    value->none = !value->two && (value->low == 0.0 || (is_lognormal(law) && value->low == 1.0));
    if (value->none) return PARITAS_OK;
    if ((is_lognormal(law) || law == CARD_SHAPE_OR_LNN) && !positive)
        return refuse_range(card, line, word, law, "above 0, as 1.1 for 10 %");
    if ((law == CARD_GMN || card_is_shape(law)) && !positive)
        return refuse_range(card, line, word, law, "above 0");
    if (law == CARD_GMM && !(positive && value->low < 1.0))
        return refuse_range(card, line, word, law, "above 0 and below 1, as 0.1 for 10 %");
    return PARITAS_OK;
}

const char *card_parameter_name(struct card *card, const char *text)
{
    static const char ending[] = "[nofloat]";
    size_t length = strlen(text);
    const bool digit = *text >= '0' && *text <= '9';
    const size_t cut = sizeof ending - 1;
    if (length > cut && strcmp(text + length - cut, ending) == 0) length -= cut;
    char *name = arena_array(card->arena, length + 6, 1);
    if (!name) return NULL;
    if (digit) memcpy(name, "theta", 5);
    memcpy(name + (digit ? 5 : 0), text, length);
    return name;
}

struct card_nuisance *card_add_nuisance(struct card *card, const struct card_line *line, const char *name,
                                        enum card_law law)
{
    struct card_nuisance *made = arena_array(card->arena, 1, sizeof *made), **last = &card->nuisances;
    struct card_value *values = arena_array(card->arena, card->n_columns, sizeof *values);
    if (!made || !values || !name) return NULL;
    *made = (struct card_nuisance){
        .line = line, .first_word = CARD_NONE, .name = name, .law = law, .values = values};
    for (uint32_t k = 0; k < card->n_columns; k++) values[k].none = true;
    while (*last) last = &(*last)->next;
    return *last = made;
}

/* Numbers between the law and the values. */
static paritas_status read_law_numbers(struct card *card, const struct card_line *line, uint32_t n,
                                       struct card_nuisance *made)
{
    static const char *const wanted[] = {"the number of events of the control region", "the lower bound",
                                         "the upper bound"};
    for (uint32_t i = 0; i < n; i++) {
        const char *what = wanted[made->law == CARD_GMN ? 0 : 1 + i];
        if (line->n <= 2 + i)
            return card_refuse(card, line, CARD_NONE, "`%s` needs %s behind it", card_law_names[made->law],
                               what);
        if (!card_number(line->words[2 + i].text, &made->numbers[i]))
            return card_refuse(card, line, 2 + i, "`%s` needs %s, a number, found \"%.100s\"",
                               card_law_names[made->law], what, line->words[2 + i].text);
    }
    const double count = made->numbers[0];
    const bool whole = count >= 0.0 && count <= 1e15 && count == (double)(uint64_t)count;
    if (made->law == CARD_GMN && !whole)
        return card_refuse(card, line, 2, "`gmN` needs a whole number of events, 0 or more, found \"%.100s\"",
                           line->words[2].text);
    if (made->law == CARD_UNIF && !(made->numbers[0] < made->numbers[1]))
        return card_refuse(card, line, 2, "`unif` needs a lower bound below the upper one");
    return PARITAS_OK;
}

/* What stands behind the last column is a remark, as in Combine. */
paritas_status card_read_nuisance(struct card *card, const struct card_line *line)
{
    enum card_law law = CARD_LAWS;
    (void)card_law_of(line->words[1].text, &law);
    const uint32_t numbers = law == CARD_GMN ? 1 : law == CARD_UNIF ? 2 : 0, first = 2 + numbers;
    struct card_nuisance *made =
        card_add_nuisance(card, line, card_parameter_name(card, line->words[0].text), law);
    if (!made) return paritas_fail_memory(card->context);
    TRY(card_check_name(card, line, 0));
    card->n_nuisance_lines++;
    made->first_word = first;
    TRY(read_law_numbers(card, line, numbers, made));
    if (line->n < first + card->n_columns)
        return card_refuse(card, line, CARD_NONE,
                           "\"%.100s\" has %u values for %u columns: give one for each process of each "
                           "channel, - where there is no effect",
                           line->words[0].text, line->n - first, card->n_columns);
    for (uint32_t k = 0; k < card->n_columns; k++)
        TRY(card_read_value(card, line, first + k, law, &made->values[k]));
    return PARITAS_OK;
}
