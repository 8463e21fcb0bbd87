/* options.c: what structs of options allow, by their lists. */
#include "base/sized.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* No bound is so large that the rounding of a 64-bit number matters. */
static double number_of(const paritas_option *option, const void *options)
{
    union {
        double real;
        uint64_t wide;
        unsigned narrow;
        int integer;
    } member;
    memcpy(&member, (const char *)options + option->offset, option->size);
    if (option->type == PARITAS_FIELD_REAL) return member.real;
    if (option->type != PARITAS_FIELD_UNSIGNED) return (double)member.integer;
    return option->size == sizeof member.wide ? (double)member.wide : (double)member.narrow;
}

int paritas_option_allows(const paritas_option *option, double number)
{
    GIVEN(0, option);
    const paritas_bound lower = option->lower, upper = option->upper;
    if (number == 0.0 && lower.or_zero) return 1;
    return isfinite(number) &&
           (!lower.exists || number > lower.value || (number == lower.value && !lower.open)) &&
           (!upper.exists || number < upper.value || (number == upper.value && !upper.open)) &&
           (!option->enumeration || paritas_enumeration_word(option->enumeration, (int)number));
}

static void list_words(const paritas_option *option, size_t room, char *text)
{
    size_t length = 0;
    for (size_t i = 0; i < option->enumeration->n && length < room; i++) {
        const paritas_word *one = &option->enumeration->words[i];
        if (one->word[0] == '\0' || !paritas_option_allows(option, one->value)) continue;
        length += (size_t)snprintf(text + length, room - length, "%s%s", length > 0 ? "|" : "", one->word);
    }
}

const char *paritas_option_allowed(const paritas_option *option, size_t room, char *text)
{
    GIVEN(NULL, option, text);
    if (room == 0) return text;
    const paritas_bound lower = option->lower, upper = option->upper;
    char from[64] = "a finite number", to[48] = "";
    text[0] = '\0';
    if (option->enumeration) {
        list_words(option, room, text);
        return text;
    }
    if (lower.exists)
        snprintf(from, sizeof from, "%s%s %.15g", lower.or_zero ? "0 or " : "",
                 lower.open ? "above" : "at least", lower.value);
    if (upper.exists) snprintf(to, sizeof to, "%s %.15g", upper.open ? "below" : "at most", upper.value);
    const bool both = lower.exists && upper.exists;
    snprintf(text, room, "%s%s%s", upper.exists && !both ? to : from, both ? " and " : "", both ? to : "");
    return text;
}

static paritas_status refuse(paritas_context *context, const char *argument, const paritas_option *option,
                             double number)
{
    char allowed[200];
    const char *word =
        option->enumeration ? paritas_enumeration_word(option->enumeration, (int)number) : NULL;
    paritas_option_allowed(option, sizeof allowed, allowed);
    if (word)
        return paritas_refuse(context, "%s: `%s` is %s; it must be %s", argument, option->name, word,
                              allowed);
    if (option->type != PARITAS_FIELD_REAL)
        return paritas_refuse(context, "%s: `%s` is %.0f; it must be %s", argument, option->name, number,
                              allowed);
    return paritas_refuse(context, "%s: `%s` is %.10g%s%s; it must be %s", argument, option->name, number,
                          option->unit[0] != '\0' ? " " : "", option->unit, allowed);
}

/* Is it the lower bound of the option below it: ratio_lower of ratio_upper? */
static bool is_pair(const paritas_option_list *list, size_t i)
{
    if (i + 1 == list->n_options) return false;
    const char *lower = strstr(list->options[i].name, "_lower"), *name = list->options[i + 1].name;
    const size_t length = lower ? (size_t)(lower - list->options[i].name) : 0;
    return lower && strncmp(list->options[i].name, name, length) == 0 && strcmp(name + length, "_upper") == 0;
}

/* A struct of an earlier version lacks the last options. */
static paritas_status check(paritas_context *context, const paritas_option_list *list, const char *argument,
                            const void *options)
{
    size_t size;
    memcpy(&size, options, sizeof size);
    for (size_t i = 0; i < list->n_options; i++) {
        const paritas_option *option = &list->options[i];
        if (option->offset + option->size > size) break;
        const double number = number_of(option, options);
        if (is_pair(list, i)) {
            const double upper = number_of(option + 1, options);
            if (!isfinite(number) || !isfinite(upper) || !(number <= upper))
                return paritas_refuse(context, "%s: `%s` %.10g and `%s` %.10g are not bounds", argument,
                                      option->name, number, option[1].name, upper);
        }
        if (!paritas_option_allows(option, number)) return refuse(context, argument, option, number);
    }
    return PARITAS_OK;
}

paritas_status options_read(paritas_context *context, const paritas_option_list *list, const char *argument,
                            const void *given, void *own)
{
    TRY(sized_take(context, list->name, argument, given, own, list->size));
    return check(context, list, argument, own);
}

paritas_status paritas_options_check(paritas_context *context, const char *name, const void *options)
{
    REQUIRE(context, name, options);
    const paritas_option_list *list = paritas_option_list_find(name);
    if (!list)
        return paritas_fail(context, PARITAS_NOT_FOUND, "name: there is no struct of options %s", name);
    TRY(sized_check(context, name, "options", 1, options, list->size));
    return check(context, list, "options", options);
}
