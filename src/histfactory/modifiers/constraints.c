/* constraints.c: the table of laws, made from the list; expected data on their scales. */
#include "histfactory/modifiers/constraints.h"
#include "base/math/host_math.h"

#include <stdio.h>
#include <string.h>

static double same(double y)
{
    return y;
}
static double turn_of(double y, double turn)
{
    (void)y;
    return turn;
}
static double one(double mean)
{
    (void)mean;
    return 1.0;
}
static const struct hf_scale linear = {same, turn_of, same, one};

static double turn_of_log(double y, double turn)
{
    return turn / y;
}
static const struct hf_scale logarithmic = {host_log, turn_of_log, host_exp, host_exp};

#define LAW(NAME, word, inspected, datum, domain, scale, row) \
    [HF_##NAME] = {word, inspected, datum, domain, row, &scale},
#define LAW_OF_X(NAME, name, ...) LAW(NAME, __VA_ARGS__, 0)
#define LAW_OF_Y(NAME, name, ...) LAW(NAME, __VA_ARGS__, HF_AFFINE_##NAME)
const struct hf_constraint_kind hf_constraint_kinds[] = {
    [HF_UNCONSTRAINED] = {.word = "none", .inspected = "unconstrained", .scale = &linear},
    HF_LAWS_OF_X(LAW_OF_X) HF_LAWS_OF_Y(LAW_OF_Y)};

hf_constraint hf_constraint_of_word(const char *word)
{
    int law = 0;
    while (law < HF_CONSTRAINT_COUNT && strcmp(hf_constraint_kinds[law].word, word) != 0) law++;
    return (hf_constraint)law;
}

hf_constraint hf_constraint_given(hf_constraint constraint)
{
    int law = HF_CONSTRAINT_COUNT - 1;
    while (strcmp(hf_constraint_kinds[law].word, hf_constraint_kinds[constraint].word) != 0) law--;
    return (hf_constraint)law;
}

const char *hf_constraint_words(bool (*has)(hf_constraint constraint), const char *last, char text[96])
{
    hf_constraint named[HF_CONSTRAINT_COUNT];
    size_t n = 0;
    int length = 0;
    for (int law = 0; law < HF_CONSTRAINT_COUNT; law++)
        if ((int)hf_constraint_of_word(hf_constraint_kinds[law].word) == law &&
            (!has || has((hf_constraint)law)))
            named[n++] = (hf_constraint)law;
    for (size_t k = 0; k < n && length < 96; k++)
        length += snprintf(text + length, (size_t)(96 - length), "%s\"%s\"",
                           k == 0       ? ""
                           : k == n - 1 ? last
                                        : ", ",
                           hf_constraint_kinds[named[k]].word);
    return text;
}
